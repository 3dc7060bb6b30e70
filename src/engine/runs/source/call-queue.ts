import { PdError } from "../../../domain/errors.ts";

export interface CallLimits {
  readonly maxConcurrency: number;
  /** Length of each waiting line. Further calls reject with PD_TOO_BUSY. */
  readonly maxWaiting: number;
}

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

interface Waiter {
  readonly isAlone: boolean;
  readonly begin: (round: number) => void;
  readonly refuse: (reason: PdError) => void;
}

interface StandingHold {
  readonly most: number;
  readonly waiters: Waiter[];
  readonly calls: Promise<unknown>[];
}

export interface Hold {
  readonly release: () => void;
  readonly calls: readonly Promise<unknown>[];
}

/**
 * Runs the calls of one source in order of arrival, up to `maxConcurrency` at a time. A call with `isAlone` starts when no other runs, and later calls wait
 * until it has ended.
 */
export class CallQueue {
  readonly #limits: CallLimits;
  #waiting: Waiter[] = [];
  #loners: Waiter[] = [];
  #refusal: PdError | undefined;
  #running = 0;
  #hasLoner = false;
  #hold: StandingHold | undefined;
  /** Calls that have a place and start in a later microtask. New calls must not overtake them. */
  #beginning = 0;
  /** Incremented by `startOver`. A call of an earlier round frees no place when it ends. */
  #round = 0;

  constructor(limits: CallLimits) {
    this.#limits = limits;
  }

  /** Throws what `call` throws, PD_TOO_BUSY when too many calls wait, and the reason of `close`. */
  run<Value>(call: () => Promise<Value>, isAlone: boolean): Promise<Value> {
    const hold = this.#holdWithRoom();
    const turn = hold === undefined ? this.#enter(isAlone) : waitIn(hold.waiters, isAlone);
    if (turn === undefined) return this.#perform(call, this.#round);
    const performed = turn.then((round) => {
      this.#beginning--;
      return this.#perform(call, round);
    });
    hold?.calls.push(performed);
    return performed;
  }

  async #perform<Value>(call: () => Promise<Value>, round: number): Promise<Value> {
    try {
      return await call();
    } finally {
      if (round === this.#round) this.#leave();
    }
  }

  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#waiting.length + this.#loners.length + (this.#hold?.waiters.length ?? 0) };
  }

  /** Stops counting the running calls, so that waiting calls start as if nothing ran. */
  startOver(): void {
    this.#round++;
    this.#running = 0;
    this.#hasLoner = false;
    this.#beginNext();
  }

  /** Makes new calls wait until `release`. One call more than `most` ends the hold, so that a busy source is not delayed. */
  hold(most: number): Hold {
    const hold: StandingHold = { most, waiters: [], calls: [] };
    this.#hold = hold;
    return {
      calls: hold.calls,
      release: () => {
        if (this.#hold === hold) this.#resume(hold);
      },
    };
  }

  close(reason: PdError): void {
    this.#refusal = reason;
    const refused = [...this.#loners, ...this.#waiting, ...(this.#hold?.waiters ?? [])];
    this.#loners = [];
    this.#waiting = [];
    this.#hold = undefined;
    for (const { refuse } of refused) refuse(reason);
  }

  #holdWithRoom(): StandingHold | undefined {
    const hold = this.#hold;
    if (hold === undefined) return undefined;
    // A hold must never be the reason why a call is rejected.
    const hasRoom = hold.waiters.length < hold.most && this.load.waiting < this.#limits.maxWaiting;
    if (hasRoom) return hold;
    this.#resume(hold);
    return undefined;
  }

  /** Undefined when the call starts at once. The call that leaves hands its place to a waiter, so no new call can take it first. */
  #enter(isAlone: boolean): Promise<number> | undefined {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    if (this.#isFree(isAlone)) {
      this.#takePlace(isAlone);
      if (this.#beginning === 0) return undefined;
      this.#beginning++;
      return Promise.resolve(this.#round);
    }
    const line = this.#lineOf(isAlone);
    if (line.length < this.#limits.maxWaiting) return waitIn(line, isAlone);
    return Promise.reject(new PdError("PD_TOO_BUSY", `Cannot run the source now: ${line.length} calls of it are waiting`));
  }

  #lineOf(isAlone: boolean): Waiter[] {
    return isAlone ? this.#loners : this.#waiting;
  }

  #isFree(isAlone: boolean): boolean {
    return isAlone ? this.#running === 0 : this.#running < this.#limits.maxConcurrency && !this.#hasLoner && this.#loners.length === 0;
  }

  #takePlace(isAlone: boolean): void {
    this.#running++;
    this.#hasLoner = isAlone;
  }

  #leave(): void {
    this.#running--;
    this.#hasLoner = false;
    this.#beginNext();
  }

  #resume(hold: StandingHold): void {
    this.#hold = undefined;
    for (const waiter of hold.waiters) {
      if (this.#isFree(waiter.isAlone)) this.#begin(waiter);
      else this.#lineOf(waiter.isAlone).push(waiter);
    }
  }

  #beginNext(): void {
    const [loner] = this.#loners;
    if (loner !== undefined && this.#running > 0) return;
    if (loner !== undefined) {
      this.#loners.shift();
      return this.#begin(loner);
    }
    for (let next = this.#waiting[0]; next !== undefined && this.#isFree(false); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#begin(next);
    }
  }

  #begin({ isAlone, begin }: Waiter): void {
    this.#takePlace(isAlone);
    this.#beginning++;
    begin(this.#round);
  }
}

function waitIn(line: Waiter[], isAlone: boolean): Promise<number> {
  return new Promise<number>((begin, refuse) => line.push({ isAlone, begin, refuse }));
}
