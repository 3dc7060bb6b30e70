import { fstatSync, openSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type GivenSettings, SETTINGS, type Settings } from "../config.ts";
import { PdError } from "../domain/errors.ts";
import { makeHome } from "../system/home/home-folder.ts";
import { packageFile } from "../system/program-files.ts";
import { readServerRecord } from "../system/home/server-record.ts";
import { type Client, createClient } from "../client/client.ts";
import { Connection, type ConnectionOptions, type ServerAddress } from "../client/connection.ts";
import { findProfile } from "./profiles.ts";
import { settingsOf } from "./settings-of.ts";
import { barOf, withSteps } from "./spinner.ts";
import { readNowIfThere } from "../system/home/whole-files.ts";
import type { JsonObject } from "../domain/text/json.ts";
import { MIGRATING } from "../system/log.ts";
import { cut } from "./terminal-text.ts";

export interface CliContext {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly isJson: boolean;
  readonly flags: GivenSettings;
  /** Omitted: starts a detached process. */
  readonly spawnServer?: (words: readonly string[], log: number) => ServerProcess;
  /** Undefined for the default server. */
  readonly profile: string | undefined;
}

interface ServerProcess {
  once(event: "exit", listener: () => void): unknown;
}

/** The owner of the home may be busy for this long. */
const BUSY_MS = 30_000;
/** Migrations get extra time. */
const START_TIMEOUT_MS = 20_000;
/** A supervisor restarts an ended server after a pause. */
const RETURN_TIMEOUT_MS = 4000;
/** While a silent server owns the home. */
const RETRY_MS = 300;
/** The log ends with the reason of a failed start. */
const TAIL_BYTES = 16_384;

/** Undefined without a server on this PD_HOME. Throws PD_SERVER_UNREACHABLE for a silent one. */
export async function findServer(settings: Pick<Settings, "home">, cli?: CliContext, { busyMs = BUSY_MS } = {}): Promise<Client | undefined> {
  const locate = (): Promise<ServerAddress | undefined> => locateServer(settings.home);
  const address = await locate();
  if (address === undefined || !(await answers(address, settings.home, busyMs))) return undefined;
  const watch = cli === undefined ? {} : { watch: watching(cli, "Waiting for the server") };
  return createClient(new Connection(address, { locate, ...watch }));
}

export function tellUnusedSettings({ flags, stderr }: CliContext): void {
  const names = Object.entries(SETTINGS).flatMap(([name, { flag }]) => (name !== "home" && name in flags ? [`--${flag}`] : []));
  if (names.length === 0) return;
  const [verb, them] = names.length === 1 ? ["changes", "it"] : ["change", "them"];
  stderr.write(`The server is already running: ${names.join(", ")} ${verb} nothing. To use ${them}, stop it first: pd down\n`);
}

/** Retries while a busy server owns the home. */
async function answers(address: ServerAddress, home: string, busyMs: number): Promise<boolean> {
  for (const started = Date.now(); ;) {
    const heard = await new Connection(address).listens();
    if (heard !== "silent") return heard === "answers";
    const record = readServerRecord(home);
    if (record === undefined || !(await isHeld(home))) return false;
    if (Date.now() - started < busyMs) continue;
    throw new PdError("PD_SERVER_UNREACHABLE", `Cannot use the server: process ${record.pid} has ${home}, but does not answer at ${address.baseUrl}`, {
      fix: `Retry later, or end it: kill -9 ${record.pid}; nothing that was acknowledged is lost`,
    });
  }
}

/** Another program may have the recorded process id or port by now. */
async function isHeld(home: string): Promise<boolean> {
  const { holdLock } = await import("../system/home/file-lock.ts");
  const lock = holdLock(join(home, "server.lock"));
  lock?.release();
  return lock === undefined;
}

function watching(cli: CliContext, label: string): NonNullable<ConnectionOptions["watch"]> {
  return (call, askStep) => withSteps(cli, { label, askStep: async () => stepWords(await askStep()) }, call);
}

