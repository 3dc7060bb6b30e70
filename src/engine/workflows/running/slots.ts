/** Others wait in order of arrival. */
export class Slots {
  #most: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Runs in progress keep their place. */
  resize(most: number): void {
    this.#most = most;
    this.#next();
  }

  get most(): number {
    return this.#most;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  async during<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#taken >= this.#most || this.#waiting.length > 0) await new Promise<void>((begin) => this.#waiting.push(begin));
    else this.#taken++;
    try {
      return await work();
    } finally {
      this.#taken--;
      this.#next();
    }
  }

  #next(): void {
    while (this.#taken < this.#most) {
      const begin = this.#waiting.shift();
      if (begin === undefined) return;
      this.#taken++;
      begin();
    }
  }
}
