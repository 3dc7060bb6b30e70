import { stat } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../domain/errors.ts";
import { systemClock } from "./clock.ts";
import type { Metrics, Totals } from "./metrics.ts";

export interface Figures extends Totals {
  readonly at_ms: number;
  readonly memory_bytes: number;
  readonly database_bytes: number;
}

/** How much has happened since the server began, and what it takes up. */
export async function figuresOf(metrics: Metrics, home: string): Promise<Figures> {
  const [totals, size] = [await metrics.totals(), await databaseSize(home)];
  return { at_ms: systemClock.now(), ...totals, memory_bytes: process.memoryUsage.rss(), database_bytes: size };
}

/** With its log; 0 where the store is none of files. */
async function databaseSize(home: string): Promise<number> {
  const sizes = await Promise.all(["headwater.db", "headwater.db-wal"].map((name) => stat(join(home, name)).then(({ size }) => size, noFile)));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function noFile(error: unknown): number {
  if (codeOf(error) === "ENOENT") return 0;
  throw error;
}
