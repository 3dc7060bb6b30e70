import { type Client, createClient } from "../client/client.ts";
import { Connection } from "../client/connection.ts";
import type { Runtime } from "../runtime.ts";

/** Of a server in this process: no request passes the network. */
export function hostedClient({ apiUrl, apiKey, ask }: Pick<Runtime, "apiUrl" | "apiKey" | "ask">): Client {
  return createClient(new Connection({ baseUrl: apiUrl, key: apiKey }, { ask: (url, { timeoutMs: _limit, ...call }) => ask(url, call) }));
}
