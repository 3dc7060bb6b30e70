import { setMaxListeners } from "node:events";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { esbuildBundler } from "./code/esbuild-bundler.ts";
import { NpmResolver } from "./code/npm-resolver.ts";
import { SharedPackages } from "./code/shared-packages.ts";
import { urlOrigin } from "./code/url-origin.ts";
import { npmWithin } from "./code/walled-npm.ts";
import type { Settings } from "./config.ts";
import { GIVEN_STORE, type OpenedStore } from "./open-store.ts";
import { PdError, messageOf } from "./domain/errors.ts";
import { Engine } from "./engine/engine.ts";
import { EventFeed } from "./engine/runs/commits/event-feed.ts";
import type { Clock } from "./ports/clock.ts";
import type { Cluster } from "./ports/cluster.ts";
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
import { serverFacts } from "./server-facts.ts";
import { RequestBodies } from "./server/request-bodies.ts";
import { keysOf, openSealedStore, sealedTextsIn } from "./store/sealed-store.ts";
import { CallsUnderWay } from "./system/process/calls-under-way.ts";
import { systemClock } from "./system/clock.ts";
import { Metrics } from "./system/process/metrics.ts";
import { lateMailer } from "./system/late-mailer.ts";
import { lateOAuthServer } from "./system/http/late-oauth-server.ts";
import { osKeyring } from "./system/keys/os-keyring.ts";
import { OwnPorts } from "./system/http/own-ports.ts";
import { prober } from "./system/http/prober.ts";
import { RunFilesFolder } from "./system/home/run-files-folder.ts";
import { openSearchIndex } from "./store/search/fts-index.ts";
import { diskSpace } from "./system/home/disk.ts";
import { programFile } from "./system/program-files.ts";
import { openVault } from "./system/keys/secret-key.ts";
import { lateSender } from "./system/http/late-sender.ts";
import { type ServerRecord } from "./system/home/server-record.ts";

/** Replacements for the default plugs. The caller owns them. */
export interface GivenPlugs {
  readonly store?: Store;
  readonly runner?: Runner;
  /** Used by the engine only. */
  readonly clock?: Clock;
  readonly cluster?: Cluster;
}

export interface ServeOptions {
  /** True when people other than the owner use the server. */
  readonly isShared?: boolean;
  readonly plugs?: GivenPlugs;
  /** Delay after the start until the startup snapshot of component processes is made. The default is 5 s. */
  readonly snapshotAfterMs?: number;
  /** Keeps a spare process, so that components start faster. The default is true. */
  readonly keepsSpare?: boolean;
}

/** Both doors of a server. */
export interface Listeners {
  readonly api: RequestListener;
  readonly endpoints: RequestListener;
}

export interface Doors {
  readonly apiUrl: string;
  readonly apiPort: number;
  readonly endpointUrl: string;
}

interface ServeParts extends ServeOptions {
  readonly home: string;
  readonly log: Log;
  readonly apiKey: string;
  readonly version: string;
  readonly doors: Doors;
  readonly record: () => ServerRecord;
  readonly cluster: Cluster;
  readonly metrics: Metrics;
  readonly openStore: (signal: AbortSignal) => Promise<OpenedStore>;
  /** Called before recovery starts, because hooks that recover need their endpoints. */
  readonly listen: (listeners: Listeners) => void;
}

/** An engine behind open doors. */
export interface Serving {
  readonly engine: Engine;
  /** Calls the API without the network. */
  readonly ask: (url: string, call: RequestInit) => Promise<Response>;
  /** Work in flight may continue for `graceMs`. The store closes after `answered`. */
  end(graceMs: number, answered: Promise<unknown>): Promise<void>;
}

/** Work in flight may continue for `graceMs`. */
type UndoStep = (graceMs: number) => unknown;

/** Loading the API earlier would slow down the start, and later the first call. */
const API_AFTER_MS = 500;

/** Throws PD_NO_KEYS, PD_DATABASE_UNUSABLE. */
export async function serve(settings: Settings, parts: ServeParts): Promise<Serving> {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const undo: UndoStep[] = [];
  try {
    return await serveInOrder(settings, { ...parts, stop, undo });
  } catch (error) {
    stop.abort();
    await undoAll(undo, 0).catch((problem: unknown) => parts.log.error("could not undo a step of the failed start", { reason: messageOf(problem) }));
    throw error;
  }
}

