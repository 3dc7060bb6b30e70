/**
 * The maintenance thread: reads the whole database for damage and for what it takes up, and makes copies of it, each in one read that holds up
 * neither the server nor those who wait for a commit.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { Database } from "../../database/driver.ts";
import { openDatabase } from "../../database/database.ts";
import { messageOf } from "../../domain/errors.ts";
import type { KindUsage } from "../../domain/usage.ts";
import { damageOf } from "./open.ts";
import { usageOf } from "./usage.ts";

export type MaintenanceRequest =
  | { readonly id: number; readonly task: "check" }
  | { readonly id: number; readonly task: "usage" }
  /** `target`: a file that does not exist yet. */
  | { readonly id: number; readonly task: "copy"; readonly target: string };

export interface MaintenanceReply {
  readonly id: number;
  /** What is wrong with the database; absent: nothing. */
  readonly damage?: string;
  readonly error?: string;
  readonly usage?: readonly KindUsage[];
}

function performOn(db: Database, request: MaintenanceRequest): Omit<MaintenanceReply, "id"> {
  switch (request.task) {
    case "check": {
      const damage = damageOf(db);
      return damage === undefined ? {} : { damage };
    }
    case "usage":
      return { usage: usageOf(db) };
    case "copy":
      db.pragma("query_only = off");
      // A copy as of one moment, whatever is written meanwhile.
      db.prepare("vacuum into ?").run(request.target);
      return {};
  }
}

function perform(path: string, request: MaintenanceRequest): MaintenanceReply {
  const { id } = request;
  try {
    const db = openDatabase(path, { timeoutMs: 5000 });
    try {
      db.pragma("query_only = on");
      return { id, ...performOn(db, request) };
    } finally {
      db.close();
    }
  } catch (error) {
    return { id, error: messageOf(error) };
  }
}

const { path }: { path: string } = workerData;
parentPort?.on("message", (request: MaintenanceRequest) => parentPort?.postMessage(perform(path, request)));
