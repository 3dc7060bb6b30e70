import { existsSync } from "node:fs";
import { join } from "node:path";
import { PdError } from "./domain/errors.ts";
import { newestRevision } from "./store/sqlite/file/open.ts";
import { type Restored, restoreDatabase } from "./store/sqlite/file/restore.ts";
import { systemClock } from "./system/clock.ts";
import { holdLock } from "./system/home/file-lock.ts";
import { makeHome } from "./system/home/home-folder.ts";
import { programFile } from "./system/program-files.ts";

/**
 * With `mayReplace`, an existing database is moved aside. Without it, throws PD_CONFLICT. Also throws PD_HOME_IN_USE when a server runs, and PD_BAD_INPUT
 * when the file is not a backup.
 */
export async function restoreHome(backup: string, { home: folder, mayReplace }: { home: string; mayReplace: boolean }): Promise<Restored> {
  const home = await makeHome(folder);
  const lock = holdLock(join(home, "server.lock"));
  if (lock === undefined) throw new PdError("PD_HOME_IN_USE", `Cannot restore ${backup}: a server is running on ${home}`, { fix: "pd down" });
  try {
    const database = join(home, "headwater.db");
    if (existsSync(database) && !mayReplace)
      throw new PdError("PD_CONFLICT", `Cannot restore ${backup}: ${home} already has a database`, {
        fix: "Use --yes to move it aside and replace it with the backup",
      });
    return await restoreDatabase(backup, database, { now: systemClock.now(), newest: newestRevision(programFile("migrations")) });
  } finally {
    lock.release();
  }
}
