import { Agent, fetch as send } from "undici";

export interface Sending {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | null;
  /** For the whole answer; absent: as long as it takes. */
  readonly timeoutMs?: number;
}

export type Answer = Awaited<ReturnType<typeof send>>;

const CONNECT_TIMEOUT_MS = 5000;
/** Hooks, installs and runs may take their time: the server sets the limits. */
const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: CONNECT_TIMEOUT_MS });

/** An HTTP request to elsewhere. Rejects with the network's reason. */
export function sendRequest(url: string | URL, { timeoutMs, signal, headers, ...rest }: Sending = {}): Promise<Answer> {
  const limits = [...(signal ? [signal] : []), ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)])];
  return send(url, { ...rest, headers: { ...headers }, dispatcher: patient, signal: AbortSignal.any(limits) });
}
