import type { Client } from "../../client/client.ts";

type Line = Awaited<ReturnType<Client["invocations"]["observations"]>>[number];

const RECENT = 200;
const REMEMBERED = 1000;

/** Stored lines, then new ones. After a disconnect, reads stored lines again and notes that some may be missing. */
export class FollowedLines {
  readonly #client: Client;
  readonly #sourceId: string;
  readonly #shown: string[] = [];

  constructor(client: Client, sourceId: string) {
    this.#client = client;
    this.#sourceId = sourceId;
  }

  async *follow(signal: AbortSignal): AsyncGenerator<Line> {
    while (!signal.aborted) {
      const cut = new AbortController();
      // Subscribes first, so that no line is missed.
      const coming = this.#client.follow.logs(this.#sourceId, {
        signal: AbortSignal.any([signal, cut.signal]),
        onConnection: (isOpen) => isOpen || cut.abort(),
      });
      try {
        await coming.opened;
        const recent = await this.#client.invocations.observations(this.#sourceId, { limit: RECENT });
        const known = new Bag(this.#shown);
        const missed = recent.filter((line) => !known.take(keyOf(line)));
        if (this.#shown.length > 0) yield gapBefore(missed);
        for (const line of missed) yield this.#note(line);
        // The stored lines may contain new ones.
        const told = new Bag(recent.map(keyOf));
        for await (const line of coming) if (!told.take(keyOf(line))) yield this.#note(line);
      } finally {
        cut.abort();
      }
    }
  }

  #note(line: Line): Line {
    this.#shown.push(keyOf(line));
    if (this.#shown.length > 2 * REMEMBERED) this.#shown.splice(0, REMEMBERED);
    return line;
  }
}

function keyOf(line: Line): string {
  return JSON.stringify(line);
}

function gapBefore([first]: readonly Line[]): Line {
  return {
    k: "system",
    ts: first?.ts ?? Date.now(),
    msg: "The connection was interrupted. Lines that a run printed in between may be missing here; its own log has them after its end.",
  };
}

class Bag {
  readonly #counts = new Map<string, number>();

  constructor(texts: readonly string[]) {
    for (const text of texts) this.#counts.set(text, (this.#counts.get(text) ?? 0) + 1);
  }

  /** False when the text is missing. */
  take(text: string): boolean {
    const count = this.#counts.get(text) ?? 0;
    if (count > 0) this.#counts.set(text, count - 1);
    return count > 0;
  }
}
