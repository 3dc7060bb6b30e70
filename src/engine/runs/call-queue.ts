import { PdError } from "../../domain/errors.ts";

export interface CallLimits {
  /** Calls that run at the same time. */
  readonly maxConcurrency: number;
  /** Calls that wait; more are refused. */
  readonly maxWaiting: number;
}

/** Those of the server, but for what a source has of its own by then. */
export class OwnLimits implements CallLimits {
  readonly #server: CallLimits;
  readonly #own: () => number | undefined;

  constructor(server: CallLimits, own: () => number | undefined) {
    this.#server = server;
    this.#own = own;
  }

  get maxConcurrency(): number {
    return this.#own() ?? this.#server.maxConcurrency;
  }

  get maxWaiting(): number {
    return this.#server.maxWaiting;
  }
}

/** While it stands, whoever comes waits. */
interface StandingHold {
  /** So many may wait because of it. */
  readonly most: number;
  readonly calls: Promise<unknown>[];
}

export interface Hold {
  /** Whoever waits because of it may begin. */
  readonly release: () => void;
  /** Those who waited because of it. */
  readonly calls: readonly Promise<unknown>[];
}

interface Waiter {
  readonly begin: () => void;
  readonly refuse: (reason: PdError) => void;
}

/**
 * Lets the calls of one source run a few at a time, in the order in which they came. A call that wants to run alone
 * waits until nothing else runs, and whoever comes after it waits for it.
 */
export class CallQueue {
  readonly #limits: CallLimits;
  #waiting: Waiter[] = [];
  #loners: Waiter[] = [];
  #refusal: PdError | undefined;
  #running = 0;
  #hasLoner = false;
  #hold: StandingHold | undefined;
  /** Calls that have a place and begin at once, before whoever comes now. */
  #beginning = 0;
  /** Changes when what runs is counted from zero again. */
  #round = 0;

  /** The limits are looked at when they count, so they may change; what runs already goes on. */
  constructor(limits: CallLimits) {
    this.#limits = limits;
  }

  /** Rejects as the call does, with PD_TOO_BUSY when too many wait, and as `close` says. */
  run<Value>(call: () => Promise<Value>, isAlone: boolean): Promise<Value> {
    const turn = this.#enter(isAlone);
    if (turn === undefined) return this.#perform(call);
    const performed = turn.then(() => {
      this.#beginning--;
      return this.#perform(call);
    });
    this.#hold?.calls.push(performed);
    return performed;
  }

  async #perform<Value>(call: () => Promise<Value>): Promise<Value> {
    const round = this.#round;
    try {
      return await call();
    } finally {
      if (round === this.#round) this.#leave();
    }
  }

  /** Calls that run, and calls that wait. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#waiting.length + this.#loners.length };
  }

  /** What runs now holds up nobody any more: whoever waits begins as if nothing ran. */
  startOver(): void {
    this.#round++;
    this.#running = 0;
    this.#hasLoner = false;
    this.#resume();
  }

  /** Whoever comes waits until this is released, until `startOver`, or until more than `most` would: a busy source is not held up. */
  hold(most: number): Hold {
    const hold: StandingHold = { most, calls: [] };
    this.#hold = hold;
    return {
      calls: hold.calls,
      release: () => {
        if (this.#hold === hold) this.#resume();
      },
    };
  }

  /** Refuses whoever waits and whoever comes; what runs goes on. */
  close(reason: PdError): void {
    this.#refusal = reason;
    const refused = [...this.#loners, ...this.#waiting];
    this.#loners = [];
    this.#waiting = [];
    for (const { refuse } of refused) refuse(reason);
  }

  /** `undefined`: it begins at once. A place is given by whoever leaves, so that nobody who comes between takes it. */
  #enter(isAlone: boolean): Promise<void> | undefined {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    const { maxWaiting } = this.#limits;
    const line = isAlone ? this.#loners : this.#waiting;
    if (this.#hold !== undefined && line.length >= Math.min(this.#hold.most, maxWaiting)) this.#resume();
    if (this.#hold === undefined && this.#isFree(isAlone)) {
      this.#running++;
      this.#hasLoner = isAlone;
      if (this.#beginning === 0) return undefined;
      this.#beginning++;
      return Promise.resolve();
    }
    if (line.length >= maxWaiting) return Promise.reject(new PdError("PD_TOO_BUSY", `Cannot run the source now: ${line.length} calls of it are waiting`));
    return new Promise<void>((begin, refuse) => line.push({ begin, refuse }));
  }

  #isFree(isAlone: boolean): boolean {
    return isAlone ? this.#running === 0 : this.#running < this.#limits.maxConcurrency && !this.#hasLoner && this.#loners.length === 0;
  }

  #leave(): void {
    this.#running--;
    this.#hasLoner = false;
    if (this.#hold === undefined) this.#beginNext();
  }

  #resume(): void {
    this.#hold = undefined;
    this.#beginNext();
  }

  /** Whoever waits and may begin. */
  #beginNext(): void {
    if (this.#hasLoner) return;
    if (this.#loners.length > 0) {
      if (this.#running > 0) return;
      this.#running = 1;
      this.#hasLoner = true;
      return this.#begin(this.#loners.shift());
    }
    while (this.#waiting.length > 0 && this.#running < this.#limits.maxConcurrency) {
      this.#running++;
      this.#begin(this.#waiting.shift());
    }
  }

  #begin(waiter: Waiter | undefined): void {
    if (waiter === undefined) return;
    this.#beginning++;
    waiter.begin();
  }
}
