/** How the client of the API speaks HTTP. It loads little: that is most of what a command takes. */
import type { IncomingMessage } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { CONNECT_TIMEOUT_MS, Hangup, PlainExchange, type PlainMessage, type PlainRequest, asOfSystem, isHangup } from "./plain-http.ts";

export interface Sending {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | null;
  /** For the whole answer; absent: as long as it takes. */
  readonly timeoutMs?: number;
  /** Until the answer begins, in ms. Omitted when that may take as long as it takes. */
  readonly headTimeoutMs?: number;
}

/** What comes back; the part of `Response` that is used, which a browser has as well. */
export interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AnswerBody | null;
}

interface AnswerBody extends AsyncIterable<Uint8Array> {
  getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: unknown }>; cancel(): Promise<void> };
}

const MOST_REDIRECTS = 5;
/** What the two ways of HTTP give. */
type Message = PlainMessage | IncomingMessage;

/**
 * An HTTP request to a server of this kind. Rejects with the network's reason. Hooks, installs and runs may take their
 * time: the server sets the limits. What is only read is followed to where the server says that it lies.
 */
export async function sendRequest(url: string, sending: Sending = {}): Promise<Answer> {
  const { method = "GET", signal, timeoutMs, headTimeoutMs } = sending;
  const cut = new Cut();
  const stop = (): void => cut.cut(signal?.reason);
  signal?.addEventListener("abort", stop);
  if (signal?.aborted === true) stop();
  const timer =
    timeoutMs === undefined ? undefined : setTimeout(() => cut.cut(asOfSystem(`no answer within ${timeoutMs / 1000} s`, "ETIMEDOUT")), timeoutMs).unref();
  const headTimer =
    headTimeoutMs === undefined
      ? undefined
      : setTimeout(() => cut.cut(asOfSystem(`no answer within ${headTimeoutMs / 1000} s`, "ETIMEDOUT")), headTimeoutMs).unref();
  const over = (): void => {
    clearTimeout(timer);
    clearTimeout(headTimer);
    signal?.removeEventListener("abort", stop);
  };
  try {
    let [target, headers] = [new URL(url), sending.headers ?? {}];
    for (let redirects = 0; ; redirects++) {
      const options = { method, headers, body: sending.body };
      // What is only read may be asked once more.
      const message = await exchange(target, options, { cut }).catch((error: unknown) =>
        method === "GET" && error instanceof Hangup ? exchange(target, options, { cut, isFresh: true }) : Promise.reject(error),
      );
      const next = method === "GET" && redirects < MOST_REDIRECTS ? redirectOf(message, target) : undefined;
      if (next === undefined) {
        clearTimeout(headTimer);
        return answerOf(message.once("close", over));
      }
      // Nobody reads what it says besides, and it need not end.
      message.on("error", () => {}).destroy();
      // The key is for the server that was meant.
      if (next.origin !== target.origin) headers = without(headers, "authorization");
      target = next;
    }
  } catch (error) {
    over();
    throw cut.reason ?? error;
  }
}

/** Ends the request that goes on, and those that would follow it. Node's way, a signal in its options, costs each command 2 ms. */
class Cut {
  #request: { destroy(reason: Error): unknown } | undefined;
  #reason: Error | undefined;

  /** Of the cut; `undefined`: there was none. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  cut(reason: unknown): void {
    this.#reason ??= reason instanceof Error ? reason : new Error("The request was given up", { cause: reason });
    this.#request?.destroy(this.#reason);
  }

  /** It is the one that goes on. */
  take(request: { destroy(reason: Error): unknown }): void {
    this.#request = request;
    if (this.#reason !== undefined) request.destroy(this.#reason);
  }
}

/** Rejects when the signal aborts. `holds: false`: the program may end meanwhile. */
export function sleep(ms: number, signal: AbortSignal, { holds = true }: { holds?: boolean } = {}): Promise<void> {
  return wait(ms, undefined, { signal, ref: holds });
}

/** Calls back when nothing was heard for so long; the program may end meanwhile. */
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

/** Chosen: a server of this kind sends a body that it has already, so only the network takes time. */
const BODY_WITHIN_MS = 300_000;

/** Reads the body of an answer as text. Throws when it has more bytes than `mostBytes`, or does not end within `withinMs`. */
export async function textOf({ body }: Pick<Answer, "body">, mostBytes: number, withinMs = BODY_WITHIN_MS): Promise<string> {
  const reader = body?.getReader();
  if (reader === undefined) return "";
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void reader.cancel().catch(() => {});
  }, withinMs);
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isLate || done) break;
      if (!(value instanceof Uint8Array)) continue;
      size += value.length;
      if (size > mostBytes) throw new Error(`the answer has more than ${mostBytes} bytes`);
      text += decoder.decode(value, { stream: true });
    }
    if (isLate) throw new Error("the answer was cut off");
    return text + decoder.decode();
  } catch (error) {
    if (isLate) throw new Error(`the answer did not end within ${withinMs / 1000} s`, { cause: error });
    await reader.cancel().catch(() => {});
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when the answer begins. */
async function exchange(url: URL, request: PlainRequest, { cut, isFresh = false }: { cut: Cut; isFresh?: boolean }): Promise<Message> {
  if (url.protocol === "https:") return exchangeSafely(url, request, cut);
  const plain = new PlainExchange(url, request, { isFresh });
  cut.take(plain);
  return plain.answer;
}

function exchangeSafely(url: URL, { body, ...options }: PlainRequest, cut: Cut): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = process.getBuiltinModule("node:https").request(url, options, resolve);
    const fail = (error: Error): void => reject(request.reusedSocket && isHangup(error) ? new Hangup(error.message, { cause: error }) : error);
    request.once("error", fail).once("socket", (socket) => {
      if (!socket.connecting) return;
      const late = (): void => void request.destroy(asOfSystem(`no connection within ${CONNECT_TIMEOUT_MS / 1000} s`, "ETIMEDOUT"));
      const timer = setTimeout(late, CONNECT_TIMEOUT_MS);
      const connected = (): void => clearTimeout(timer);
      socket.once("connect", connected).once("close", connected);
    });
    request.end(body);
    cut.take(request);
  });
}

function redirectOf({ statusCode = 0, headers: { location } }: Message, from: URL): URL | undefined {
  const isOne = [301, 302, 303, 307, 308].includes(statusCode) && location !== undefined && URL.canParse(location, from.href);
  return isOne ? new URL(location, from) : undefined;
}

function without(headers: Readonly<Record<string, string>>, name: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([known]) => known !== name));
}

function answerOf(message: Message): Answer {
  // Whoever reads is told; when nobody does, a connection that breaks ends no program.
  message.on("error", () => {});
  const { statusCode = 0, headers } = message;
  return {
    ok: statusCode >= 200 && statusCode < 300,
    status: statusCode,
    headers: {
      get(name) {
        const value = headers[name.toLowerCase()];
        return value === undefined ? null : String(value);
      },
    },
    body: {
      [Symbol.asyncIterator]: () => message[Symbol.asyncIterator](),
      getReader() {
        const chunks = message[Symbol.asyncIterator]();
        return {
          read: async () => {
            const { done = false, value } = await chunks.next();
            return { done, value };
          },
          cancel: async () => void message.destroy(),
        };
      },
    },
  };
}
