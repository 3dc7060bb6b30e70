import { type DeployedComponent, type Provenance, type SourceOutline, type StoredSource, newestFirst } from "../../domain/deployed-component.ts";
import type { SavedId } from "../../domain/ids.ts";
import type { ListStatement } from "../../database/driver.ts";
import { LISTED_AT_ONCE, type ListedRow, listedRecordOf, listedRowOf, unreadable } from "./source-rows.ts";

export function listedSources(statement: ListStatement, codeOf: (id: SavedId) => Provenance): StoredSource[] {
  const listed = Array.from(allRows(statement), (values) => new ListedSource(listedRowOf(values), codeOf));
  return listed.toSorted((a, b) => newestFirst(a.outline, b.outline));
}

/** Reads in pages: with thousands of rows at once, each would survive two of V8's young collections. */
function* allRows(statement: ListStatement): Generator<readonly unknown[]> {
  for (let last: unknown = 0; last !== undefined;) {
    const found = statement.all(Number(last));
    yield* found;
    last = found.length < LISTED_AT_ONCE ? undefined : found.at(-1)?.[0];
  }
}

/** Throws PD_DATABASE_DAMAGED. */
function recordOf(row: ListedRow): DeployedComponent {
  try {
    return listedRecordOf(row);
  } catch (error) {
    throw unreadable(row.outline, error);
  }
}

/** Makes the record on first access, from what was read with the outline. */
class ListedSource implements StoredSource {
  readonly provenance: Provenance;
  #known: ListedRow | { readonly outline: SourceOutline; readonly source: DeployedComponent };

  constructor(row: ListedRow, codeOf: (id: SavedId) => Provenance) {
    this.#known = row;
    this.provenance = codeOf(row.componentId);
  }

  get outline(): SourceOutline {
    return this.#known.outline;
  }

  get source(): DeployedComponent {
    if ("source" in this.#known) return this.#known.source;
    const source = recordOf(this.#known);
    this.#known = { outline: this.#known.outline, source };
    return source;
  }
}
