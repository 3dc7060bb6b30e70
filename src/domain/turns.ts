/** Work that is done one after the other, in the order in which it is asked for. What fails keeps nobody back. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<Value>(work: () => Promise<Value>): Promise<Value> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => {});
    return mine;
  }
}

/** The same for each key by itself. A key that nobody waits for takes up nothing. */
export class KeyedTurns<Key> {
  readonly #last = new Map<Key, Promise<unknown>>();

  /** `work` is told whether it had to wait for somebody: what it is about may be gone by then. It must not wait for another turn of its own key. */
  async take<Value>(key: Key, work: (hasWaited: boolean) => Promise<Value>): Promise<Value> {
    const before = this.#last.get(key);
    // Not begun before others see that the turn is taken.
    const mine = (before ?? Promise.resolve()).then(() => work(before !== undefined));
    const last = mine.catch(() => {});
    this.#last.set(key, last);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === last) this.#last.delete(key);
    }
  }

  /** Nobody is at work, and nobody waits. */
  get isOver(): boolean {
    return this.#last.size === 0;
  }

  /** Resolves when all have had their turn who have asked by now. */
  async settled(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
