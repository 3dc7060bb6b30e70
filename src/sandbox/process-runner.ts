import { setMaxListeners } from "node:events";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { codeOf, messageOf, PdError } from "../domain/errors.ts";
import { granted, isOrdinary } from "../domain/source/process-grant.ts";
import type { Runner, Unit, UnitCode, UnitEvents } from "../ports/runner.ts";
import { ChildProcess, type ChildSettings } from "./process/child-process.ts";
import type { ChildRights } from "./process/node-flags.ts";
import type { Enclosure } from "./wall/enclosure.ts";
import { type FailedLoad, ProcessUnit } from "./process/process-unit.ts";
import { processIfWanted, whileWanted } from "./process/wanted-load.ts";
import { startUnit } from "./process/start-unit.ts";
import { QuickStart } from "./snapshot/quick-start.ts";
import { join } from "node:path";
import { removeFolder } from "../system/home/remove-folder.ts";

export interface RunnerSettings extends ChildSettings {
  readonly snapshotAfterMs?: number | undefined;
  /** False: no spare process waits for code. */
  readonly keepsSpare?: boolean | undefined;
}

interface Prepared {
  readonly child: Promise<ChildProcess>;
  readonly over: AbortController;
}

/** After this delay and once nothing is loading, so that a new spare does not compete with the load that took the last one. */
const SPARE_DELAY_MS = 40;
const SPARE_PATIENCE_MS = 500;
/** Two takes within this time make a third likely, so the next spare starts at once. */
const IN_A_ROW_MS = 400;
const MAX_PREPARED = 2;
/** A starting server is busy, and a short-lived one needs no snapshot. */
const SNAPSHOT_AFTER_MS = 5000;
const PREPARED_FOR_MS = 10 * 60_000;
const LOAD_DEADLINE_MS = 30_000;

/** Loading packages takes most of a reload. So this keeps a spare process, and a few with the packages of recently changed sources. */
export class ProcessRunner implements Runner {
  readonly #settings: RunnerSettings;
  readonly #stop = new AbortController();
  readonly #children = new Set<ChildProcess>();
  readonly #starting = new Set<Promise<ChildProcess>>();
  readonly #prepared = new Map<string, Prepared>();
  readonly #loads = new Set<Promise<unknown>>();
  #spare: Promise<ChildProcess> | undefined;
  #takenAt = Number.NEGATIVE_INFINITY;
  #areTakenInARow = false;
  /** Some code uses much of Node, as packages do. The next code may do so too. */
  #expectsPackages: boolean;
  readonly #quickStart: QuickStart;

  static async start(settings: RunnerSettings): Promise<ProcessRunner> {
    await mkdir(settings.runFolder, { recursive: true, mode: 0o700 });
    await sweep(settings);
    // This decides only what is preloaded.
    const installed = await readdir(settings.packagesFolder).catch(() => []);
    const runner = new ProcessRunner(settings, installed.length > 0);
    runner.#refill();
    return runner;
  }

