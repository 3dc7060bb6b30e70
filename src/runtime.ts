import { setMaxListeners } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { esbuildBundler } from "./code/esbuild-bundler.ts";
import { NpmResolver } from "./code/npm-resolver.ts";
import { SharedPackages } from "./code/shared-packages.ts";
import { urlOrigin } from "./code/url-origin.ts";
import { npmWithin } from "./code/walled-npm.ts";
import type { Settings } from "./config.ts";
import { GIVEN_STORE, openStore } from "./open-store.ts";
import { PdError, messageOf } from "./domain/errors.ts";
import { Engine } from "./engine/engine.ts";
import { EventFeed } from "./engine/runs/commits/event-feed.ts";
import type { Clock } from "./ports/clock.ts";
import type { Log } from "./ports/log.ts";
import type { Runner } from "./ports/runner.ts";
import type { Retention, Store } from "./ports/stores/store.ts";
import { FileRegistry } from "./registry/file-registry.ts";
import { LatePython } from "./python/late-python.ts";
import { copyEntry } from "./sandbox/wall/own-entry.ts";
import { ProcessRunner } from "./sandbox/process-runner.ts";
import type { Enclosure } from "./sandbox/wall/enclosure.ts";
import { openEnclosure } from "./sandbox/wall/wall.ts";
import { dropDrafts } from "./server/backup-drafts.ts";
import { endpointListener } from "./server/endpoint.ts";
import { lateApiOf } from "./server-api.ts";
import type { LateApi } from "./server/late-api.ts";
import { serverFacts, startedNow } from "./server-facts.ts";
import { RequestBodies } from "./server/request-bodies.ts";
import { Listener } from "./server/listen.ts";
import { type Refusal, RefusedRequests } from "./server/refused-requests.ts";
import { holdLock } from "./system/home/file-lock.ts";
import { keysOf, openSealedStore, sealedTextsIn } from "./store/sealed-store.ts";
import { CallsUnderWay } from "./system/process/calls-under-way.ts";
import { systemClock } from "./system/clock.ts";
import { keepPrivate, makeHome } from "./system/home/home-folder.ts";
import { Metrics } from "./system/process/metrics.ts";
import { lateMailer } from "./system/late-mailer.ts";
import { lateOAuthServer } from "./system/http/late-oauth-server.ts";
import { osKeyring } from "./system/keys/os-keyring.ts";
import { OwnPorts } from "./system/http/own-ports.ts";
import { prober } from "./system/http/prober.ts";
import { RunFilesFolder } from "./system/home/run-files-folder.ts";
import { isAlive } from "./system/process/processes.ts";
import { packageVersion, programFile } from "./system/program-files.ts";
import { openVault } from "./system/keys/secret-key.ts";
import { lateSender } from "./system/http/late-sender.ts";
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

/** Replacements for the default plugs. The caller owns them. */
export interface GivenPlugs {
  readonly store?: Store;
  readonly runner?: Runner;
  /** Used by the engine only. */
  readonly clock?: Clock;
}

interface StartOptions {
  /** True when people other than the owner use the server. */
  readonly isShared?: boolean;
  readonly plugs?: GivenPlugs;
  /** Delay after the start until the startup snapshot of component processes is made. The default is 5 s. */
  readonly snapshotAfterMs?: number;
  /** Keeps a spare process, so that components start faster. The default is true. */
  readonly keepsSpare?: boolean;
}

/** Loading the API earlier would slow down the start, and later the first call. */
const API_AFTER_MS = 500;
const STOP_GRACE_MS = 10_000;

/**
 * A shared server listens beyond this machine only when the store has a named API key.
 * Throws PD_NO_KEYS, PD_HOME_UNUSABLE, PD_HOME_IN_USE, PD_PORT_TAKEN, PD_DATABASE_UNUSABLE.
 */
export async function startRuntime(
  settings: Settings,
  log: Log,
  { isShared = false, plugs = {}, snapshotAfterMs, keepsSpare = true }: StartOptions = {},
): Promise<Runtime> {
  const home = await makeHome(settings.home);
  await keepPrivate(home);
  const lock = holdLock(join(home, "server.lock"));
  if (lock === undefined) throw await homeInUse(home);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  // Security: without a listener, SIGUSR1 opens Node's debugger.
  process.on("SIGUSR1", ignoreSignal);
  const undo: UndoStep[] = [() => lock.release(), () => process.off("SIGUSR1", ignoreSignal)];
  try {
    return await startInOrder(settings, { home, log, stop, undo, isShared, plugs, snapshotAfterMs, keepsSpare });
  } catch (error) {
    stop.abort();
    await undoAll(undo, log);
    throw error;
  }
}

function ignoreSignal(): void {}

/** Only logs errors, because the caller throws the original one. */
async function undoAll(steps: readonly UndoStep[], log: Log): Promise<void> {
  for (const step of steps.toReversed()) {
    try {
      await step(0);
    } catch (error) {
      log.error("could not undo a step of the failed start", { reason: messageOf(error) });
    }
  }
}

