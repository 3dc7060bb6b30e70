import type { ChoicesRecord } from "../../api/props.ts";
import type { JsonObject } from "../../domain/json.ts";

export type Choice = ChoicesRecord["options"][number];

/** One page of choices, asked of the component. */
export type LoadPage = (request: {
  readonly page: number;
  readonly prev_context: JsonObject;
  readonly query?: string;
}) => Promise<Pick<ChoicesRecord, "options" | "context">>;

/** What was loaded for one query. */
interface Listing {
  readonly query: string;
  readonly found: Choice[];
  page: number;
  context: JsonObject;
  isComplete: boolean;
  /** Pages come one after the other. */
  loading: Promise<void> | undefined;
}

/** So many pages are looked through for what was typed. */
const MOST_PAGES = 20;

/** The choices of a prop, loaded page by page as far as they are wanted. */
export class Choices {
  readonly #load: LoadPage;
  /** The component itself searches. */
  readonly #searches: boolean;
  #listing = emptyListing("");

  constructor(load: LoadPage, searches: boolean) {
    this.#load = load;
    this.#searches = searches;
  }

  /** There may be more than what is loaded. */
  get hasMore(): boolean {
    return !this.#listing.isComplete;
  }

  /** Those that what was typed stands for; more is loaded until one is found, or the signal aborts. */
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

  /** One page more. */
  loadMore(): Promise<void> {
    return this.#loadNext(this.#listing);
  }

  /** An answer belongs to the query that it was asked for, however late it comes. */
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
    // Components that do not page answer the same again, or with nothing.
    listing.isComplete = fresh.length === 0;
  }
}

function emptyListing(query: string): Listing {
  return { query, found: [], page: 0, context: {}, isComplete: false, loading: undefined };
}
