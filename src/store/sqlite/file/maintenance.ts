/** Each task is one read transaction, which blocks neither the server nor commits. */
import { parentPort, workerData } from "node:worker_threads";
import type { Database } from "../../../database/driver.ts";
import { driverName, openDatabase } from "../../../database/database.ts";
import { messageOf } from "../../../domain/errors.ts";
import type { KindUsage } from "../../../domain/health/usage.ts";
import { damageOf, isDamage } from "./open.ts";
import { usageOf } from "./usage.ts";

export type MaintenanceTask = { readonly task: "check" } | { readonly task: "usage" } | { readonly task: "copy"; readonly target: string };

export interface MaintenanceReply {
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

// A driver that cannot be loaded is not damage.
driverName();
const { path }: { path: string } = workerData;
// Without a listener the thread ends and frees its memory.
parentPort?.once("message", (task: MaintenanceTask) => parentPort?.postMessage(perform(path, task)));
