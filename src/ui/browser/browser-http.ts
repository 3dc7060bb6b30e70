/** Replaces `system/http/http-client.ts` in the browser build. */
export interface Sending {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | null;
  readonly redirect?: "follow" | "manual";
  readonly timeoutMs?: number;
  readonly headTimeoutMs?: number;
}

export type Answer = Response;

export function sendRequest(url: string, { timeoutMs, headTimeoutMs: _head, signal = null, headers, ...rest }: Sending = {}): Promise<Answer> {
  const limits = [...(signal === null ? [] : [signal]), ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)])];
  return fetch(url, { ...rest, headers: { ...headers }, credentials: "omit", cache: "no-store", signal: limits.length === 0 ? null : AbortSignal.any(limits) });
}

export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new DOMException("over", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

export class Silence {
  readonly #ms: number;
  readonly #onSilence: () => void;
  #timer: number;

  constructor(ms: number, onSilence: () => void) {
    this.#ms = ms;
    this.#onSilence = onSilence;
    this.#timer = window.setTimeout(onSilence, ms);
  }

  heard(): void {
    this.end();
    this.#timer = window.setTimeout(this.#onSilence, this.#ms);
  }

  end(): void {
    window.clearTimeout(this.#timer);
  }
}
