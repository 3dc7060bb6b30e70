import type { PdError } from "../../domain/errors.ts";

interface Waiter {
  readonly begin: () => void;
  readonly refuse: (reason: PdError) => void;
}

/** Who gives up a process that has nothing to do. */
export type Evict = () => boolean;

/**
 * How many processes of sources there may be. Beyond that whoever wants one waits, in the order of asking, until another
 * ends; the one that has been idle for the longest is asked to end first.
 */
export class ProcessBudget {
  readonly #most: number;
  readonly #evict: Evict;
  #waiting: Waiter[] = [];
  #refusal: PdError | undefined;
  #count = 0;

  constructor(most: number, evict: Evict) {
    this.#most = most;
    this.#evict = evict;
  }

  get count(): number {
    return this.#count;
  }

  /** How many who want a process wait for a place. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** So many are there that one with nothing to do had better go at once. */
  get isTight(): boolean {
    return this.#count > this.#most / 2;
  }

  /** Resolves when there is a place; `undefined`: there is one. `isUrgent`: at once, though that is one too many; who has a process already may not wait for its own end. Throws as `close` says. */
  enter(isUrgent: boolean): Promise<void> | undefined {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (isUrgent || (this.#count < this.#most && this.#waiting.length === 0)) {
      this.#count++;
      return undefined;
    }
    this.#evict();
    // The place is handed over by whoever leaves.
    return new Promise<void>((begin, refuse) => this.#waiting.push({ begin, refuse }));
  }

  leave(): void {
    const next = this.#count <= this.#most ? this.#waiting.shift() : undefined;
    if (next === undefined) this.#count--;
    else next.begin();
    if (this.#waiting.length > 0) this.#evict();
  }

  /** Refuses whoever waits and whoever comes. */
  close(reason: PdError): void {
    this.#refusal = reason;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { refuse } of waiting) refuse(reason);
  }

  /** Something has become idle: it may make room for who waits. */
  offer(): void {
    if (this.#waiting.length > 0) this.#evict();
  }
}
