import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";
import { PdError, messageOf } from "../domain/errors.ts";
import { openBetterSqlite } from "./better-sqlite.ts";
import type { Database, DriverName, OpenOptions } from "./driver.ts";
import { openNodeSqlite } from "./node-sqlite.ts";

type Driver = (path: string, options: OpenOptions) => Database;

const DRIVERS: readonly (readonly [DriverName, Driver])[] = [
  ["better-sqlite3", openBetterSqlite],
  ["node:sqlite", openNodeSqlite],
];

const ANOTHER_NODE = "Use Node 22.13 or later, which includes SQLite; or run npm rebuild better-sqlite3, which needs a compiler if no prebuilt binary exists";

/** Threads read here which driver their process uses. Two copies of SQLite in one process release each other's locks. */
const CHOSEN = "headwater: driver of the database";

interface Chosen {
  readonly name: DriverName;
  readonly open: Driver;
  /** Drivers before it, and why they did not work. */
  readonly failures: readonly string[];
}

let chosen: Chosen | undefined;

/** Creates a missing file. Throws PD_DATABASE_UNUSABLE when no driver works on this Node. */
export function openDatabase(path: string, options: OpenOptions): Database {
  return chosenDriver().open(path, options);
}

/** Throws PD_DATABASE_UNUSABLE. */
export function driverName(): DriverName {
  return chosenDriver().name;
}

/** Why the usual driver is not used. Undefined when it is, or when PD_SQLITE chose. */
export function driverFallback(): string | undefined {
  const { name, failures } = chosenDriver();
  return failures.length === 0
    ? undefined
    : `SQLite is ${name} of Node ${process.versions.node}, because better-sqlite3 does not load here (${failures.join("; ")})`;
}

function chosenDriver(): Chosen {
  if (chosen === undefined) {
    const ofProcess = getEnvironmentData(CHOSEN);
    chosen = choose(typeof ofProcess === "string" ? ofProcess : process.env["PD_SQLITE"]);
    setEnvironmentData(CHOSEN, chosen.name);
  }
  return chosen;
}

/** The first that works. Node has `node:sqlite` since 22.13. */
function choose(wanted: string | undefined): Chosen {
  const known = DRIVERS.map(([name]): string => name);
  if (wanted !== undefined && wanted !== "" && !known.includes(wanted))
    throw new PdError("PD_BAD_INPUT", `Cannot use PD_SQLITE=${JSON.stringify(wanted)}: unknown driver`, {
      fix: `Use ${known.join(" or ")}, or leave it empty`,
    });
  const failures: string[] = [];
  for (const [name, open] of DRIVERS.filter(([driver]) => wanted === undefined || wanted === "" || driver === wanted)) {
    try {
      open(":memory:", { timeoutMs: 0 }).close();
      return { name, open, failures };
    } catch (error) {
      if (error instanceof PdError) throw error;
      failures.push(`${name}: ${messageOf(error).split("\n")[0]}`);
    }
  }
  throw new PdError("PD_DATABASE_UNUSABLE", `Cannot open a database on Node ${process.versions.node}: ${failures.join("; ")}`, {
    fix: ANOTHER_NODE,
  });
}
