/**
 * The maintenance thread: reads the whole database for damage and for what it takes up, and makes copies of it, each in one read that holds up
 * neither the server nor those who wait for a commit.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { Database } from "../../database/driver.ts";
import { driverName, openDatabase } from "../../database/database.ts";
import { messageOf } from "../../domain/errors.ts";
import type { KindUsage } from "../../domain/usage.ts";
import { damageOf, isDamage } from "./open.ts";
import { usageOf } from "./usage.ts";

export type MaintenanceTask =
  | { readonly task: "check" }
  | { readonly task: "usage" }
  /** `target`: a file that does not exist yet. */
  | { readonly task: "copy"; readonly target: string };

export interface MaintenanceReply {
  /** What is wrong with the database; absent: nothing. */
  readonly damage?: string;
  readonly error?: string;
  readonly usage?: readonly KindUsage[];
}

function performOn(db: Database, task: MaintenanceTask): MaintenanceReply {
  switch (task.task) {
    case "check": {
      const damage = damageOf(db);
      return damage === undefined ? {} : { damage };
    }
    case "usage":
      return { usage: usageOf(db) };
    case "copy":
      db.pragma("query_only = off");
      // A copy as of one moment, whatever is written meanwhile.
      db.prepare("vacuum into ?").run(task.target);
      return {};
  }
}

function perform(path: string, task: MaintenanceTask): MaintenanceReply {
  try {
    const db = openDatabase(path, { timeoutMs: 5000 });
    try {
      db.pragma("query_only = on");
      return performOn(db, task);
    } finally {
      db.close();
    }
  } catch (error) {
    return isDamage(error) ? { damage: messageOf(error) } : { error: messageOf(error) };
  }
}

// A driver that cannot be loaded is no damage of the database: the thread fails before it is asked for anything.
driverName();
const { path }: { path: string } = workerData;
// One task: nobody speaks to it afterwards, so that it ends, and what it has read of the database leaves memory.
parentPort?.once("message", (task: MaintenanceTask) => parentPort?.postMessage(perform(path, task)));
