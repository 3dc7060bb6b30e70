import { setMaxListeners } from "node:events";
import { Agent, fetch as send } from "undici";
import { messageOf } from "../domain/errors.ts";

export interface Sending {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | null;
  /** `manual`: an answer that points elsewhere is the answer. */
  readonly redirect?: "follow" | "manual";
  /** For the whole answer; absent: as long as it takes. */
  readonly timeoutMs?: number;
}

/** What comes back; the part of `Response` that is used, so that nobody needs the types of the library behind it. */
export interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  readonly body: AnswerBody | null;
  text(): Promise<string>;
}

interface AnswerBody extends AsyncIterable<Uint8Array> {
  getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: unknown }>; cancel(): Promise<void> };
}

const CONNECT_TIMEOUT_MS = 5000;
/** Hooks, installs and runs may take their time: the server sets the limits. */
const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: CONNECT_TIMEOUT_MS });

/** An HTTP request to elsewhere. Rejects with the network's reason. */
export function sendRequest(url: string | URL, { timeoutMs, signal, headers, ...rest }: Sending = {}): Promise<Answer> {
  return send(url, {
    ...rest,
    headers: { ...headers },
    dispatcher: patient,
    signal: timeoutMs === undefined ? (signal ?? null) : timeoutAfter(timeoutMs, signal),
  });
}

/** The text of an answer, up to so many bytes, also of one that is packed. Throws when it is longer. */
export async function textOf(answer: Answer, mostBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for await (const chunk of answer.body ?? []) {
    if (!(chunk instanceof Uint8Array)) continue;
    size += chunk.length;
    if (size > mostBytes) throw new Error(`the answer has more than ${mostBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** A request was given up before its answer had come. */
export class CutOff extends Error {
  override readonly name = "CutOff";
}

/** Held by its timer: one that only AbortSignal.timeout makes may be collected on Node 20 before it comes. */
function timeoutAfter(ms: number, signal: AbortSignal | null | undefined): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => controller.abort(new CutOff(messageOf(signal?.reason)));
  if (signal?.aborted === true) stop();
  if (signal !== null && signal !== undefined) {
    // Each request of the last seconds listens to it.
    setMaxListeners(0, signal);
    signal.addEventListener("abort", stop);
  }
  setTimeout(() => {
    signal?.removeEventListener("abort", stop);
    controller.abort(new CutOff(`no answer within ${ms / 1000} s`));
  }, ms).unref();
  return controller.signal;
}
