import type { PdError } from "../../../domain/errors.ts";

interface Waiter {
  readonly begin: () => void;
  readonly refuse: (reason: PdError) => void;
}

/** Ends one idle process. Returns false when no process is idle. */
export type Evict = () => boolean;

/** At the limit, callers wait in order until a process ends, and the process that has been idle longest is ended. */
export class ProcessBudget {
  readonly most: number;
  readonly #evict: Evict;
  #waiting: Waiter[] = [];
  #refusal: PdError | undefined;
  #count = 0;

  constructor(most: number, evict: Evict) {
    this.most = most;
    this.#evict = evict;
  }

  get count(): number {
    return this.#count;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** True above half of the limit. An idle process should then end at once. */
  get isTight(): boolean {
    return this.#count > this.most / 2;
  }

  /**
   * Undefined when there is a place; otherwise resolves when one is free. `isUrgent` exceeds the limit: a source that has a process must not wait for its own
   * process to end. Throws the reason of `close`.
   */
  enter(isUrgent: boolean): Promise<void> | undefined {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (isUrgent || (this.#count < this.most && this.#waiting.length === 0)) {
      this.#count++;
      return undefined;
    }
    this.#evict();
    // `leave` hands the place over without changing the count.
    return new Promise<void>((begin, refuse) => this.#waiting.push({ begin, refuse }));
  }

  leave(): void {
    const next = this.#count <= this.most ? this.#waiting.shift() : undefined;
    if (next === undefined) this.#count--;
    else next.begin();
    if (this.#waiting.length > 0) this.#evict();
  }

  close(reason: PdError): void {
    this.#refusal = reason;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { refuse } of waiting) refuse(reason);
  }

  offer(): void {
    if (this.#waiting.length > 0) this.#evict();
  }
}
