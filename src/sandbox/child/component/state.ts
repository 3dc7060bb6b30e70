import type { StateChanges } from "../../../domain/run/invocation.ts";

export interface Writer {
  /** Its writes will never be stored. */
  readonly isAbandoned: boolean;
}

interface Unsettled {
  readonly writer: Writer;
  readonly order: number;
}

/**
 * Values of `$.service.db` as JSON text, shared by all calls of the process. A write is settled once its call has reported
 * it. A value's epoch counts the changes by others that it includes.
 */
export class State {
  readonly #values: Map<string, string>;
  readonly #unsettled = new Map<string, Unsettled>();
  /** Key → order of its newest settled write. */
  readonly #settled = new Map<string, number>();
  #order = 0;
  #size: number;
  /** Key → epoch of its value, when that is not `#epoch`. */
  readonly #asOf = new Map<string, number>();
  readonly #epoch: number;

  constructor(values: Readonly<Record<string, string>>, epoch = 0) {
    this.#values = new Map(Object.entries(values));
    this.#epoch = epoch;
    this.#size = Object.entries(values).reduce((sum, [key, text]) => sum + key.length + text.length, 0);
  }

  sizeWith(key: string, text: string): number {
    return this.#size - this.#sizeOf(key) + key.length + text.length;
  }

  /** A value that was made from an older one keeps the older epoch. */
  asOf(key: string): number {
    return this.#asOf.get(key) ?? this.#epoch;
  }

  textOf(key: string): string | undefined {
    return this.#values.get(key);
  }

  /** Undefined when the value is settled. */
  writerOf(key: string): Writer | undefined {
    return this.#unsettled.get(key)?.writer;
  }

  /** `undefined` clears the key. `asOf`: the writer's epoch. Returns the position among all writes. */
  write(key: string, text: string | undefined, { writer, asOf }: { writer: Writer; asOf: number }): number {
    this.#put(key, text);
    this.#asOf.set(key, asOf);
    const order = ++this.#order;
    this.#unsettled.set(key, { writer, order });
    return order;
  }

  /** False when a newer write is already settled. */
  settle(key: string, order: number): boolean {
    if (this.#unsettled.get(key)?.order === order) this.#unsettled.delete(key);
    if (order <= (this.#settled.get(key) ?? 0)) return false;
    this.#settled.set(key, order);
    return true;
  }

  /** Applies changes by another process. The host detects calls that used older values. */
  patch(changes: StateChanges, epoch: number): void {
    for (const [key, text] of Object.entries(changes)) this.#replace(key, text, epoch);
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

/** Undefined when JSON omits the value. Throws TypeError that names `what`. */
export function jsonText(value: unknown, what: string): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new TypeError(`${what}: the value is not JSON serializable: ${error instanceof Error ? error.message : String(error)}`);
  }
}
