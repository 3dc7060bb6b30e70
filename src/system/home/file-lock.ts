import { openDatabase } from "../../database/database.ts";
import type { Database } from "../../database/driver.ts";
import { PdError, codeOf, isDiskProblem, messageOf } from "../../domain/errors.ts";

/** Undefined when another process holds the lock. The system releases the lock of a killed process. Throws PD_HOME_UNUSABLE, PD_NOT_STORED, PD_FAILED. */
export function holdLock(path: string): { release(): void } | undefined {
  let db: Database | undefined;
  try {
    const opened = openDatabase(path, { timeoutMs: 0 });
    db = opened;
    db.pragma("locking_mode = exclusive");
    db.exec("begin exclusive");
    return { release: () => opened.close() };
  } catch (error) {
    db?.close();
    if (codeOf(error)?.startsWith("SQLITE_BUSY") === true) return undefined;
    if (error instanceof PdError) throw error;
    if (codeOf(error) === "SQLITE_NOTADB")
      throw new PdError("PD_HOME_UNUSABLE", `Cannot lock ${path}: not a lock of this program`, { fix: `Remove it: rm ${path}`, cause: error });
    throw new PdError(isDiskProblem(error) ? "PD_NOT_STORED" : "PD_FAILED", `Cannot lock ${path}: ${messageOf(error)}`, { cause: error });
  }
}