  private constructor(settings: RunnerSettings, expectsPackages: boolean) {
    this.#settings = settings;
    this.#expectsPackages = expectsPackages;
    setMaxListeners(0, this.#stop.signal);
    this.#quickStart = new QuickStart(settings, {
      afterMs: settings.snapshotAfterMs ?? SNAPSHOT_AFTER_MS,
      signal: this.#stop.signal,
      startChild: (rights) => this.#startChild(rights),
      onMade: () => this.#replaceSpare(),
    });
  }

  /** Resolves when processes start from a snapshot or none can be made. */
  get whenQuick(): Promise<void> {
    return this.#quickStart.whenTried;
  }

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

  /** Throws PD_SANDBOX_UNAVAILABLE. Only the wall contains programs and native code, but `--allow-addons` permits native code without it. */
  #refuseWithoutWall({ allowsPrograms, allowsAddons }: UnitCode): void {
    const { kind, reason = "" } = this.enclosure;
    const wanted = allowsPrograms === true ? "start programs" : allowsAddons === true && this.#settings.allowAddons !== true ? "load native code" : undefined;
    if (kind === "wall" || wanted === undefined) return;
    throw new PdError("PD_SANDBOX_UNAVAILABLE", `Cannot let a component ${wanted}: this needs the wall, which is not available (${reason})`);
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

  /** Saves a quarter of a package's load time but costs 6 MB. */
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
      const late = clock.sleepUntil(clock.now() + LOAD_DEADLINE_MS, over.signal).then(() => Promise.reject(new Error("its packages did not load in time")));
      await Promise.race([preload(child, code), late]).finally(() => (late.catch(() => {}), over.abort()));
    });
  }

  async #replaceSpare(): Promise<void> {
    const before = this.#spare;
    const spare = this.#startPlain();
    this.#keepAsSpare(spare);
    // A failed start is reported where it was started.
    await Promise.allSettled([spare.then(ready), before?.then(ready)]);
    await before?.then(
      (child) => child.kill(),
      () => {},
    );
  }

  #startPlain(): Promise<ChildProcess> {
    return this.#quickStart.start();
  }

  async #startChild(rights: ChildRights): Promise<ChildProcess> {
    // Disposal waits for starts in progress. No new one may follow.
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

/** Node, napi-rs and node-gyp-build report a refusal as a missing file. */
const NATIVE_CODE = /loading addons is disabled|Cannot find native binding|No native build was found|Failed to load native binding/;

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
  // Packages may load these Node modules when they are called.
  child.send({ type: "host:expect-packages" });
}

async function orKilled(child: ChildProcess, makeReady: (child: ChildProcess) => Promise<void>): Promise<ChildProcess> {
  try {
    await makeReady(child);
    return child;
  } catch (error) {
    child.kill();
    throw error;
  }
}

function wantsMuchOfNode({ packagesPath, bundle }: UnitCode): boolean {
  return packagesPath !== undefined || /\bfetch\(|["'](?:node:)?https["']/.test(bundle.code);
}

function letExpectPackages(spare: Promise<ChildProcess>): void {
  // A failed start is reported where it was started.
  spare.then(ready).then(
    (child) => child.send({ type: "host:expect-packages" }),
    () => {},
  );
}

async function ready(child: ChildProcess): Promise<ChildProcess> {
  await child.ready;
  return child;
}

/** Processes with the same packages are interchangeable. */
function preparedKey({ packagesPath, bundle }: UnitCode): string | undefined {
  // A bundle's preloads must run before its packages.
  if (packagesPath === undefined || bundle.imports.length === 0 || bundle.preloads !== undefined) return undefined;
  return JSON.stringify([packagesPath, bundle.imports.map(({ specifier, isRequire }) => `${specifier} ${isRequire}`).toSorted()]);
}

/** Ends processes whose server was killed, even during enclosing. */
async function sweep(settings: ChildSettings): Promise<void> {
  const { runFolder, log } = settings;
  for (const pid of await leftBehind(settings)) {
    log.warn("killing a process that an earlier server left behind", { pid });
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      // The process may only look like ours, or was started by sudo.
      if (codeOf(error) === "EPERM") log.error("cannot kill a process that an earlier server left behind: it belongs to another user", { pid });
      else if (codeOf(error) !== "ESRCH") throw error;
    }
  }
  for (const name of await readdir(runFolder)) await removeFolder(join(runFolder, name), log);
}

/** Their command names the child entry and this folder, which no other server uses. Empty without /proc. */
async function leftBehind({ entry, runFolder }: ChildSettings): Promise<readonly number[]> {
  const pids = (await readdir("/proc").catch(() => [])).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return pids.filter((_pid, index) => {
    const words = commands[index]?.split("\0") ?? [];
    return words.includes(entry) && words.some((word) => word.includes(join(runFolder, "/")));
  });
}
