import type { StateChanges } from "../../domain/invocation.ts";

/** The values that `$.service.db` holds, as JSON text: `get` answers at once and hands out fresh copies. */
export class State {
  readonly #values: Map<string, string>;

  constructor(values: Readonly<Record<string, string>>) {
    this.#values = new Map(Object.entries(values));
  }

  get(key: unknown): unknown {
    const text = this.#values.get(String(key));
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** `undefined` clears the key. Throws TypeError when JSON cannot carry the value. */
  set(key: unknown, value: unknown): void {
    const name = String(key);
    const text = jsonText(value, `db.set(${JSON.stringify(name)})`);
    if (text === undefined) this.#values.delete(name);
    else this.#values.set(name, text);
  }

  /** The current values of these keys. */
  changesOf(keys: Iterable<string>): StateChanges {
    const changes: Record<string, string | null> = {};
    for (const key of keys) changes[key] = this.#values.get(key) ?? null;
    return changes;
  }

  /** What another process wrote. */
  patch(changes: StateChanges): void {
    for (const [key, text] of Object.entries(changes)) {
      if (text === null) this.#values.delete(key);
      else this.#values.set(key, text);
    }
  }
}

/** JSON text of a value; `undefined` for what JSON leaves out. Throws TypeError naming `what`. */
export function jsonText(value: unknown, what: string): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new TypeError(`${what}: the value is not JSON serializable: ${error instanceof Error ? error.message : String(error)}`);
  }
}
