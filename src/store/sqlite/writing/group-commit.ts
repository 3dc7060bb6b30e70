import type { Database, Statement } from "../../../database/driver.ts";
import { Publisher } from "../tables/deliveries.ts";
import { row } from "../../rows/rows.ts";
import { SourceProgress } from "../rows/source-progress.ts";
import type { Witness } from "../file/witness.ts";

/** One transaction with one fsync. Caches what it reads until another connection writes: that of a second host, or of the SQLite shell. */
export class GroupCommit {
  readonly progress: SourceProgress;
  readonly publisher: Publisher;
  readonly #db: Database;
  readonly #witness: Witness;
  readonly #countCommit: Statement;
  readonly #readVersion: Statement;
  /** `data_version`, which changes when another connection writes. */
  #version: unknown;

  constructor(db: Database, witness: Witness) {
    this.#db = db;
    this.#witness = witness;
    this.#countCommit = db.prepare("update commits set count = count + 1 returning count");
    this.#readVersion = db.prepare("pragma data_version");
    this.progress = new SourceProgress(db);
    this.publisher = new Publisher(db);
  }

  /** Returns once the data is on disk. */
  perform<Value>(work: () => Value): Value {
    try {
      const { made, commits } = this.#db.transaction(() => {
        this.#forgetIfWritten();
        const value = work();
        this.progress.flush();
        return { made: value, commits: Number(row(this.#countCommit.get())?.["count"]) };
      });
      this.#note(commits);
      return made;
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** Call before a write that changes subscriptions or source progress. */
  settle(): void {
    this.progress.flush();
    this.forget();
  }

  forget(): void {
    this.progress.forget();
    this.publisher.forget();
  }

  #forgetIfWritten(): void {
    const version = row(this.#readVersion.get())?.["data_version"];
    if (version !== this.#version) this.forget();
    this.#version = version;
  }

  /** Must not fail the commit. A mark that lags only weakens the check for lost commits. */
  #note(commits: number): void {
    try {
      this.#witness.note(commits);
    } catch {
      // Most likely a full disk.
    }
  }
}
