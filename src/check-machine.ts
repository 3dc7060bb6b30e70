import { constants } from "node:fs";
import { access, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Settings } from "./config.ts";
import { driverName, openDatabase } from "./database/database.ts";
import { codeOf, messageOf } from "./domain/errors.ts";
import { type MachineFacts, machineFindings } from "./domain/health/machine-checkup.ts";
import type { Finding } from "./domain/health/checkup.ts";
import { openEnclosure } from "./sandbox/wall/wall.ts";
import { damageOf } from "./store/sqlite/file/open.ts";
import { systemClock } from "./system/clock.ts";
import { diskSpace } from "./system/home/disk.ts";
import { makeHome } from "./system/home/home-folder.ts";
import { osKeyring } from "./system/keys/os-keyring.ts";
import { packageVersion, programFile } from "./system/program-files.ts";
import { runCommand } from "./system/process/run-command.ts";

const NPM_TIMEOUT_MS = 20_000;

/** `serverVersion` is undefined when no server runs. Creates a missing home and changes nothing else. */
export async function checkMachine(settings: Settings, serverVersion: string | undefined): Promise<readonly Finding[]> {
  const { home } = settings;
  const problem = await makeHome(home)
    .then((path) => access(path, constants.W_OK))
    .then(
      () => undefined,
      (error: unknown) => messageOf(error),
    );
  const [disk, keyring, sandbox, npm, newestMs, ports] = await Promise.all([
    problem === undefined ? diskSpace(home) : { freeBytes: 0, totalBytes: 0 },
    keyringFacts(settings),
    sandboxFacts(settings),
    npmVersion(),
    newestIn(home),
    serverVersion === undefined ? portFacts(settings) : [],
  ]);
  const driver = driverFacts();
  const database = serverVersion === undefined && settings.databaseUrl === "" && "name" in driver ? await databaseFacts(join(home, "headwater.db")) : undefined;
  const facts: MachineFacts = {
    node: process.versions.node,
    version: await packageVersion(),
    ...(serverVersion === undefined ? {} : { serverVersion }),
    home: { path: home, ...(problem === undefined ? {} : { problem }) },
    driver,
    ...(database === undefined ? {} : { database }),
    ports,
    keyring,
    npm,
    now: systemClock.now(),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...(newestMs === undefined ? {} : { newestMs }),
    disk,
    sandbox,
  };
  return machineFindings(facts);
}

function driverFacts(): MachineFacts["driver"] {
  try {
    return { name: driverName() };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** Errors that do not mean a damaged database. */
const UNREADABLE = /^(SQLITE_(CANTOPEN|BUSY|LOCKED|PERM|AUTH|READONLY|IOERR)|E[A-Z]+$)/;

/** Only reads, because a server may start at the same time. */
async function databaseFacts(path: string): Promise<MachineFacts["database"]> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  try {
    const db = openDatabase(path, { isReadOnly: true, timeoutMs: 5000 });
    try {
      const damage = damageOf(db);
      return { path, ...(damage === undefined ? {} : { damage }) };
    } finally {
      db.close();
    }
  } catch (error) {
    return UNREADABLE.test(codeOf(error) ?? "") ? { path, problem: messageOf(error) } : { path, damage: messageOf(error) };
  }
}

async function keyringFacts({ keyringUse }: Settings): Promise<MachineFacts["keyring"]> {
  if (keyringUse === "never") return { isUsable: false, isWanted: false };
  try {
    await osKeyring.read("doctor");
    return { isUsable: true, isWanted: true };
  } catch (error) {
    return { isUsable: false, isWanted: true, reason: messageOf(error) };
  }
}

async function sandboxFacts({ sandboxUse, memoryMb }: Settings): Promise<MachineFacts["sandbox"]> {
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(tmpdir(), "headwater-doctor-"));
    const places = { entry: programFile("child.cjs"), runFolder: join(folder, "run"), packagesFolder: join(folder, "packages") };
    const { kind, reason } = await openEnclosure(sandboxUse, { ...places, memoryMb, network: "open" });
    return { kind, reason };
  } catch (error) {
    return { kind: "belt", reason: messageOf(error) };
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

async function npmVersion(): Promise<string | undefined> {
  const { signal } = new AbortController();
  const ran = await runCommand("npm", ["--version"], { folder: tmpdir(), signal, timeoutMs: NPM_TIMEOUT_MS, env: { npm_config_loglevel: "silent" } }).catch(
    () => undefined,
  );
  return ran?.code === 0 ? ran.output.trim().split("\n").at(-1) : undefined;
}

async function newestIn(home: string): Promise<number | undefined> {
  const names = await readdir(home).catch(() => []);
  const times = await Promise.all(names.map(async (name) => (await stat(join(home, name)).catch(() => undefined))?.mtimeMs ?? 0));
  return times.length === 0 ? undefined : Math.max(...times);
}

async function portFacts({ host, port, endpointPort }: Settings): Promise<MachineFacts["ports"]> {
  const wanted = [
    { purpose: "the API and the web page", flag: "port", port },
    { purpose: "endpoints", flag: "endpoint-port", port: endpointPort },
  ];
  const fixed = wanted.filter((one) => one.port !== 0);
  return Promise.all(fixed.map(async (one) => ({ ...one, ...(await refusalOf(host, one.port)) })));
}

/** Returns an empty object when a server can listen there. */
function refusalOf(host: string, port: number): Promise<Pick<MachineFacts["ports"][number], "isTaken" | "problem">> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve(codeOf(error) === "EADDRINUSE" ? { isTaken: true } : { problem: messageOf(error) }));
    server.listen(port, host, () => server.close(() => resolve({})));
  });
}
