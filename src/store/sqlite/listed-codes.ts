import type { Provenance } from "../../domain/deployed-component.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import type { SavedId } from "../../domain/ids.ts";
import { type Row, json } from "./rows.ts";

/** The definition, origin and imports of a saved component; `undefined`: there is none. */
type ReadCode = (id: SavedId) => Row | undefined;

/** What codes declare, by its text: those that declare the same share it. */
type Declarations = Map<string, Provenance["declared"]>;

/** What is known of the codes of listed sources. It is read when somebody asks: a server may have thousands of sources that nobody looks at. */
export class ListedCodes {
  readonly #read: ReadCode;
  /** Those of the newest list that are still there. */
  #codes: Map<SavedId, ListedCode> = new Map();

  constructor(read: ReadCode) {
    this.#read = read;
  }

  /** A list that `make` makes; it is told what is known of each code. */
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

  /** Of one that is about to go: whoever has it from a list may ask afterwards. */
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

  /** `isShared`: others may declare the same. */
  known(isShared = true): Provenance {
    if (this.#known !== undefined) return this.#known;
    const row = this.#read(this.#id);
    if (row === undefined) throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot tell what the code ${this.#id} declares: it is gone`);
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
