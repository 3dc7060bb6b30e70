import type { StateChanges } from "../../domain/invocation.ts";

/** Who wrote a value that is not settled yet. */
export interface Writer {
  /** The call was given up: nothing that it wrote will ever be stored. */
  readonly isAbandoned: boolean;
}

/** A value as its last writer left it. */
interface Unsettled {
  readonly writer: Writer;
  readonly order: number;
}

/**
 * The values that `$.service.db` holds, as JSON text: `get` answers at once and hands out fresh copies. All calls of
 * the process share them; who wrote what, and in which order, is kept until it is settled.
 */
export class State {
  readonly #values: Map<string, string>;
  readonly #unsettled = new Map<string, Unsettled>();
  /** Key → order of the newest write that was settled. */
  readonly #settled = new Map<string, number>();
  #order = 0;
  /** Characters of all keys and values. */
  #size: number;
  #epoch: number;

  /** `epoch`: how many changes the host had seen when these values were copied. */
  constructor(values: Readonly<Record<string, string>>, epoch = 0) {
    this.#values = new Map(Object.entries(values));
    this.#epoch = epoch;
    this.#size = Object.entries(values).reduce((sum, [key, text]) => sum + key.length + text.length, 0);
  }

  /** Characters of all keys and values when this one has become `text`. */
  sizeWith(key: string, text: string): number {
    return this.#size - this.#sizeOf(key) + key.length + text.length;
  }

  /** How many changes of the host this process has seen. */
  get epoch(): number {
    return this.#epoch;
  }

  textOf(key: string): string | undefined {
    return this.#values.get(key);
  }

  /** The call that wrote the value of this key and has not been settled. */
  writerOf(key: string): Writer | undefined {
    return this.#unsettled.get(key)?.writer;
  }

  /** `undefined` clears the key. Returns the order of this write among all. */
  write(key: string, text: string | undefined, writer: Writer): number {
    this.#put(key, text);
    const order = ++this.#order;
    this.#unsettled.set(key, { writer, order });
    return order;
  }

  /** Whether the write still counts: none that was settled has come after it. */
  settle(key: string, order: number): boolean {
    if (this.#unsettled.get(key)?.order === order) this.#unsettled.delete(key);
    if (order <= (this.#settled.get(key) ?? 0)) return false;
    this.#settled.set(key, order);
    return true;
  }

  /** What another process wrote: whoever has read or written these keys before learns of it from the host. */
  patch(changes: StateChanges, epoch: number): void {
    this.#epoch = epoch;
    for (const [key, text] of Object.entries(changes)) {
      this.#put(key, text ?? undefined);
      this.#unsettled.delete(key);
    }
  }

  #sizeOf(key: string): number {
    const text = this.#values.get(key);
    return text === undefined ? 0 : key.length + text.length;
  }

  #put(key: string, text: string | undefined): void {
    this.#size += (text === undefined ? 0 : key.length + text.length) - this.#sizeOf(key);
    if (text === undefined) this.#values.delete(key);
    else this.#values.set(key, text);
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