/** Takes all steps, then throws the first error. */
async function undoAll(steps: readonly UndoStep[], graceMs: number): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps.toReversed()) {
    try {
      await step(graceMs);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

interface ServingParts extends ServeParts {
  readonly stop: AbortController;
  /** Run in reverse order. */
  readonly undo: UndoStep[];
}

async function serveInOrder(settings: Settings, parts: ServingParts): Promise<Serving> {
  const { home, log, stop, undo, apiKey, version, doors, record, cluster, metrics, listen, isShared = false } = parts;
  const ownPorts = new OwnPorts();
  const { keyPlace, enclosure, shareInstalled, storeFacts, ...plugs } = await startPlugs(
    { ...settings, sandboxUse: sandboxOf(settings, isShared) },
    { ...parts, ownPorts },
  );
  const { store } = plugs;
  if (isShared) await requireKeys(settings.host, store);
  const endpointUrl = (key: string): string => `${settings.publicUrl === "" ? doors.endpointUrl : settings.publicUrl}/${key}`;
  const pageUrl = (): string => (settings.pageUrl === "" ? doors.apiUrl : settings.pageUrl);
  const settled = engineSettings(settings, { isShared, enclosure, endpointUrl, pageUrl });
  const engine = await Engine.start({ ...plugs, meter: metrics, settings: settled, signal: stop.signal });
  let answered: Promise<unknown> = Promise.resolve();
  const closing: Promise<unknown>[] = [];
  undo.push(async (graceMs) => {
    stop.abort();
    await Promise.all([answered, ...closing, engine.stop(graceMs)]);
  });
  metrics.watch(countsOf(engine));
  const facts = serverFacts({ engine, store, storeFacts, metrics, record, home, keyPlace, enclosure, retention: retentionOf(settings) });
  const drafts = join(home, "backups");
  dropDrafts(drafts);
  const isOnLoopback = isLoopback(settings.host);
  const apiParts = {
    apiKey,
    version,
    record,
    facts,
    metrics,
    store,
    storeFacts,
    home,
    drafts,
    log,
    isLoopback: isOnLoopback,
    ownPorts,
    cluster,
    signal: stop.signal,
  };
  const lateApi = lateApiOf(engine, apiParts);
  ownPorts.add(doors.apiPort);
  const asked = new CallsUnderWay((url, call) => lateApi.ask(url, call));
  undo.push((graceMs) => void closing.push(asked.close(graceMs)));
  listen({ api: lateApi.listener, endpoints: endpointListener(engine, { ...endpointSettings(settings), log, endpointUrl }) });
  await engine.open();
  void shareInstalled().catch((error: unknown) => log.warn("could not check the installed packages", { reason: messageOf(error) }));
  const loading = setTimeout(() => void loadEarly(lateApi, log), API_AFTER_MS).unref();
  undo.push(() => clearTimeout(loading));
  return {
    engine,
    ask: (url, call) => asked.ask(url, call),
    async end(graceMs, whenAnswered) {
      answered = whenAnswered;
      await undoAll(undo, graceMs);
    },
  };
}

function countsOf(engine: Engine): Parameters<Metrics["watch"]>[0] {
  return {
    sources: () => engine.sources.list().length,
    processes: () => engine.processes.count,
    isCounted: (scope) => engine.deployed.isOnItsOwn(scope),
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

interface PlugParts extends ServingParts {
  readonly ownPorts: OwnPorts;
}

/** People other than the owner deploy to a shared server, so `auto` means `wall` there. */
function sandboxOf({ sandboxUse, host }: Settings, isShared: boolean): Settings["sandboxUse"] {
  return isShared && !isLoopback(host) && sandboxUse === "auto" ? "wall" : sandboxUse;
}

/** The store, which encrypts secrets with the key of the home. */
async function openSealed({ keyringUse }: Settings, { home, log, stop, undo, plugs, openStore }: ServingParts) {
  const given = plugs?.store;
  const { store, facts } = given === undefined ? await openStore(stop.signal) : { store: given, facts: GIVEN_STORE };
  if (given === undefined) undo.push(() => store.close());
  const sealedTexts = await sealedTextsIn(store);
  const keyFile = join(home, "secret-key");
  const vault = await openVault({ keyFile, keyring: osKeyring, log, use: keyringUse, environment: process.env, inUse: keysOf(sealedTexts) });
  return { store: await openSealedStore(store, vault, sealedTexts), storeFacts: facts, keyPlace: vault.keyPlace };
}

async function startPlugs(settings: Settings, parts: PlugParts) {
  const { home, log, stop, undo, version, doors, ownPorts, plugs = {}, snapshotAfterMs, keepsSpare } = parts;
  const packagesFolder = join(home, "packages");
  const apiUrl = (): string => doors.apiUrl;
  const { store, storeFacts, keyPlace } = await openSealed(settings, parts);
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
  const allowsPrivate = settings.allowPrivateWebhooks || isLoopback(settings.host);
  const userAgent = `headwater/${version}`;
  const sender = lateSender({ clock: systemClock, allowsPrivate, userAgent, ownPorts });
  const registry = await FileRegistry.open({ folder: join(home, "registries"), npm, clock: systemClock, log, signal: stop.signal });
  const searchIndex = settings.search ? openSearchIndex(join(home, "search.db")) : undefined;
  undo.push(() => searchIndex?.close());
  const feed = new EventFeed(store);
  return {
    store,
    storeFacts,
    keyPlace,
    enclosure,
    packages: languages.packages,
    runner: languages.runner,
    shareInstalled: () => packages.shareInstalled(),
    registry,
    searchIndex,
    freeDisk: () => diskSpace(home),
    sender,
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

interface EngineSurroundings {
  readonly isShared: boolean;
  readonly enclosure: Pick<Enclosure, "kind">;
  readonly endpointUrl: (key: string) => string;
  readonly pageUrl: () => string;
}

function engineSettings(settings: Settings, { isShared, enclosure, endpointUrl, pageUrl }: EngineSurroundings) {
  return {
    allowsImports: !isShared || settings.allowImports,
    enclosesPrograms: enclosure.kind === "wall",
    allowsAddons: settings.allowAddons,
    endpointUrl,
    pageUrl,
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

/** Answers only to this machine. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}