/** Answers requests that arrive before the engine has started. */
function answerStarting(_request: IncomingMessage, response: ServerResponse): void {
  const { status, code, message, fix } = new PdError("PD_STARTING", "Cannot take requests yet: the server is starting");
  response.writeHead(status, { "content-type": "application/json", "retry-after": "1" });
  response.end(JSON.stringify({ error: message, code, details: { fix } }));
}

/** Work in flight may continue for `graceMs`. */
type UndoStep = (graceMs: number) => unknown;

interface Starting {
  readonly home: string;
  readonly log: Log;
  readonly stop: AbortController;
  /** Run in reverse order. */
  readonly undo: UndoStep[];
  readonly isShared: boolean;
  readonly plugs: GivenPlugs;
  readonly snapshotAfterMs: number | undefined;
  readonly keepsSpare: boolean;
}

async function startInOrder(settings: Settings, starting: Starting): Promise<Runtime> {
  const { home, log, stop, undo } = starting;
  const [apiKey, version] = [await readOrMakeKey(join(home, "api-key")), await packageVersion()];
  let api: Listener | undefined;
  const ownPorts = new OwnPorts();
  const withSandbox = { ...settings, sandboxUse: sandboxOf(settings, starting.isShared) };
  const around = { ...starting, version, ownPorts, apiUrl: () => api?.url ?? "" };
  const { metrics, keyPlace, enclosure, shareInstalled, storeFacts, ...plugs } = await startPlugs(withSandbox, around);
  const { store } = plugs;
  if (starting.isShared) await requireKeys(settings.host, store);

  // The endpoints listen before the engine starts, because recovering hooks need their URL.
  let handler: Parameters<typeof Listener.open>[0] = answerStarting;
  const { host, endpointPort: port, headerLimitBytes: headerBytes } = settings;
  const refused = new RefusedRequests({ clock: systemClock, log, count: (status) => metrics.refused(status) });
  const listening = { host, headerBytes, onRefused: (refusal: Refusal) => refused.note(refusal) };
  const endpoints = await Listener.open((request, response) => handler(request, response), { ...listening, port, purpose: "endpoints", allowsHalfOpen: true });
  undo.push(() => endpoints.close(0));
  const endpointUrl = (key: string): string => `${settings.publicUrl === "" ? endpoints.url : settings.publicUrl}/${key}`;
  const settled = engineSettings(settings, { ...starting, enclosure, endpointUrl });
  const engine = await Engine.start({ ...plugs, meter: metrics, settings: settled, signal: stop.signal });
  const doors: Pick<Listener, "close">[] = [endpoints];
  undo.push(async (graceMs) => {
    const closed = doors.map((door) => door.close(graceMs));
    stop.abort();
    await Promise.all([...closed, engine.stop(graceMs)]);
  });
  handler = endpointListener(engine, { ...endpointSettings(settings), log, endpointUrl });
  const started = startedNow(endpoints.url, version);
  const record = (): ServerRecord => ({ ...started, api_url: api?.url ?? "" });
  metrics.watch({ sources: () => engine.sources.list().length, processes: () => engine.processes.count });
  const facts = serverFacts({ engine, store, storeFacts, metrics, record, home, keyPlace, enclosure, retention: retentionOf(settings) });
  const drafts = join(home, "backups");
  dropDrafts(drafts);
  const parts = { apiKey, version, record, facts, metrics, store, storeFacts, home, drafts, log, isLoopback: isLoopback(host), ownPorts, signal: stop.signal };
  const lateApi = lateApiOf(engine, parts);
  api = await Listener.open(lateApi.listener, { ...listening, port: settings.port, purpose: "the API" });
  ownPorts.add(api.port);
  const asked = new CallsUnderWay((url, call) => lateApi.ask(url, call));
  doors.push(api, asked);
  await engine.open();
  void shareInstalled().catch((error: unknown) => log.warn("could not check the installed packages", { reason: messageOf(error) }));
  await writeServerRecord(home, record());
  undo.push(() => removeServerRecord(home));
  const loading = setTimeout(() => void loadEarly(lateApi, log), API_AFTER_MS).unref();
  undo.push(() => clearTimeout(loading));
  return {
    apiUrl: api.url,
    endpointUrl: endpoints.url,
    apiKey,
    engine,
    ask: (url, call) => asked.ask(url, call),
    [Symbol.asyncDispose]: () => stopInReverse(undo),
  };
}

/** Only logs an error, because the first API call retries and reports it. */
async function loadEarly(api: Pick<LateApi, "load">, log: Log): Promise<void> {
  try {
    await api.load();
  } catch (error) {
    log.warn("could not load the API", { reason: messageOf(error) });
  }
}

async function stopInReverse(undo: readonly UndoStep[]): Promise<void> {
  for (const step of undo.toReversed()) await step(STOP_GRACE_MS);
}

interface StartingPlugs extends Omit<Starting, "isShared"> {
  readonly version: string;
  /** Empty until the API listens. */
  readonly apiUrl: () => string;
  readonly ownPorts: OwnPorts;
}

