import type { ChoicesRecord } from "../../api/props.ts";
import type { JsonObject } from "../../domain/text/json.ts";

export type Choice = ChoicesRecord["options"][number];

export type LoadPage = (request: {
  readonly page: number;
  readonly prev_context: JsonObject;
  readonly query?: string;
}) => Promise<Pick<ChoicesRecord, "options" | "context">>;

interface Listing {
  readonly query: string;
  readonly found: Choice[];
  page: number;
  context: JsonObject;
  isComplete: boolean;
  loading: Promise<void> | undefined;
}

/** Pages that are searched for typed text. */
const MOST_PAGES = 20;

export class Choices {
  readonly #load: LoadPage;
  /** The component itself searches. */
  readonly #searches: boolean;
  #listing = emptyListing("");

  constructor(load: LoadPage, searches: boolean) {
    this.#load = load;
    this.#searches = searches;
  }

  get hasMore(): boolean {
    return !this.#listing.isComplete;
  }

  /** Loads pages until a choice matches or the signal aborts. */
  async matching(typed: string, signal?: AbortSignal): Promise<readonly Choice[]> {
    if (this.#searches && typed !== this.#listing.query) this.#listing = emptyListing(typed);
    const listing = this.#listing;
    if (listing.page === 0) await this.#loadNext(listing);
    const fits = ({ label, value }: Choice): boolean =>
      this.#searches || `${label} ${typeof value === "string" ? value : JSON.stringify(value)}`.toLowerCase().includes(typed.toLowerCase());
    const isWanted = (): boolean => typed !== "" && !listing.isComplete && listing.page < MOST_PAGES && !listing.found.some(fits);
    while (isWanted() && signal?.aborted !== true) await this.#loadNext(listing);
    return listing.found.filter(fits);
  }

  loadMore(): Promise<void> {
    return this.#loadNext(this.#listing);
  }

  /** A late page belongs to the query that it was loaded for. */
  #loadNext(listing: Listing): Promise<void> {
    listing.loading ??= this.#loadPage(listing).finally(() => (listing.loading = undefined));
    return listing.loading;
  }

  async #loadPage(listing: Listing): Promise<void> {
    const query = this.#searches && listing.query !== "" ? { query: listing.query } : {};
    const { options, context } = await this.#load({ page: listing.page, prev_context: listing.context, ...query });
    const known = new Set(listing.found.map(({ value }) => JSON.stringify(value)));
    const fresh = options.filter(({ value }) => !known.has(JSON.stringify(value)));
    listing.found.push(...fresh);
    listing.page++;
    listing.context = context ?? {};
    // A component without paging repeats the page, or returns an empty one.
    listing.isComplete = fresh.length === 0;
  }
}

function emptyListing(query: string): Listing {
  return { query, found: [], page: 0, context: {}, isComplete: false, loading: undefined };
}
