/** One at a time, in order. A failure does not affect later work. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<Value>(work: () => Promise<Value>): Promise<Value> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => {});
    return mine;
  }
}

/** An idle key uses no memory. */
export class KeyedTurns<Key> {
  readonly #last = new Map<Key, Promise<unknown>>();

  /**
   * `hasWaited` is true when other work came first, so the subject may be gone. `work` must not wait for another turn
   * of the same key: it would deadlock.
   */
  async take<Value>(key: Key, work: (hasWaited: boolean) => Promise<Value>): Promise<Value> {
    const before = this.#last.get(key);
    // Starts only after the turn is visible to others.
    const mine = (before ?? Promise.resolve()).then(() => work(before !== undefined));
    const last = mine.catch(() => {});
    this.#last.set(key, last);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === last) this.#last.delete(key);
    }
  }

  get isOver(): boolean {
    return this.#last.size === 0;
  }

  /** Resolves when the turns requested so far have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
