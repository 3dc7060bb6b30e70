import type { StateChanges, TouchedKeys } from "../../../domain/run/invocation.ts";
import { LIMITS, isTooComplex } from "../../../domain/limits.ts";
import { type State, type Writer, jsonText } from "./state.ts";

interface Written {
  readonly text: string | undefined;
  readonly order: number;
}

export interface StatePart {
  readonly stateChanges: StateChanges;
  readonly touched: TouchedKeys;
}

/**
 * A call that overwrites another call's unsettled value after reading it depends on that call: it settles later, and is
 * discarded when that call is abandoned.
 */
export class CallState implements Writer {
  readonly #state: State;
  /** Writes go to a copy that is not stored. */
  readonly #isPrivate: boolean;
  /** Key → epoch of its value (see State) when this call first touched it. */
  #touched = new Map<string, number>();
  #written = new Map<string, Written>();
  /** Key → the call whose unsettled value was read. */
  readonly #seen = new Map<string, CallState>();
  readonly #builtOn = new Set<CallState>();
  #end: () => void = () => {};
  readonly #ended = new Promise<void>((resolve) => (this.#end = resolve));
  #isOver = false;
  isAbandoned = false;

  constructor(state: State, { isPrivate = false }: { isPrivate?: boolean } = {}) {
    this.#state = state;
    this.#isPrivate = isPrivate;
  }

  get(key: unknown): unknown {
    const name = nameOf(key);
    const own = this.#isPrivate ? this.#written.get(name) : undefined;
    if (own !== undefined) return parsed(own.text);
    this.#touch(name);
    const writer = this.#state.writerOf(name);
    if (writer instanceof CallState && writer !== this) this.#seen.set(name, writer);
    else this.#seen.delete(name);
    return parsed(this.#state.textOf(name));
  }

  /** `undefined` clears the key. Returns the characters of key and value. Throws TypeError when JSON cannot carry the value, and RangeError beyond a limit. */
  set(key: unknown, value: unknown): number {
    const name = nameOf(key);
    const what = `db.set(${JSON.stringify(name.slice(0, 100))})`;
    const text = jsonText(value, what);
    if (name.length > LIMITS.name) throw new RangeError(`${what}: the key has ${name.length} characters, more than ${LIMITS.name}`);
    if (text !== undefined) this.#refuseTooMuch(name, text, what);
    this.#touch(name);
    const source = this.#seen.get(name);
    if (source !== undefined) this.#builtOn.add(source);
    this.#written.set(name, { text, order: this.#isPrivate ? 0 : this.#state.write(name, text, { writer: this, asOf: this.#touched.get(name) ?? 0 }) });
    return name.length + (text?.length ?? 0);
  }

  /** True when it wrote a key, or read an unstored value. */
  get isUnsettled(): boolean {
    return this.#written.size + this.#seen.size > 0;
  }

  get isWaiting(): boolean {
    return this.#awaited().length > 0;
  }

  /** Resolves when all calls that this one depends on have ended. */
  async untilFounded(): Promise<void> {
    for (let awaited = this.#awaited(); awaited.length > 0; awaited = this.#awaited()) await Promise.race(awaited.map((foundation) => foundation.#ended));
  }

  get isVoid(): boolean {
    return [...this.#builtOn].some(({ isAbandoned }) => isAbandoned);
  }

  /** Leaves out writes that a newer settled write replaced. */
  takePart(): StatePart {
    const counted = this.#isPrivate ? [] : [...this.#written].filter(([key, { order }]) => this.#state.settle(key, order));
    const stateChanges = Object.fromEntries(counted.map(([key, { text }]) => [key, text ?? null]));
    const touched = Object.fromEntries(this.#touched);
    this.#written = new Map();
    this.#touched = new Map();
    return { stateChanges, touched };
  }

  finish(): void {
    this.#isOver = true;
    // Otherwise each call would keep all earlier calls in memory.
    this.#builtOn.clear();
    this.#seen.clear();
    this.#end();
  }

  /** The host settled the call, or a call that it depends on was abandoned. */
  abandon(): void {
    this.isAbandoned = true;
    this.finish();
  }

  #refuseTooMuch(name: string, text: string, what: string): void {
    if (text.length > LIMITS.value) throw new RangeError(`${what}: the value has ${text.length} characters, more than ${LIMITS.value}`);
    if (isTooComplex(text)) throw new RangeError(`${what}: the value has more than ${LIMITS.members} members, or is too deep`);
    if (this.#state.sizeWith(name, text) > LIMITS.state) throw new RangeError(`${what}: all values of the source together may have ${LIMITS.state} characters`);
  }

  #touch(key: string): void {
    if (this.#isPrivate || this.#touched.has(key)) return;
    if (this.#touched.size >= LIMITS.keys) throw new RangeError(`db: one run may read and write ${LIMITS.keys} keys`);
    this.#touched.set(key, this.#state.asOf(key));
  }

  /** Calls that depend on each other do not wait for each other. */
  #awaited(): readonly CallState[] {
    return [...this.#builtOn].filter((foundation) => !foundation.#isOver && !foundation.#isBuiltOn(this, new Set()));
  }

  #isBuiltOn(other: CallState, visited: Set<CallState>): boolean {
    if (visited.has(this)) return false;
    visited.add(this);
    return [...this.#builtOn].some((foundation) => foundation === other || foundation.#isBuiltOn(other, visited));
  }
}

/** The server stores UTF-8, which cannot represent lone surrogates. */
function nameOf(key: unknown): string {
  return String(key).toWellFormed();
}

function parsed(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}
