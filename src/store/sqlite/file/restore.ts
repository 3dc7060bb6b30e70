import { copyFile, rename, rm, stat } from "node:fs/promises";
import { openDatabase } from "../../../database/database.ts";
import type { Database } from "../../../database/driver.ts";
import { PdError, codeOf, messageOf } from "../../../domain/errors.ts";
import { damageOf, requireKnownRevision } from "./open.ts";
import { row } from "../../rows/rows.ts";
import { Witness, witnessPath } from "./witness.ts";

/** Without events of uncommitted runs. */
const EVENTS = "events e where seq <= (select last_seq from source_progress p where p.source_id = e.source_id)";

export interface Restored {
  readonly sources: number;
  readonly workflows: number;
  readonly events: number;
  /** Omitted when no database existed. */
  readonly before?: string;
}

/**
 * Moves the previous database aside. It must not be in use. `newest` is the newest supported schema revision. Throws
 * PD_BAD_INPUT for a damaged or other file, and PD_DATABASE_NEWER.
 */
export async function restoreDatabase(backup: string, path: string, { now, newest }: { now: number; newest: number }): Promise<Restored> {
  // Opening a pipe would block.
  if ((await stat(backup).catch(() => undefined))?.isFile() === false)
    throw new PdError("PD_BAD_INPUT", `Cannot restore ${backup}: it is not a file`, { details: {} });
  const { commits, ...counts } = judge(backup, newest);
  const draft = `${path}.restoring`;
  await copyDatabase(backup, draft);
  const before = `${path}.before-${new Date(now).toISOString().replaceAll(/[:.]/g, "-")}`;
  const hadOne = await moveAside(path, before);
  // An interrupted restore may leave a log without its database.
  for (const part of ["-wal", "-shm"]) await moveAside(path + part, before + part);
  // An interruption from here on leaves only the copy. Running the command again completes the restore.
  const witness = new Witness(witnessPath(path));
  // Before the rename: otherwise an older backup would look like a database that lost its last commits.
  witness.note(commits);
  witness.close();
  await rename(draft, path);
  return { ...counts, ...(hadOne ? { before } : {}) };
}

/** Includes commits that are only in the log, as after a kill. */
async function copyDatabase(from: string, to: string): Promise<void> {
  const log = await stat(`${from}-wal`).catch(() => undefined);
  if (log === undefined || log.size === 0) return copyFile(from, to);
  await rm(to, { force: true });
  const db = openDatabase(from, { isReadOnly: true, timeoutMs: 5000 });
  try {
    db.prepare("vacuum into ?").run(to);
  } finally {
    db.close();
  }
}

async function moveAside(path: string, to: string): Promise<boolean> {
  try {
    await rename(path, to);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

function judge(backup: string, newest: number): Pick<Restored, "sources" | "workflows" | "events"> & { readonly commits: number } {
  let db: Database;
  try {
    db = openDatabase(backup, { isReadOnly: true, timeoutMs: 5000 });
  } catch (error) {
    throw new PdError("PD_FILE_NOT_FOUND", `Cannot read the backup ${backup}: ${messageOf(error)}`, { cause: error });
  }
  try {
    const damage = damageOf(db);
    if (damage !== undefined) throw new PdError("PD_BAD_INPUT", `Cannot restore ${backup}: it is damaged: ${damage}`, { details: {} });
    const count = (what: string): number => Number(row(db.prepare(`select count(*) as count from ${what}`).get())?.["count"]);
    const commits = Number(row(db.prepare("select count from commits").get())?.["count"]);
    requireKnownRevision(db, newest);
    const deployed = (prefix: string): number => count(`deployed_components where id like '${prefix}%'`);
    return { sources: deployed("dc"), workflows: deployed("p"), events: count(EVENTS), commits };
  } catch (error) {
    if (error instanceof PdError) throw error;
    throw new PdError("PD_BAD_INPUT", `Cannot restore ${backup}: it is not a backup of this program: ${messageOf(error)}`, { cause: error, details: {} });
  } finally {
    db.close();
  }
}
