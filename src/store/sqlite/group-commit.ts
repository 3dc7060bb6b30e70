import type { Database, Statement } from "../../database/driver.ts";
import { Publisher } from "./deliveries.ts";
import { row } from "./rows.ts";
import { SourceProgress } from "./source-progress.ts";
import type { Witness } from "./witness.ts";

/**
 * Lets all that waits share one transaction, and so one fsync; each transaction is counted, and the witness told. Between
 * two of them it remembers what it has looked up, until others write to the database.
 */
export class GroupCommit {
  readonly progress: SourceProgress;
  readonly publisher: Publisher;
  readonly #db: Database;
  readonly #witness: Witness;
  readonly #countCommit: Statement;
  readonly #readVersion: Statement;
  /** Of the database as it was left: another one has been written since by others. */
  #version: unknown;

  constructor(db: Database, witness: Witness) {
    this.#db = db;
    this.#witness = witness;
    this.#countCommit = db.prepare("update commits set count = count + 1 returning count");
    this.#readVersion = db.prepare("pragma data_version");
    this.progress = new SourceProgress(db);
    this.publisher = new Publisher(db);
  }

  /** What `work` returns, once all that it wrote is on disk. What it throws undoes all of it. */
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

  /** Before a write that changes who listens, or what changes with every run: all is written, and looked up anew. */
  settle(): void {
    this.progress.flush();
    this.forget();
  }

  /** What was looked up, or is not written yet, in a transaction that is undone. */
  forget(): void {
    this.progress.forget();
    this.publisher.forget();
  }

  /** What others have written is looked up. */
  #forgetIfWritten(): void {
    const version = row(this.#readVersion.get())?.["data_version"];
    if (version !== this.#version) this.forget();
    this.#version = version;
  }

  /** What is committed counts whether it can be noted or not: a mark that lags tells of less. */
  #note(commits: number): void {
    try {
      this.#witness.note(commits);
    } catch {
      // A full disk, most likely.
    }
  }
}
