/** How the server asks elsewhere: redirects are followed, and what is packed is unpacked. */
import { setMaxListeners } from "node:events";
import type { Agent } from "undici";
import { messageOf } from "../domain/errors.ts";
import type { Answer, Sending } from "./http-client.ts";

interface FetchSending extends Sending {
  /** `manual`: an answer that points elsewhere is the answer. */
  readonly redirect?: "follow" | "manual";
}

interface FetchAnswer extends Answer {
  readonly url: string;
}

const CONNECT_TIMEOUT_MS = 5000;
/** Hooks, installs and runs may take their time: the server sets the limits. */
let patient: Agent | undefined;

/** An HTTP request to elsewhere. Rejects with the network's reason. */
export async function sendRequest(url: string | URL, { timeoutMs, signal, headers, ...rest }: FetchSending = {}): Promise<FetchAnswer> {
  const undici = await import("./undici.ts");
  patient ??= new undici.Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: CONNECT_TIMEOUT_MS });
  return undici.fetch(url, {
    ...rest,
    headers: { ...headers },
    dispatcher: patient,
    signal: timeoutMs === undefined ? (signal ?? null) : timeoutAfter(timeoutMs, signal),
  });
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
