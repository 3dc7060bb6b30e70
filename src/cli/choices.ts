import type { JsonObject, JsonValue } from "../domain/json.ts";
import { isJsonObject } from "../domain/json.ts";

export interface Choice {
  readonly label: string;
  readonly value: JsonValue;
}

/** One page of choices, asked of the component. */
export type LoadPage = (request: { readonly page: number; readonly prev_context: JsonObject; readonly query?: string }) => Promise<JsonObject>;

/** So many pages are looked through for what was typed. */
const MOST_PAGES = 20;

/** The choices of a prop, loaded page by page as far as they are wanted. */
export class Choices {
  readonly #load: LoadPage;
  /** The component itself searches. */
  readonly #searches: boolean;
  #query = "";
  #found: Choice[] = [];
  #page = 0;
  #context: JsonObject = {};
  #isComplete = false;

  constructor(load: LoadPage, searches: boolean) {
    this.#load = load;
    this.#searches = searches;
  }

  /** There may be more than what is loaded. */
  get hasMore(): boolean {
    return !this.#isComplete;
  }

  /** Those that what was typed stands for; more is loaded until one is found. */
  async matching(typed: string): Promise<readonly Choice[]> {
    if (this.#searches && typed !== this.#query) this.#restart(typed);
    if (this.#page === 0) await this.loadMore();
    const fits = ({ label, value }: Choice): boolean => this.#searches || `${label} ${String(value)}`.toLowerCase().includes(typed.toLowerCase());
    while (typed !== "" && this.hasMore && this.#page < MOST_PAGES && !this.#found.some(fits)) await this.loadMore();
    return this.#found.filter(fits);
  }

  async loadMore(): Promise<void> {
    const query = this.#searches && this.#query !== "" ? { query: this.#query } : {};
    const { options, context } = await this.#load({ page: this.#page, prev_context: this.#context, ...query });
    const known = new Set(this.#found.map(({ value }) => JSON.stringify(value)));
    const fresh = (Array.isArray(options) ? options.filter(isJsonObject) : []).map(choiceOf).filter(({ value }) => !known.has(JSON.stringify(value)));
    this.#found.push(...fresh);
    this.#page++;
    this.#context = isJsonObject(context) ? context : {};
    // Components that do not page answer the same again, or with nothing.
    this.#isComplete = fresh.length === 0;
  }

  #restart(query: string): void {
    this.#query = query;
    this.#found = [];
    this.#page = 0;
    this.#context = {};
    this.#isComplete = false;
  }
}

function choiceOf({ label, value = null }: JsonObject): Choice {
  return { label: String(label), value };
}
