/** The HTTP client of the command, the typed client and the server. It is undici's fetch. */
import { setMaxListeners } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { Agent } from "undici";
import { codeOf, messageOf } from "../../domain/errors.ts";

export interface Sending {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | null;
  /** For the whole answer, in ms. Omitted when the answer may take any time. */
  readonly timeoutMs?: number;
  /** Until the headers of the answer arrive, in ms. Omitted when that may take any time. */
  readonly headTimeoutMs?: number;
  /** With `manual`, a redirect is the answer. The default is `follow` for GET and `manual` for other methods. */
  readonly redirect?: "follow" | "manual";
}

/** The members of the web's `Response` that callers use. */
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
/** Without timeouts of undici: hooks, installs and runs may take longer, and callers set limits. */
let agent: Agent | undefined;

/** Rejects with the network's reason, or with CutOff. A GET is sent once more when its connection was closed before it answered. */
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
      // A signal that lives long, such as the server's stop, must not collect listeners.
      forget();
      cut.abort(new CutOff(`no answer within ${ms / 1000} s`));
    };
    return setTimeout(late, ms).unref();
  };
  const [whole, head] = [cutAfter(timeoutMs), cutAfter(headTimeoutMs)];
  if (signal?.aborted === true) stop();
  else if (signal !== null && signal !== undefined) {
    // Many requests may share one signal.
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

/** The request was aborted, or its time was over, before the whole answer had come. */
export class CutOff extends Error {
  override readonly name = "CutOff";
  readonly code = "ETIMEDOUT";
}

/** `fetch` wraps the network's error as the cause of a TypeError, with one error per address that was tried. */
function reasonOf(error: unknown): unknown {
  if (!(error instanceof TypeError) || !(error.cause instanceof Error)) return error;
  const [first]: readonly unknown[] = error.cause instanceof AggregateError ? error.cause.errors : [];
  return first ?? error.cause;
}

/** The server closed a connection that was kept open, just when a request was sent on it. */
function isHangup(error: unknown): boolean {
  const code = codeOf(error);
  return code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE";
}

/** Rejects when the signal aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return wait(ms, undefined, { signal });
}

/** Calls back when `heard` was not called for `ms`. The process may end before. */
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
