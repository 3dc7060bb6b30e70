import { setMaxListeners } from "node:events";
import { mkdir, readdir } from "node:fs/promises";
import { PdError, messageOf } from "../domain/errors.ts";
import { granted, isOrdinary } from "../domain/process-grant.ts";
import type { Runner, Unit, UnitCode, UnitEvents } from "../ports/runner.ts";
import { ChildProcess, type ChildRights, type ChildSettings } from "./child-process.ts";
import type { Enclosure } from "./enclosure.ts";
import { type FailedLoad, ProcessUnit } from "./process-unit.ts";
import { processIfWanted, whileWanted } from "./wanted-load.ts";
import { startUnit } from "./start-unit.ts";
import { QuickStart } from "./quick-start.ts";
import { sweep } from "./left-behind.ts";

export interface RunnerSettings extends ChildSettings {
  /** How long after the start a snapshot is made that later processes start from. */
  readonly snapshotAfterMs?: number | undefined;
  /** False: no process waits to be used. */
  readonly keepsSpare?: boolean;
}

/** A process that has loaded what a source imports. */
interface Prepared {
  readonly child: Promise<ChildProcess>;
  /** Aborts when it is taken or dropped. */
  readonly over: AbortController;
}

/** A new spare waits a little, and then until nothing is being loaded, so that it does not compete with the start that took the last one. */
const SPARE_DELAY_MS = 40;
const SPARE_PATIENCE_MS = 500;
/** Who takes one so soon after another will take a third: that is started at once. */
const IN_A_ROW_MS = 400;
const MAX_PREPARED = 2;
/** A server that starts has other things to do, and one that soon ends has no use for it. */
const SNAPSHOT_AFTER_MS = 5000;
const PREPARED_FOR_MS = 10 * 60_000;
const LOAD_DEADLINE_MS = 30_000;

/**
 * Runs units in child processes. One spare process is always started beforehand; a few more hold the packages of
 * sources that were changed lately, since loading those takes most of a reload (spec performance.md §2).
 */
export class ProcessRunner implements Runner {
  readonly #settings: RunnerSettings;
  readonly #stop = new AbortController();
  readonly #children = new Set<ChildProcess>();
  /** Those of which it is not known yet whether there is a process. */
  readonly #starting = new Set<Promise<ChildProcess>>();
  readonly #prepared = new Map<string, Prepared>();
  readonly #loads = new Set<Promise<unknown>>();
  #spare: Promise<ChildProcess> | undefined;
  #takenAt = Number.NEGATIVE_INFINITY;
  #areTakenInARow = false;
  /** Some code of this home wants much of Node, as packages do: the next may do so as well. */
  #expectsPackages: boolean;
  readonly #quickStart: QuickStart;

  /** Ends what a killed server left behind, then starts the first spare. */
  static async start(settings: RunnerSettings): Promise<ProcessRunner> {
    await mkdir(settings.runFolder, { recursive: true, mode: 0o700 });
    await sweep(settings);
    // It decides what is loaded beforehand alone: without an answer nothing is.
    const installed = await readdir(settings.packagesFolder).catch(() => []);
    const runner = new ProcessRunner(settings, installed.length > 0);
    runner.#refill();
    return runner;
  }

