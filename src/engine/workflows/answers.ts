import type { HttpResponse } from "../../domain/invocation.ts";
import type { Clock } from "../../ports/clock.ts";

/** Answers that came before anyone asked for them. */
const MOST_EARLY = 100;
/** Characters; an answer so large comes later than the question for it. */
const LARGEST_EARLY = 1_000_000;

/** What clients of HTTP endpoints get: they wait while a run goes on that answers them (`$.respond`). */
export class Answers {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, { readonly workflowId: string; resolve(answer: HttpResponse | undefined | "gone"): void }>();
  readonly #early = new Map<string, HttpResponse | undefined>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * What the run of this message answers; `undefined`: it has ended, or stopped to wait, without. "late": nothing in time;
   * "gone": the workflow was deleted.
   */
  async of(messageId: string, { workflowId, withinMs }: { workflowId: string; withinMs: number }): Promise<HttpResponse | undefined | "late" | "gone"> {
    if (this.#early.has(messageId)) {
      const early = this.#early.get(messageId);
      this.#early.delete(messageId);
      return early;
    }
    const timeout = new AbortController();
    const answer = new Promise<HttpResponse | undefined | "gone">((resolve) => this.#waiting.set(messageId, { workflowId, resolve }));
    const late = this.#clock.sleepUntil(this.#clock.now() + withinMs, timeout.signal).then(() => "late" as const);
    try {
      return await Promise.race([answer, late]);
    } finally {
      timeout.abort();
      this.#waiting.delete(messageId);
    }
  }

  /** Whoever waits for a run of this workflow waits no longer. */
  giveUp(workflowId: string): void {
    for (const waiting of this.#waiting.values()) if (waiting.workflowId === workflowId) waiting.resolve("gone");
  }

  /** The first one counts. */
  settle(messageId: string, answer: HttpResponse | undefined): void {
    const waiting = this.#waiting.get(messageId);
    if (waiting !== undefined) return waiting.resolve(answer);
    // Nobody may ever ask for it, as when the client's request came to another kind of answer.
    if (this.#early.has(messageId) || (answer?.body.length ?? 0) > LARGEST_EARLY) return;
    this.#early.set(messageId, answer);
    for (const oldest of this.#early.keys()) {
      if (this.#early.size <= MOST_EARLY) break;
      this.#early.delete(oldest);
    }
  }
}
