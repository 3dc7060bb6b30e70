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

/** A call that waits for its turn. */
interface Waiter {
  readonly isAlone: boolean;
  /** `round`: the one in which it has its place. */
  readonly begin: (round: number) => void;
  readonly refuse: (reason: PdError) => void;
}

/** While it stands, whoever comes waits. */
interface StandingHold {
  /** No more than these wait because of it. */
  readonly most: number;
  readonly waiters: Waiter[];
  readonly calls: Promise<unknown>[];
}

export interface Hold {
  /** Whoever waits because of it may begin. */
  readonly release: () => void;
  /** Those who have waited because of it. */
  readonly calls: readonly Promise<unknown>[];
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

  /** Calls that run, and calls that wait. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#waiting.length + this.#loners.length + (this.#hold?.waiters.length ?? 0) };
  }

  /** What runs now holds up nobody any more: whoever waits for it begins as if nothing ran. */
  startOver(): void {
    this.#round++;
    this.#running = 0;
    this.#hasLoner = false;
    this.#beginNext();
  }

  /** Whoever comes from now on waits until this is released, or until more than `most` would: a busy source is not held up. */
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

  /** Refuses whoever waits and whoever comes; what runs goes on. */
  close(reason: PdError): void {
    this.#refusal = reason;
    const refused = [...this.#loners, ...this.#waiting, ...(this.#hold?.waiters ?? [])];
    this.#loners = [];
    this.#waiting = [];
    this.#hold = undefined;
    for (const { refuse } of refused) refuse(reason);
  }

  /** Whoever comes waits in it; where none more may, it ends. */
  #holdWithRoom(): StandingHold | undefined {
    const hold = this.#hold;
    if (hold === undefined) return undefined;
    // Nobody is refused because of it.
    const hasRoom = hold.waiters.length < hold.most && this.load.waiting < this.#limits.maxWaiting;
    if (hasRoom) return hold;
    this.#resume(hold);
    return undefined;
  }

  /** `undefined`: it begins at once. A place is given by whoever leaves, so that nobody who comes between takes it. */
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

  /** In the order in which they came. */
  #resume(hold: StandingHold): void {
    this.#hold = undefined;
    for (const waiter of hold.waiters) {
      if (this.#isFree(waiter.isAlone)) this.#begin(waiter);
      else this.#lineOf(waiter.isAlone).push(waiter);
    }
  }

  /** Whoever waits and may begin. */
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
