import { openDatabase } from "../database/database.ts";
import { PdError, codeOf, isDiskProblem, messageOf } from "../domain/errors.ts";

/**
 * Holds a lock file for as long as the process lives, by those of SQLite: the operating system lets go of it however the process ends.
 * `undefined` when another process holds it.
 */
export function holdLock(path: string): { release(): void } | undefined {
  const db = openDatabase(path, { timeoutMs: 0 });
  try {
    db.pragma("locking_mode = exclusive");
    db.exec("begin exclusive");
    return { release: () => db.close() };
  } catch (error) {
    db.close();
    if (codeOf(error)?.startsWith("SQLITE_BUSY") === true) return undefined;
    throw new PdError(isDiskProblem(error) ? "PD_NOT_STORED" : "PD_FAILED", `Cannot lock ${path}: ${messageOf(error)}`, { cause: error });
  }
}
