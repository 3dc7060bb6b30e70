import type { Provenance } from "../../../domain/source/deployed-component.ts";
import { PdError, messageOf } from "../../../domain/errors.ts";
import type { SavedId } from "../../../domain/ids.ts";
import { type Row, json } from "./rows.ts";

type ReadCode = (id: SavedId) => Row | undefined;

/** Codes with equal declarations share one object. */
type Declarations = Map<string, Provenance["declared"]>;

/** Reads what listed code declares on first access, because most sources are never looked at. */
export class ListedCodes {
  readonly #read: ReadCode;
  #codes: Map<SavedId, ListedCode> = new Map();

  constructor(read: ReadCode) {
    this.#read = read;
  }

  list<List>(make: (codeOf: (id: SavedId) => Provenance) => List): List {
    const declarations: Declarations = new Map();
    const codes = new Map<SavedId, ListedCode>();
    const list = make((id) => {
      const code = codes.get(id) ?? this.#codes.get(id) ?? new ListedCode(id, this.#read, declarations);
      codes.set(id, code);
      return code;
    });
    this.#codes = codes;
    return list;
  }

  /** Reads code that is about to be deleted, for lists made earlier. */
  keep(id: SavedId): void {
    this.#codes.get(id)?.known(false);
    this.#codes.delete(id);
  }
}

class ListedCode implements Provenance {
  readonly #id: SavedId;
  readonly #read: ReadCode;
  readonly #declarations: Declarations;
  #known: Provenance | undefined;

  constructor(id: SavedId, read: ReadCode, declarations: Declarations) {
    this.#id = id;
    this.#read = read;
    this.#declarations = declarations;
  }

  get declared(): Provenance["declared"] {
    return this.known().declared;
  }

  get origin(): Provenance["origin"] {
    return this.known().origin;
  }

  get imports(): Provenance["imports"] {
    return this.known().imports;
  }

  known(isShared = true): Provenance {
    if (this.#known !== undefined) return this.#known;
    const row = this.#read(this.#id);
    if (row === undefined) throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot read what the code ${this.#id} declares: it no longer exists`);
    try {
      this.#known = this.#provenanceOf(row, isShared);
    } catch (error) {
      throw new PdError("PD_DATABASE_DAMAGED", `Cannot read what the code ${this.#id} declares: ${messageOf(error)}`, { cause: error });
    }
    return this.#known;
  }

  #provenanceOf(row: Row, isShared: boolean): Provenance {
    const text = String(row["definition"]);
    const declared = this.#declarations.get(text) ?? json<Provenance["declared"]>(text);
    if (isShared) this.#declarations.set(text, declared);
    return { declared, origin: json(row["origin"]), imports: json(row["imports"]) };
  }
}
