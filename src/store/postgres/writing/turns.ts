/** Performs works of one name in the order in which they were given. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  take<Made>(name: string, work: () => Promise<Made>): Promise<Made> {
    const made = (this.#last.get(name) ?? Promise.resolve()).then(work, work);
    this.#last.set(name, made);
    const forget = (): void => {
      if (this.#last.get(name) === made) this.#last.delete(name);
    };
    void made.then(forget, forget);
    return made;
  }
}
