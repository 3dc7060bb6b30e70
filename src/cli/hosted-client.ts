import { type Client, createClient } from "../client/client.ts";
import { Connection } from "../client/connection.ts";

interface Hosted {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly ask: (url: string, call: RequestInit) => Promise<Response>;
}

/** Of a server in this process: no request passes the network. */
export function hostedClient({ apiUrl, apiKey, ask }: Hosted): Client {
  return createClient(new Connection({ baseUrl: apiUrl, key: apiKey }, { ask: (url, { timeoutMs: _limit, ...call }) => ask(url, call) }));
}
