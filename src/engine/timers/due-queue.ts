interface Entry<Item> {
  readonly at: number;
  readonly item: Item;
}

export class DueQueue<Item> {
  readonly #heap: Entry<Item>[] = [];

  get size(): number {
    return this.#heap.length;
  }

  get next(): Entry<Item> | undefined {
    return this.#heap[0];
  }

  add(at: number, item: Item): void {
    this.#heap.push({ at, item });
    let place = this.#heap.length - 1;
    while (place > 0 && this.#isBefore(place, (place - 1) >> 1)) {
      this.#swap(place, (place - 1) >> 1);
      place = (place - 1) >> 1;
    }
  }

  take(): Item | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return first?.item;
    this.#heap[0] = last;
    for (let place = 0; ;) {
      const left = 2 * place + 1;
      const earliest = this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#isBefore(earliest, place)) return first?.item;
      this.#swap(place, earliest);
      place = earliest;
    }
  }

  #isBefore(place: number, other: number): boolean {
    const entry = this.#heap[place];
    const rival = this.#heap[other];
    return entry !== undefined && (rival === undefined || entry.at < rival.at);
  }

  #swap(place: number, other: number): void {
    const entry = this.#heap[place];
    const rival = this.#heap[other];
    if (entry === undefined || rival === undefined) return;
    this.#heap[place] = rival;
    this.#heap[other] = entry;
  }
}