/** The server may have crashed. */
export async function locateServer(home: string): Promise<ServerAddress | undefined> {
  const record = readServerRecord(home);
  if (record === undefined) return undefined;
  const key = (readNowIfThere(join(home, "api-key")) ?? "").trim();
  return { baseUrl: record.api_url, key };
}

/** Starts a local server when none runs. */
export function connect(cli: CliContext): Promise<Client> {
  return connectTo(cli, cli.profile);
}

/** Undefined: the default server. */
export async function connectTo(cli: CliContext, profileName: string | undefined): Promise<Client> {
  const profile = await findProfile(profileName, cli.environment);
  if (profile !== undefined) return createClient(new Connection(profile, { watch: watching(cli, `Waiting for ${profile.baseUrl}`) }));
  const settings = await settingsOf(cli);
  const locate = (): Promise<ServerAddress | undefined> => locateServer(settings.home);
  const address = await locate();
  if (address === undefined) return reachServer(cli, settings);
  const reach = async (): Promise<ServerAddress> => (await reachServer(cli, settings)).connection.address;
  return createClient(new Connection(address, { locate, reach, watch: watching(cli, "Waiting for the server") }));
}

async function reachServer(cli: CliContext, settings: Settings): Promise<Client> {
  const running = await findServer(settings, cli);
  if (running !== undefined) return running;
  const returned = await untilReturned(cli, settings);
  if (returned !== undefined) return returned;
  await makeHome(settings.home);
  cli.stderr.write("No server is running: starting one in the background (pd down stops it)\n");
  return withSteps(cli, { label: "Starting", askStep: startSteps(settings) }, startInBackground(cli, settings));
}

/** A supervisor may be restarting the server, and needs its place free. A background server has no supervisor. */
async function untilReturned(cli: CliContext, settings: Settings): Promise<Client | undefined> {
  const record = readServerRecord(settings.home);
  if (record === undefined || record.in_background === true) return undefined;
  cli.stderr.write("The server has ended: waiting for a restart\n");
  for (const started = Date.now(); Date.now() - started < RETURN_TIMEOUT_MS; await sleep(100)) {
    const client = await findServer(settings, cli);
    if (client !== undefined) return client;
  }
  return undefined;
}

/** Reads the steps from the server's log. */
function startSteps({ home }: Settings): () => Promise<string | undefined> {
  const path = join(home, "server.log");
  const from = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return async () => migrationWords(await tailOf(path, from));
}

/** End of a growing file, without its first `from` bytes. */
async function tailOf(path: string, from: number): Promise<string> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return "";
  try {
    const { size } = await file.stat();
    const start = Math.max(from, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(0, size - start)), 0, Math.max(0, size - start), start);
    return buffer.subarray(0, bytesRead).toString();
  } finally {
    await file.close();
  }
}

/** Output goes to server.log in PD_HOME. Throws PD_SERVER_UNREACHABLE. */
export async function startInBackground(cli: CliContext, settings: Settings): Promise<Client> {
  await makeHome(settings.home);
  const logPath = join(settings.home, "server.log");
  const output = openSync(logPath, "a", 0o600);
  const words = Object.entries(cli.flags).flatMap(([name, value]) => flagWords(name, value));
  let hasEnded = false;
  // Skips the output of earlier servers.
  let from = 0;
  const begin = (): void => {
    hasEnded = false;
    from = fstatSync(output).size;
    const server = (cli.spawnServer ?? spawnServer)(["up", ...words], output);
    server.once("exit", () => (hasEnded = true));
  };
  begin();
  const started = Date.now();
  for (;;) {
    const client = await findServer(settings, cli);
    if (client !== undefined) return client;
    const isLate = Date.now() - started > START_TIMEOUT_MS && migrationWords(await tailOf(logPath, from)) === undefined;
    if (isLate || (hasEnded && !hasLostRace(await linesFrom(logPath, from)))) throw notStarted(logPath, await linesFrom(logPath, from));
    // The home's owner may be starting or stopping.
    if (hasEnded) await sleep(RETRY_MS);
    if (hasEnded && (await findServer(settings, cli)) === undefined) begin();
    await sleep(30);
  }
}

