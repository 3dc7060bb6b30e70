import type { StateChanges, StoredValues } from "../../domain/invocation.ts";

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
  /** Key → as of how many changes of others its value is, where that is not `#epoch`. */
  readonly #asOf = new Map<string, number>();
  readonly #epoch: number;

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

  /** As of how many changes of others the value of this key is: a value that was made of an older one is as old as that. */
  asOf(key: string): number {
    return this.#asOf.get(key) ?? this.#epoch;
  }

  textOf(key: string): string | undefined {
    return this.#values.get(key);
  }

  /** The call that wrote the value of this key and has not been settled. */
  writerOf(key: string): Writer | undefined {
    return this.#unsettled.get(key)?.writer;
  }

  /** `undefined` clears the key. `asOf`: that of what the writer knew. Returns the order of this write among all. */
  write(key: string, text: string | undefined, { writer, asOf }: { writer: Writer; asOf: number }): number {
    this.#put(key, text);
    this.#asOf.set(key, asOf);
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
    for (const [key, text] of Object.entries(changes)) this.#replace(key, text, epoch);
  }

  /** What is stored, after a call that had not known of it was given up. Values that were made of it stay: they count. */
  restore(stored: StoredValues): void {
    for (const [key, { text, epoch }] of Object.entries(stored)) if (this.asOf(key) < epoch) this.#replace(key, text, epoch);
  }

  #replace(key: string, text: string | null, epoch: number): void {
    this.#put(key, text ?? undefined);
    this.#asOf.set(key, epoch);
    this.#unsettled.delete(key);
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