/** People other than the owner deploy to a shared server, so `auto` means `wall` there. */
function sandboxOf({ sandboxUse, host }: Settings, isShared: boolean): Settings["sandboxUse"] {
  return isShared && !isLoopback(host) && sandboxUse === "auto" ? "wall" : sandboxUse;
}

async function startPlugs(settings: Settings, { home, log, stop, undo, version, apiUrl, ownPorts, plugs, snapshotAfterMs, keepsSpare }: StartingPlugs) {
  const packagesFolder = join(home, "packages");
  const opened = plugs.store === undefined ? await openStore({ settings, home, log, signal: stop.signal }) : { store: plugs.store, facts: GIVEN_STORE };
  const clearStore = opened.store;
  if (plugs.store === undefined) undo.push(() => clearStore.close());
  const sealedTexts = await sealedTextsIn(clearStore);
  const vault = await openVault({
    keyFile: join(home, "secret-key"),
    keyring: osKeyring,
    log,
    use: settings.keyringUse,
    environment: process.env,
    inUse: keysOf(sealedTexts),
  });
  const store = await openSealedStore(clearStore, vault, sealedTexts);
  const places = { entry: await copyEntry(programFile("child.cjs"), home), runFolder: join(home, "run"), packagesFolder };
  const { memoryMb, allowAddons, allowScripts } = settings;
  const enclosure = await openEnclosure(settings.sandboxUse, { ...places, memoryMb, network: settings.componentNetwork });
  const npm = npmWithin(enclosure, join(home, "npm-cache"));
  const shared = await SharedPackages.open({ folder: packagesFolder, log, signal: stop.signal, randomText: () => systemClock.randomText(12) });
  undo.push(() => shared.finished());
  const packages = await NpmResolver.open({ folder: packagesFolder, npm, allowScripts, shared, clock: systemClock, log, signal: stop.signal });
  const startRunner = async (): Promise<Runner> => {
    const runner = await ProcessRunner.start({ ...places, enclosure, memoryMb, allowAddons, apiUrl, clock: systemClock, log, snapshotAfterMs, keepsSpare });
    undo.push(() => runner[Symbol.asyncDispose]());
    return runner;
  };
  const runner = plugs.runner ?? (await startRunner());
  const pythonSettings = { ...places, home, python: settings.python, allowScripts, signal: stop.signal, clock: systemClock, log, memoryMb, enclosure, apiUrl };
  const languages = new LatePython({ bundler: esbuildBundler, packages, runner }, pythonSettings);
  undo.push(() => languages[Symbol.asyncDispose]());
  const metrics = new Metrics();
  const allowsPrivate = settings.allowPrivateWebhooks || isLoopback(settings.host);
  const userAgent = `headwater/${version}`;
  const sender = lateSender({ clock: systemClock, allowsPrivate, userAgent, ownPorts });
  const registry = await FileRegistry.open({ folder: join(home, "registries"), npm, clock: systemClock, log, signal: stop.signal });
  const feed = new EventFeed(store);
  return {
    store,
    storeFacts: opened.facts,
    keyPlace: vault.keyPlace,
    enclosure,
    packages: languages.packages,
    runner: languages.runner,
    shareInstalled: () => packages.shareInstalled(),
    registry,
    sender,
    metrics,
    bundler: languages.bundler,
    origin: urlOrigin,
    oauth: lateOAuthServer,
    mailer: lateMailer,
    prober: prober(userAgent),
    runFiles: new RunFilesFolder(join(home, "run-files")),
    clock: plugs.clock ?? systemClock,
    log,
    feed,
  };
}

async function requireKeys(host: string, store: Store): Promise<void> {
  if (isLoopback(host) || (await store.listKeys()).length > 0) return;
  throw new PdError("PD_NO_KEYS", `Cannot serve on ${host}: no named keys exist`, { fix: "pd keys create <name>, then pd serve" });
}

interface EngineSurroundings extends Pick<Starting, "isShared"> {
  readonly enclosure: Pick<Enclosure, "kind">;
  readonly endpointUrl: (key: string) => string;
}

function engineSettings(settings: Settings, { isShared, enclosure, endpointUrl }: EngineSurroundings) {
  return {
    allowsImports: !isShared || settings.allowImports,
    enclosesPrograms: enclosure.kind === "wall",
    allowsAddons: settings.allowAddons,
    endpointUrl,
    deadlineMs: settings.timeoutMs,
    memoryMb: settings.memoryMb,
    idleMs: settings.idleMs,
    acceptMs: 100,
    responseMs: settings.responseMs,
    maxConcurrency: settings.concurrency,
    maxWaiting: settings.waiting,
    maxProcesses: settings.processes,
    deliveryConcurrency: settings.deliveryConcurrency,
    catchUp: settings.catchUp,
    retention: retentionOf(settings),
  };
}

function retentionOf({ keepEvents, keepInvocations, keepMs }: Settings): Retention {
  return { maxEvents: keepEvents, maxInvocations: keepInvocations, maxAgeMs: keepMs };
}

function endpointSettings({ bodyLimitBytes, publicUrl }: Settings) {
  return { bodyLimitBytes, bodies: new RequestBodies(), isBehindProxy: publicUrl !== "" };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
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
