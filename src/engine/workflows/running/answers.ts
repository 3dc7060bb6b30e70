import type { HttpResponse } from "../../../domain/run/invocation.ts";
import type { Clock } from "../../../ports/clock.ts";

/** Most answers kept for clients that have not asked yet. */
const MOST_EARLY = 100;
/** In characters. A larger answer takes longer than its client needs to ask. */
const LARGEST_EARLY = 1_000_000;

/** Clients wait here for a run that may answer (`$.respond`). */
export class Answers {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, { readonly workflowId: string; resolve(answer: HttpResponse | undefined | "gone"): void }>();
  readonly #early = new Map<string, HttpResponse | undefined>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Undefined when the run has ended or waits without an answer, "late" after `withinMs`, "gone" when the workflow was
   * deleted.
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

  giveUp(workflowId: string): void {
    for (const waiting of this.#waiting.values()) if (waiting.workflowId === workflowId) waiting.resolve("gone");
  }

  /** The first answer counts. */
  settle(messageId: string, answer: HttpResponse | undefined): void {
    const waiting = this.#waiting.get(messageId);
    if (waiting !== undefined) return waiting.resolve(answer);
    // The client may never ask, for example when it was answered another way.
    if (this.#early.has(messageId) || (answer?.body.length ?? 0) > LARGEST_EARLY) return;
    this.#early.set(messageId, answer);
    for (const oldest of this.#early.keys()) {
      if (this.#early.size <= MOST_EARLY) break;
      this.#early.delete(oldest);
    }
  }
}
