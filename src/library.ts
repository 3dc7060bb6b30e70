import type { Settings } from "./config.ts";
import type { Log } from "./ports/log.ts";
import { startRuntime } from "./runtime.ts";
import { silentLog } from "./system/log.ts";

export interface RunningServer {
  /** Base URL of the API, without `/v1`. */
  readonly apiUrl: string;
  readonly endpointUrl: string;
  readonly apiKey: string;
  /** Waits for calls in flight, then releases ports and files. */
  close(): Promise<void>;
}

/** Starts a server with the result of `readSettings`. Throws PD_HOME_UNUSABLE, PD_HOME_IN_USE, PD_PORT_TAKEN, PD_DATABASE_UNUSABLE. */
export async function startServer(settings: Settings, log: Log = silentLog): Promise<RunningServer> {
  const runtime = await startRuntime(settings, log);
  const { apiUrl, endpointUrl, apiKey } = runtime;
  return { apiUrl, endpointUrl, apiKey, close: async () => runtime[Symbol.asyncDispose]() };
}
