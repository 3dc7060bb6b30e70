import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import type { Settings } from "./config.ts";
import { type OpenedStore, openStore } from "./open-store.ts";
import { NO_CLUSTER } from "./ports/cluster.ts";
import { type Doors, type Listeners, type ServeOptions, serve } from "./serving.ts";
import { PdError } from "./domain/errors.ts";
import { Engine } from "./engine/engine.ts";
import type { Log } from "./ports/log.ts";
import { startedNow } from "./server-facts.ts";
import { Listener } from "./server/listen.ts";
import { type Refusal, RefusedRequests } from "./server/refused-requests.ts";
import { holdLock } from "./system/home/file-lock.ts";
import { systemClock } from "./system/clock.ts";
import { keepPrivate, makeHome } from "./system/home/home-folder.ts";
import type { Tunnel } from "./system/process/tunnel.ts";
import { Metrics } from "./system/process/metrics.ts";
import { isAlive } from "./system/process/processes.ts";
import { packageVersion } from "./system/program-files.ts";
import { type ServerRecord, readServerRecord, removeServerRecord, writeServerRecord } from "./system/home/server-record.ts";
import { readIfThere, writeWhole } from "./system/home/whole-files.ts";

/** Disposing stops the server after calls in flight have finished. */
export interface Runtime extends AsyncDisposable {
  readonly apiUrl: string;
  readonly endpointUrl: string;
  readonly apiKey: string;
  readonly engine: Engine;
  /** Calls the API without the network. */
  readonly ask: (url: string, call: RequestInit) => Promise<Response>;
}

export const STOP_GRACE_MS = 10_000;

/**
 * A server that shares its database with no other. When it is shared with people, it listens beyond this machine only
 * when the store has a named API key. Throws PD_NO_KEYS, PD_HOME_UNUSABLE, PD_HOME_IN_USE, PD_PORT_TAKEN,
 * PD_DATABASE_UNUSABLE.
 */
export async function startRuntime(settings: Settings, log: Log, options: ServeOptions = {}): Promise<Runtime> {
  const place = await holdHome(settings.home);
  const { home } = place;
  try {
    const [apiKey, version, metrics] = [await readOrMakeKey(join(home, "api-key")), await packageVersion(), new Metrics()];
    const doors = await openDoors(settings, { log, count: (status) => metrics.refused(status) });
    let tunnel: Tunnel | undefined;
    try {
      const record = serverRecord(doors, version);
      const open = (signal: AbortSignal): Promise<OpenedStore> => openStore({ settings, home, log, signal });
      const listen = (listeners: Listeners): void => doors.answerWith(listeners);
      tunnel = await openTunnel(settings, doors, log);
      const serving = await serve(tunnel === undefined ? settings : { ...settings, publicUrl: tunnel.url }, {
        ...options,
        home,
        log,
        apiKey,
        version,
        doors,
        record,
        cluster: options.plugs?.cluster ?? NO_CLUSTER,
        metrics,
        openStore: open,
        listen,
      });
      try {
        await writeServerRecord(home, record());
      } catch (error) {
        await serving.end(0, doors.close(0));
        throw error;
      }
      return {
        apiUrl: doors.apiUrl,
        endpointUrl: tunnel?.url ?? doors.endpointUrl,
        apiKey,
        engine: serving.engine,
        ask: serving.ask,
        async [Symbol.asyncDispose]() {
          await removeServerRecord(home);
          await serving.end(STOP_GRACE_MS, doors.close(STOP_GRACE_MS));
          tunnel?.close();
          place.release();
        },
      };
    } catch (error) {
      tunnel?.close();
      await doors.close(0);
      throw error;
    }
  } catch (error) {
    place.release();
    throw error;
  }
}

/** The endpoints answer 503 until the server has started. */
async function openTunnel({ tunnel: wanted }: Settings, { endpointUrl }: Doors, log: Log): Promise<Tunnel | undefined> {
  if (wanted === "") return undefined;
  const { startTunnel } = await import("./system/process/tunnel.ts");
  const onEnd = (reason: string): void => log.error("the tunnel has ended, and the endpoints are not public any more: restart the server", { reason });
  const tunnel = await startTunnel(wanted, { port: Number(new URL(endpointUrl).port), onEnd });
  log.info("the endpoints are public", { address: tunnel.url, by: tunnel.program });
  return tunnel;
}

/** Throws PD_HOME_UNUSABLE, PD_HOME_IN_USE. */
export async function holdHome(folder: string): Promise<{ readonly home: string; release(): void }> {
  const home = await makeHome(folder);
  await keepPrivate(home);
  const lock = holdLock(join(home, "server.lock"));
  if (lock === undefined) throw await homeInUse(home);
  // Security: without a listener, SIGUSR1 opens Node's debugger.
  process.on("SIGUSR1", ignoreSignal);
  return {
    home,
    release() {
      process.off("SIGUSR1", ignoreSignal);
      lock.release();
    },
  };
}

function ignoreSignal(): void {}

export interface OpenDoors extends Doors {
  answerWith(listeners: Listeners): void;
  close(graceMs: number): Promise<void>;
}

/** They answer 503 until they are told how. Throws PD_PORT_TAKEN. */
export async function openDoors(settings: Settings, { log, count }: { readonly log: Log; readonly count: (status: string) => void }): Promise<OpenDoors> {
  const { host, port, endpointPort, headerLimitBytes: headerBytes } = settings;
  const refused = new RefusedRequests({ clock: systemClock, log, count });
  const listening = { host, headerBytes, onRefused: (refusal: Refusal) => refused.note(refusal) };
  const endpoints = await Listener.open(answerStarting, { ...listening, port: endpointPort, purpose: "endpoints", allowsHalfOpen: true });
  let api: Listener;
  try {
    api = await Listener.open(answerStarting, { ...listening, port, purpose: "the API" });
  } catch (error) {
    await endpoints.close(0);
    throw error;
  }
  return {
    apiUrl: api.url,
    apiPort: api.port,
    endpointUrl: endpoints.url,
    answerWith(listeners) {
      api.answerWith(listeners.api);
      endpoints.answerWith(listeners.endpoints);
    },
    async close(graceMs) {
      await Promise.all([endpoints.close(graceMs), api.close(graceMs)]);
    },
  };
}

export function serverRecord(doors: Doors, version: string, node?: string): () => ServerRecord {
  const started = startedNow(doors.endpointUrl, version);
  return () => ({ ...started, api_url: doors.apiUrl, ...(node === undefined ? {} : { node }) });
}

function answerStarting(_request: IncomingMessage, response: ServerResponse): void {
  const { status, code, message, fix } = new PdError("PD_STARTING", "Cannot take requests yet: the server is starting");
  response.writeHead(status, { "content-type": "application/json", "retry-after": "1" });
  response.end(JSON.stringify({ error: message, code, details: { fix } }));
}

async function homeInUse(home: string): Promise<PdError> {
  const running = readServerRecord(home);
  // While the other server starts or stops, the record may still be that of an earlier one.
  const who = running === undefined || !isAlive(running.pid) ? ", but does not answer yet" : `: process ${running.pid} at ${running.api_url}`;
  return new PdError("PD_HOME_IN_USE", `Cannot start on ${home}: another server is running on it${who}`);
}

/** The key has 32 lowercase letters and digits. */
async function readOrMakeKey(path: string): Promise<string> {
  const known = ((await readIfThere(path)) ?? "").trim();
  if (known !== "") return known;
  const key = systemClock.randomText(32).toLowerCase();
  await writeWhole(path, `${key}\n`);
  return key;
}
