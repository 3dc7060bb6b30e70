const REST_AFTER_MS = 5000;
/** A resource that is needed again this soon, as between saves, stays for STAY_MS. */
const SOON_MS = 120_000;
const STAY_MS = 600_000;

/** Calls `end` when nothing has held the resource for a while. */
export class IdleEnd {
  readonly #end: () => void;
  #holders = 0;
  #resting: NodeJS.Timeout | undefined;
  #endedAt: number | undefined;
  #patienceMs = REST_AFTER_MS;

  constructor(end: () => void) {
    this.#end = end;
  }

  /** Keeps the resource until the returned function is called. */
  hold(): () => void {
    this.#holders++;
    clearTimeout(this.#resting);
    if (this.#endedAt !== undefined) this.#patienceMs = performance.now() - this.#endedAt < SOON_MS ? STAY_MS : REST_AFTER_MS;
    this.#endedAt = undefined;
    return () => {
      this.#holders--;
      if (this.#holders === 0) this.#resting = setTimeout(() => this.#rest(), this.#patienceMs).unref();
    };
  }

  #rest(): void {
    this.#endedAt = performance.now();
    this.#end();
  }
}
