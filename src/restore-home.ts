import { existsSync } from "node:fs";
import { join } from "node:path";
import { PdError } from "./domain/errors.ts";
import { newestRevision } from "./store/sqlite/open.ts";
import { type Restored, restoreDatabase } from "./store/sqlite/restore.ts";
import { systemClock } from "./system/clock.ts";
import { holdLock } from "./system/file-lock.ts";
import { makeHome } from "./system/home-folder.ts";
import { programFile } from "./system/program-files.ts";

/**
 * Puts a backup in the place of the database of a server that does not run. `mayReplace`: also where there is one, which
 * is moved aside. Throws PD_HOME_IN_USE, PD_CONFLICT, PD_BAD_INPUT for a file that is no backup.
 */
export async function restoreHome(backup: string, { home: folder, mayReplace }: { home: string; mayReplace: boolean }): Promise<Restored> {
  const home = await makeHome(folder);
  const lock = holdLock(join(home, "server.lock"));
  if (lock === undefined) throw new PdError("PD_HOME_IN_USE", `Cannot restore ${backup}: a server runs on ${home}`, { fix: "pd down" });
  try {
    const database = join(home, "headwater.db");
    if (existsSync(database) && !mayReplace)
      throw new PdError("PD_CONFLICT", `Cannot restore ${backup}: ${home} has a database`, { fix: "--yes moves it aside and puts the backup in its place" });
    return await restoreDatabase(backup, database, { now: systemClock.now(), newest: newestRevision(programFile("migrations")) });
  } finally {
    lock.release();
  }
}
