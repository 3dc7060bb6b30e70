import { setMaxListeners } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { Agent } from "undici";
import { codeOf, messageOf } from "../../domain/errors.ts";

export interface Sending {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | null;
  /** For the whole answer, in ms. Omitted: no timeout. */
  readonly timeoutMs?: number;
  /** Until the answer's headers, in ms. Omitted: no timeout. */
  readonly headTimeoutMs?: number;
  /** `manual` returns the redirect. Default: `follow` for GET, else `manual`. */
  readonly redirect?: "follow" | "manual";
}

/** The part of the web's `Response` that callers use. */
export interface Answer {
  readonly ok: boolean;
  readonly status: number;
  /** After redirects. */
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  readonly body: AnswerBody | null;
}

interface AnswerBody extends AsyncIterable<Uint8Array> {
  getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: unknown }>; cancel(): Promise<void> };
}

const CONNECT_TIMEOUT_MS = 5000;
/** Without undici's timeouts: hooks, installs and runs may take longer, and callers set limits. */
let agent: Agent | undefined;

/** Rejects with the network's reason, or with CutOff. Retries a GET once when its connection closed before the answer. */
export async function sendRequest(url: string | URL, sending: Sending = {}): Promise<Answer> {
  const { timeoutMs, headTimeoutMs, signal, headers, method = "GET", redirect = method === "GET" ? "follow" : "manual", ...rest } = sending;
  const { Agent: UndiciAgent, fetch } = await import("./undici.ts");
  agent ??= new UndiciAgent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: CONNECT_TIMEOUT_MS });
  const cut = new AbortController();
  const stop = (): void => cut.abort(new CutOff(messageOf(signal?.reason), { cause: signal?.reason }));
  const forget = (): void => signal?.removeEventListener("abort", stop);
  const cutAfter = (ms: number | undefined): NodeJS.Timeout | undefined => {
    if (ms === undefined) return undefined;
    const late = (): void => {
      // Long-lived signals, such as the server's stop, must not collect listeners.
      forget();
      cut.abort(new CutOff(`no answer within ${ms / 1000} s`));
    };
    return setTimeout(late, ms).unref();
  };
  const [whole, head] = [cutAfter(timeoutMs), cutAfter(headTimeoutMs)];
  if (signal?.aborted === true) stop();
  else if (signal !== null && signal !== undefined) {
    setMaxListeners(0, signal);
    signal.addEventListener("abort", stop, { once: true });
  }
  const send = () =>
    fetch(url, { ...rest, method, redirect, headers: { ...headers }, ...(agent === undefined ? {} : { dispatcher: agent }), signal: cut.signal });
  try {
    return await send().catch((error: unknown) => (method === "GET" && isHangup(reasonOf(error)) ? send() : Promise.reject(error)));
  } catch (error) {
    clearTimeout(whole);
    forget();
    throw reasonOf(error);
  } finally {
    clearTimeout(head);
  }
}

/** The request was aborted or timed out before the whole answer had come. */
export class CutOff extends Error {
  override readonly name = "CutOff";
  readonly code = "ETIMEDOUT";
}

/** `fetch` throws a TypeError, with the network's error as its cause or one error per tried address. */
function reasonOf(error: unknown): unknown {
  if (!(error instanceof TypeError) || !(error.cause instanceof Error)) return error;
  const [first]: readonly unknown[] = error.cause instanceof AggregateError ? error.cause.errors : [];
  return first ?? error.cause;
}

/** The server closed a kept connection just when a request was sent on it. */
function isHangup(error: unknown): boolean {
  const code = codeOf(error);
  return code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE";
}

/** Rejects on abort. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return wait(ms, undefined, { signal });
}

/** Calls back when `heard` was not called for `ms`. Does not keep the process running. */
export class Silence {
  readonly #timer: NodeJS.Timeout;

  constructor(ms: number, onSilence: () => void) {
    this.#timer = setTimeout(onSilence, ms).unref();
  }

  heard(): void {
    this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
