/** What nobody has needed for so long is ended. */
const REST_AFTER_MS = 5000;
/** What was needed again so soon after it had ended, as between two saves, stays for longer. */
const SOON_MS = 120_000;
const STAY_MS = 600_000;

/** Ends what takes up memory while nobody needs it. It is up to whoever needs it again to begin it. */
export class IdleEnd {
  readonly #end: () => void;
  #holders = 0;
  #resting: NodeJS.Timeout | undefined;
  #endedAt: number | undefined;
  #patienceMs = REST_AFTER_MS;

  constructor(end: () => void) {
    this.#end = end;
  }

  /** It stays until what this returns is called. */
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
