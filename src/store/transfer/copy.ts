import { createHash } from "node:crypto";
import { PdError } from "../../domain/errors.ts";
import { SEEDED, TABLES, type Page, type Table, type TableOrigin, type TableSide, type TableTarget } from "./tables.ts";

export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly table: string;
}

/** Rows by table. */
export type Counts = ReadonlyMap<string, number>;

export async function countRows(side: TableSide): Promise<Counts> {
  const counts = new Map<string, number>();
  for (const table of TABLES) counts.set(table.name, await side.count(table));
  return counts;
}

export function isEmpty(counts: Counts): boolean {
  return [...counts].every(([name, count]) => count === 0 || SEEDED.includes(name));
}

/** Copies every row and compares what has arrived. Throws PD_FAILED when it differs: the caller must then discard the target. */
export async function copyAll(from: TableOrigin, to: TableTarget, onProgress: (progress: Progress) => void): Promise<Counts> {
  const counts = await countRows(from);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let done = 0;
  for (const table of TABLES) {
    await to.clear(table);
    const sent = createHash("sha256");
    for await (const page of from.pages(table)) {
      await to.insert(table, page);
      note(sent, page);
      done += page.length;
      onProgress({ done, total, table: table.name });
    }
    if (table.sequence === "seq" || table.name === "log_chunks") await to.advance(table, await from.lastNumber(table));
    if ((await digestOf(to, table)) !== sent.digest("hex"))
      throw new PdError("PD_FAILED", `Cannot copy the table ${table.name}: what has arrived differs from what was sent`);
  }
  return counts;
}

/** Whether both sides have the same rows. */
export async function isSame(one: TableSide, other: TableSide): Promise<boolean> {
  for (const table of TABLES) {
    const areSame = (await one.count(table)) === (await other.count(table)) && (await digestOf(one, table)) === (await digestOf(other, table));
    if (!areSame) return false;
  }
  return true;
}

async function digestOf(side: TableSide, table: Table): Promise<string> {
  const hash = createHash("sha256");
  for await (const page of side.pages(table)) note(hash, page);
  return hash.digest("hex");
}

function note(hash: ReturnType<typeof createHash>, page: Page): void {
  for (const row of page) hash.update(`${JSON.stringify(row)}\n`);
}
