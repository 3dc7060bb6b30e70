import { PdError } from "../../domain/errors.ts";

type Ask = (url: string, call: RequestInit) => Promise<Response>;

export class CallsUnderWay {
  readonly #ask: Ask;
  readonly #running = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Rejects with PD_STOPPING after `close`. */
  async ask(url: string, call: RequestInit): Promise<Response> {
    if (this.#isClosed) throw new PdError("PD_STOPPING", `Cannot ${call.method ?? "GET"} ${url}: the server is stopping`);
    const answer = this.#ask(url, call);
    this.#running.add(answer);
    try {
      return await answer;
    } finally {
      this.#running.delete(answer);
    }
  }

  /** Resolves when all calls have settled, or after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), graceMs);
    const given = new Promise((resolve) => late.signal.addEventListener("abort", resolve, { once: true }));
    await Promise.race([Promise.allSettled(this.#running), given]);
    clearTimeout(timer);
  }
}