  private constructor(settings: RunnerSettings, expectsPackages: boolean) {
    this.#settings = settings;
    this.#expectsPackages = expectsPackages;
    // Whatever is being prepared listens to it.
    setMaxListeners(0, this.#stop.signal);
    this.#quickStart = new QuickStart(settings, {
      afterMs: settings.snapshotAfterMs ?? SNAPSHOT_AFTER_MS,
      signal: this.#stop.signal,
      startChild: (rights) => this.#startChild(rights),
      onMade: () => this.#replaceSpare(),
    });
  }

  /** Resolves when processes start from a snapshot, or there is none. */
  get whenQuick(): Promise<void> {
    return this.#quickStart.whenTried;
  }

  /** What stands around components here. */
  get enclosure(): Pick<Enclosure, "kind" | "reason"> {
    return this.#settings.enclosure;
  }

  async start(code: UnitCode, events: UnitEvents, signal?: AbortSignal): Promise<Unit> {
    this.#refuseWithoutWall(code);
    return startUnit((tries) => this.#load(code, { events, signal, isFresh: tries > 1 }), {
      signal,
      isStopping: () => this.#stop.signal.aborted,
      explain: (reason) =>
        this.#settings.allowAddons !== true && code.allowsAddons !== true && NATIVE_CODE.test(reason)
          ? "It is native code. If you trust its packages with this machine's files, start the server with --allow-addons true, or give this flag to the workflow or to pd run-action"
          : undefined,
    });
  }

  /** Nothing but the wall holds programs and native code. Whoever starts the server may load native code without it. */
  #refuseWithoutWall({ allowsPrograms, allowsAddons }: UnitCode): void {
    const { kind, reason = "" } = this.enclosure;
    const wanted = allowsPrograms === true ? "start programs" : allowsAddons === true && this.#settings.allowAddons !== true ? "load native code" : undefined;
    if (kind === "wall" || wanted === undefined) return;
    throw new PdError("PD_SANDBOX_UNAVAILABLE", `Cannot let a component ${wanted}: only the wall encloses that as well, and there is none (${reason})`);
  }

  prepare(code: UnitCode): void {
    const key = preparedKey(code);
    if (key === undefined || this.#prepared.has(key) || this.#stop.signal.aborted) return;
    const { clock } = this.#settings;
    const [oldest] = this.#prepared.keys();
    if (oldest !== undefined && this.#prepared.size >= MAX_PREPARED) this.#dropPrepared(oldest);
    const prepared: Prepared = { child: this.#preload(code), over: new AbortController() };
    this.#prepared.set(key, prepared);
    const drop = (): void => {
      if (this.#prepared.get(key) === prepared) this.#dropPrepared(key);
    };
    prepared.child.then(({ exited }) => exited.then(drop), drop);
    void clock.sleepUntil(clock.now() + PREPARED_FOR_MS, prepared.over.signal).then(drop);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    for (const key of this.#prepared.keys()) this.#dropPrepared(key);
    for (const child of this.#children) child.kill();
    await Promise.allSettled([this.whenQuick, ...this.#starting]);
    await Promise.all([...this.#children].map((child) => child.exited));
  }

  async #load(
    code: UnitCode,
    { events, signal, isFresh }: { events: UnitEvents; signal: AbortSignal | undefined; isFresh: boolean },
  ): Promise<ProcessUnit | FailedLoad> {
    const { clock, memoryMb, apiUrl } = this.#settings;
    const child = await processIfWanted(this.#takeChild(code, isFresh), signal);
    const settings = { clock, memoryMb: code.memoryMb ?? memoryMb, apiUrl, loadDeadlineMs: LOAD_DEADLINE_MS };
    if (!this.#expectsPackages && wantsMuchOfNode(code)) this.#expectPackages();
    const load = whileWanted(child, signal, () => ProcessUnit.load(child, code, { events, settings }));
    this.#loads.add(load);
    return load.finally(() => this.#loads.delete(load));
  }

  async #takeChild(code: UnitCode, isFresh: boolean): Promise<ChildProcess> {
    const now = this.#settings.clock.now();
    this.#areTakenInARow = now - this.#takenAt < IN_A_ROW_MS;
    this.#takenAt = now;
    const rights = { ...granted(code), isInspected: code.debug !== undefined };
    const isSpecial = !isOrdinary(code) || rights.isInspected;
    if (isFresh || isSpecial) return this.#withPackages(await ready(await (isSpecial ? this.#startChild(rights) : this.#startPlain())), code);
    const key = preparedKey(code);
    const prepared = key === undefined ? undefined : this.#prepared.get(key);
    if (key !== undefined) this.#prepared.delete(key);
    prepared?.over.abort();
    const child = await prepared?.child.catch(() => undefined);
    if (child !== undefined) return child;
    return this.#withPackages(await this.#takeSpare(), code);
  }

  #withPackages(child: ChildProcess, { packagesPath }: UnitCode): Promise<ChildProcess> {
    return orKilled(child, async () => {
      if (packagesPath !== undefined) await child.linkPackages(packagesPath);
    });
  }

  async #takeSpare(): Promise<ChildProcess> {
    const spare = this.#spare ?? this.#startPlain();
    this.#spare = undefined;
    this.#refill();
    // A spare that has died meanwhile is no reason to fail: start one now.
    const child = await spare.then(ready).catch(async () => ready(await this.#startPlain()));
    return child;
  }

  #refill(): void {
    const { log, keepsSpare = true } = this.#settings;
    if (!keepsSpare) return;
    void this.#untilQuiet().then(() => {
      if (this.#spare !== undefined || this.#stop.signal.aborted) return;
      const spare = this.#startPlain();
      this.#keepAsSpare(spare);
      spare.then(ready).catch((error: unknown) => {
        if (!this.#stop.signal.aborted) log.error("a spare process did not start", { reason: messageOf(error) });
      });
    });
  }

  #keepAsSpare(spare: Promise<ChildProcess>): void {
    this.#spare = spare;
    const forget = (): void => {
      if (this.#spare === spare) this.#spare = undefined;
    };
    spare.then(({ exited }) => exited.then(forget), forget);
    if (this.#expectsPackages) letExpectPackages(spare);
  }

  /** What packages want of Node is a quarter of what loading them takes, and 6 MB: only where there are some is it loaded beforehand. */
  #expectPackages(): void {
    this.#expectsPackages = true;
    if (this.#spare !== undefined) letExpectPackages(this.#spare);
  }

  async #untilQuiet(): Promise<void> {
    const { clock } = this.#settings;
    if (this.#areTakenInARow) return;
    await clock.sleepUntil(clock.now() + SPARE_DELAY_MS, this.#stop.signal);
    if (this.#loads.size === 0) return;
    const over = new AbortController();
    const patience = clock.sleepUntil(clock.now() + SPARE_PATIENCE_MS, AbortSignal.any([over.signal, this.#stop.signal]));
    await Promise.race([Promise.allSettled(this.#loads), patience]);
    over.abort();
  }

  async #preload(code: UnitCode): Promise<ChildProcess> {
    const { clock } = this.#settings;
    if (!this.#areTakenInARow) await clock.sleepUntil(clock.now() + SPARE_DELAY_MS, this.#stop.signal);
    return orKilled(await ready(await this.#startPlain()), async (child) => {
      const over = new AbortController();
      const late = clock.sleepUntil(clock.now() + LOAD_DEADLINE_MS, over.signal).then(() => Promise.reject(new Error("its packages are not loaded in time")));
      await Promise.race([preload(child, code), late]).finally(() => (late.catch(() => {}), over.abort()));
    });
  }

  /** A process that has started from the snapshot takes the place of the spare. */
  async #replaceSpare(): Promise<void> {
    const before = this.#spare;
    const spare = this.#startPlain();
    this.#keepAsSpare(spare);
    // One that does not start is told of where it was started.
    await Promise.allSettled([spare.then(ready), before?.then(ready)]);
    await before?.then(
      (child) => child.kill(),
      () => {},
    );
  }

  /** One that may do no more than others. */
  #startPlain(): Promise<ChildProcess> {
    return this.#quickStart.start();
  }

  async #startChild(rights: ChildRights): Promise<ChildProcess> {
    // Whoever stops this waits for those that are being started, and for none after them.
    if (this.#stop.signal.aborted) throw new PdError("PD_STOPPING", "Cannot start a process for a component: the server is stopping");
    const start = this.#startAndKeep(rights);
    this.#starting.add(start);
    return start.finally(() => this.#starting.delete(start));
  }

  async #startAndKeep(rights: ChildRights): Promise<ChildProcess> {
    const child = await ChildProcess.start(this.#settings, { name: this.#settings.clock.randomText(10), rights });
    this.#children.add(child);
    void child.exited.then(() => this.#children.delete(child));
    if (this.#stop.signal.aborted) child.kill();
    return child;
  }

  #dropPrepared(key: string): void {
    const prepared = this.#prepared.get(key);
    this.#prepared.delete(key);
    prepared?.over.abort();
    void prepared?.child.then(
      (child) => child.kill(),
      () => {},
    );
  }
}

/** Node's own words, and those of the loaders that packages use (napi-rs, node-gyp-build), which take each refusal for a file that is missing. */
const NATIVE_CODE = /loading addons is disabled|Cannot find native binding|No native build was found|Failed to load native binding/;

/** Imports what the code imports, in a process that is ready for it. */
async function preload(child: ChildProcess, { packagesPath, bundle }: UnitCode): Promise<void> {
  if (packagesPath !== undefined) await child.linkPackages(packagesPath);
  const loads = bundle.imports.map(({ specifier, isRequire }) =>
    isRequire ? `try { require(${JSON.stringify(specifier)}); } catch {}` : `await import(${JSON.stringify(specifier)}).catch(() => {});`,
  );
  const url = await child.writeModule(
    "preload.mjs",
    `import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);\n${loads.join("\n")}\n`,
  );
  const preloaded = new Promise<void>((resolve) =>
    child.listen(
      (message) => (message.type === "child:preloaded" ? resolve() : undefined),
      () => {},
    ),
  );
  child.send({ type: "host:preload", url });
  await Promise.race([preloaded, child.exited.then(() => Promise.reject(new Error("the process ended while packages were loaded")))]);
  // What they have not loaded by now they may when they are called.
  child.send({ type: "host:expect-packages" });
}

/** A process that cannot be made ready is ended: nobody would. */
async function orKilled(child: ChildProcess, makeReady: (child: ChildProcess) => Promise<void>): Promise<ChildProcess> {
  try {
    await makeReady(child);
    return child;
  } catch (error) {
    child.kill();
    throw error;
  }
}

/** It imports packages, or reaches the network by itself. */
function wantsMuchOfNode({ packagesPath, bundle }: UnitCode): boolean {
  return packagesPath !== undefined || /\bfetch\(|["'](?:node:)?https["']/.test(bundle.code);
}

function letExpectPackages(spare: Promise<ChildProcess>): void {
  // One that does not start is told of where it was started.
  spare.then(ready).then(
    (child) => child.send({ type: "host:expect-packages" }),
    () => {},
  );
}

async function ready(child: ChildProcess): Promise<ChildProcess> {
  await child.ready;
  return child;
}

/** Processes with the same packages loaded are worth the same. */
function preparedKey({ packagesPath, bundle }: UnitCode): string | undefined {
  // What is loaded before the component has to come before its packages as well.
  if (packagesPath === undefined || bundle.imports.length === 0 || bundle.preloads !== undefined) return undefined;
  return JSON.stringify([packagesPath, bundle.imports.map(({ specifier, isRequire }) => `${specifier} ${isRequire}`).toSorted()]);
}