/** glibc keeps the used memory of each thread's arena. With one arena, a server with many runs uses 8 MB less and is not slower. */
const ONE_ARENA = { MALLOC_ARENA_MAX: "1" };

/** Measured under load with 50 connections: 125 MB instead of 165. The start takes 20 ms longer. */
const SMALL_HEAP = ["--max-semi-space-size=8", "--heap-growing-percent=20"];

/** The log is parsed, so it has no colours. */
function spawnServer(words: readonly string[], log: number): ServerProcess {
  const env = { ...ONE_ARENA, ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined, PD_BACKGROUND: "1" };
  // Loaded late, because most commands find a running server.
  const server = process
    .getBuiltinModule("node:child_process")
    .spawn(process.execPath, [...SMALL_HEAP, packageFile("bin/pd.cjs"), ...words], { detached: true, stdio: ["ignore", log, log], env });
  server.unref();
  return server;
}

function flagWords(name: string, value: string | undefined): string[] {
  const row = Object.entries(SETTINGS).find(([setting]) => setting === name)?.[1];
  return row === undefined || value === undefined ? [] : [`--${row.flag}`, value];
}

/** Another command started a server meanwhile. */
function hasLostRace(lines: readonly string[]): boolean {
  // An error ends with its code.
  return lines.findLast((line) => /^\[PD_\w+\]$/.test(line)) === "[PD_HOME_IN_USE]";
}

async function linesFrom(path: string, bytes: number): Promise<readonly string[]> {
  return (await tailOf(path, bytes)).trim().split("\n");
}

function notStarted(logPath: string, lines: readonly string[]): PdError {
  const at = lines.findLastIndex((line) => line.startsWith("Error: "));
  const reason = lines[at] ?? lines.at(-1) ?? "";
  const advice = at < 0 ? undefined : lines.slice(at).find((line) => line.startsWith("Try: "));
  return new PdError("PD_SERVER_UNREACHABLE", `Cannot start a server in the background: ${reason.replace(/^Error: /, "")}`, {
    fix: advice?.slice("Try: ".length) ?? `Read ${logPath}, or run pd up to see why`,
  });
}

const SHOWN_FROM_MS = 1000;
const MOST_SUBJECT = 60;

/** Such as `Installing axios@1.7 … 3 s`. Undefined without a step. */
export function stepWords(told: JsonObject | undefined): string | undefined {
  const words = wordsOf(String(told?.["step"]), cut(String(told?.["subject"] ?? ""), MOST_SUBJECT));
  const elapsed = Number(told?.["elapsed_ms"] ?? 0);
  return words === undefined || elapsed < SHOWN_FROM_MS ? words : `${words} … ${Math.floor(elapsed / 1000)} s`;
}

function wordsOf(step: string, subject: string): string | undefined {
  switch (step) {
    case "fetching":
      return `Fetching ${subject}`;
    case "bundling":
      return "Bundling";
    case "installing":
      return `Installing ${subject}`;
    case "loading":
      return "Loading";
    case "hook":
      return `Running hook ${subject}`;
    default:
      return undefined;
  }
}

/** Reads the log's last line. Undefined unless the server is migrating. */
export function migrationWords(log: string): string | undefined {
  const last = log.trim().split("\n").at(-1) ?? "";
  const [, next, newest] = /revision=(\d+) of (\d+)/.exec(last) ?? [];
  if (!last.includes(MIGRATING) || next === undefined || newest === undefined) return undefined;
  return `Migrating the database ${barOf(Number(next), Number(newest))} ${next} of ${newest}`;
}
