import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";
import { PdError, codeOf } from "../../../domain/errors.ts";

const LENGTH = 64;

export function witnessPath(database: string): string {
  return database.replace(/(\.db)?$/, ".mark");
}

/**
 * Holds the number of commits, because a database cannot detect that its end is missing. Written after each commit
 * without fsync, so it never exceeds the database and may lag after a power cut.
 */
export class Witness {
  readonly #path: string;
  #file: number | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** 0 when the file does not exist. */
  read(): number {
    try {
      const count = Number(/^commits (\d+)\s*$/.exec(readFileSync(this.#path, "utf8"))?.[1]);
      return Number.isSafeInteger(count) ? count : 0;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return 0;
      throw error;
    }
  }

  note(commits: number): void {
    this.#file ??= openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600);
    writeSync(this.#file, `commits ${commits}`.padEnd(LENGTH - 1).concat("\n"), 0);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }

  lost(database: string, found: number, acknowledged: number): PdError {
    const what =
      found === 0
        ? "it is missing or empty, but it existed before"
        : `it ends with commit ${found}, but ${acknowledged} were acknowledged: the end of its write-ahead log is missing, or an older copy replaced it`;
    return new PdError("PD_DATABASE_UNUSABLE", `Cannot open the database ${database}: ${what}`, {
      fix: `Put the database back with its -wal file, or restore a backup (pd restore <file>). To continue with the current data, remove ${this.#path}`,
    });
  }
}
