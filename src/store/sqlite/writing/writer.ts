import { PdError, codeOf, isDiskProblem, messageOf } from "../../../domain/errors.ts";
import { accountWrites } from "../tables/accounts.ts";
import { componentWrites } from "../tables/components.ts";
import { dataStoreWrites } from "../tables/data-stores.ts";
import { attemptWrites, deliveryWrites } from "../tables/deliveries.ts";
import { DisownedFences } from "./disowned-fences.ts";
import { EventStage, type LargeWrite } from "./event-stage.ts";
import { eventWrites } from "../tables/events.ts";
import { GroupCommit } from "./group-commit.ts";
import { keyWrites } from "../tables/keys.ts";
import type { Database, Statement } from "../../../database/driver.ts";
import { isDamage, isSqliteAtLeast } from "../file/open.ts";
import type { Witness } from "../file/witness.ts";
import { pendingWrites } from "../tables/pending.ts";
import { postponedWrites } from "../tables/postponed.ts";
import { registryWrites } from "../tables/registries.ts";
import { retentionWrites } from "../tables/retention.ts";
import { row } from "../../rows/rows.ts";
import { secretWrites } from "../tables/secrets.ts";
import { runWrites, stateWrites } from "../tables/runs.ts";
import { stagedEvents } from "../rows/staged-events.ts";
import { subscriptionWrites } from "../tables/subscriptions.ts";
import { alertWrites } from "../tables/alerts.ts";
import { tallyWrites } from "../tables/tallies.ts";
import { timerWrites } from "../tables/timers.ts";
import { workflowWrites } from "../tables/workflow-writes.ts";
import { WRITE_RULES, isWrite } from "./write-rules.ts";
import type { WriteError, WriteReply, WriteRequest, Writes } from "./write-request.ts";

/** Unless the log has 8 MB: longer checkpoints delay commits longer. */
const QUIET_MS = 50;
const CHECKPOINT_AFTER_PAGES = 500;
const CHECKPOINT_AT_LATEST_PAGES = 2000;
/** Used when SQLite cannot report the log's length. */
const PAGES_OF_BATCH = 8;

/** One transaction with one fsync. When a request fails, all run again, each in its own savepoint. */
export class Writer {
  readonly #db: Database;
  readonly #verbs: Writes;
  readonly #group: GroupCommit;
  readonly #stage: EventStage;
  readonly #disowned = new DisownedFences();
  #quiet: NodeJS.Timeout | undefined;
  readonly #witness: Witness;
  readonly #read: Statement;
  readonly #lookAtLog: Statement;
  readonly #moveLog: Statement;
  readonly #canLook: boolean;
  #batches = 0;
  /** Why writes are refused. */
  #damage: string | undefined;

  constructor(db: Database, witness: Witness) {
    this.#db = db;
    this.#witness = witness;
    this.#read = db.prepare("select count from commits");
    this.#lookAtLog = db.prepare("pragma wal_checkpoint(noop)");
    this.#moveLog = db.prepare("pragma wal_checkpoint(passive)");
    // Before 3.51, `noop` would run a checkpoint.
    this.#canLook = isSqliteAtLeast(db, [3, 51, 0]);
    this.#group = new GroupCommit(db, witness);
    this.#verbs = {
      ...componentWrites(db),
      ...runWrites(db, this.#group),
      ...stateWrites(db),
      ...pendingWrites(db),
      ...postponedWrites(db),
      ...eventWrites(db),
      ...timerWrites(db),
      ...retentionWrites(db),
      ...subscriptionWrites(db),
      ...attemptWrites(db, this.#group.publisher),
      ...deliveryWrites(db),
      ...keyWrites(db),
      ...dataStoreWrites(db),
      ...registryWrites(db),
      ...accountWrites(db),
      ...secretWrites(db),
      ...tallyWrites(db),
      ...alertWrites(db),
      ...workflowWrites(db),
    };
    this.#stage = new EventStage(db, this.#group);
    this.#verbs.dropDonePending();
    const staged = stagedEvents(db);
    for (const id of staged.left()) this.#tryToRemove(() => staged.drop(id));
  }

  perform(batch: readonly WriteRequest[]): WriteReply[] {
    if (batch.length === 0) return [];
    if (this.#damage !== undefined) return this.#refuseAll(batch, this.#damage);
    try {
      return this.#performTogether(batch) ?? this.#group.perform(() => batch.map((request) => this.#performAlone(request)));
    } catch (error) {
      if (isDamage(error)) this.markDamaged(messageOf(error));
      // The whole transaction failed, as on a full disk.
      const failure = errorText(error);
      for (const { values } of batch) this.#disowned.add(values[0]);
      return batch.map(({ id }) => ({ id, error: failure }));
    }
  }

  /** Undefined, with nothing written, when any request fails. */
  #performTogether(batch: readonly WriteRequest[]): WriteReply[] | undefined {
    try {
      return this.#group.perform(() => batch.map((request) => this.#performOne(request)));
    } catch (error) {
      if (isDamage(error)) throw error;
      return undefined;
    }
  }

  /** Returns the progress when another write waits. */
  writeLarge(large: LargeWrite, isAwaited: () => boolean): LargeWrite | WriteReply {
    const { request, told } = large;
    if (this.#damage !== undefined) return { id: request.id, error: damaged(this.#damage) };
    try {
      return this.#group.perform(() => {
        this.#refuseDisowned(told);
        const next = this.#stage.write(large, isAwaited);
        const last = this.#stage.end(next);
        return last === undefined ? next : this.#performOne(last);
      });
    } catch (error) {
      if (isDamage(error)) this.markDamaged(messageOf(error));
      this.#disowned.add(told);
      if (this.#damage === undefined) this.#giveUp(large);
      return { id: request.id, error: errorText(error) };
    }
  }

  #giveUp(large: LargeWrite): void {
    this.#tryToRemove(() => this.#stage.giveUp(large));
  }

  /** Harmless: reads exclude staged events, and the source's next event removes them. */
  #tryToRemove(remove: () => void): void {
    try {
      this.#group.perform(remove);
    } catch (error) {
      if (isDamage(error)) this.markDamaged(messageOf(error));
    }
  }

  /** The database can still be read and backed up. */
  markDamaged(reason: string): void {
    this.#damage ??= reason;
  }

  #refuseAll(batch: readonly WriteRequest[], damage: string): WriteReply[] {
    return batch.map(({ id }) => ({ id, error: damaged(damage) }));
  }

  /** `vacuum` cannot run in a transaction. */
  scrub(id: number): WriteReply {
    try {
      this.#db.exec("vacuum");
      this.#db.pragma("wal_checkpoint(truncate)");
      return { id };
    } catch (error) {
      return { id, error: errorText(error) };
    }
  }

  close(): void {
    clearTimeout(this.#quiet);
    try {
      if (this.#damage === undefined) this.#db.pragma("wal_checkpoint(truncate)");
    } catch {
      // A full disk. The log keeps all commits.
    }
    this.#db.close();
    this.#witness.close();
  }

  #performOne({ id, verb, values }: WriteRequest): WriteReply {
    if (!isWrite(verb)) return { id };
    this.#refuseDisowned(values[0]);
    if (WRITE_RULES[verb].leavesCaches !== true) this.#group.settle();
    const value: unknown = Reflect.apply(this.#verbs[verb], this.#verbs, values);
    return { id, value };
  }

  #refuseDisowned(write: unknown): void {
    const disowned = this.#disowned.refuses(write);
    if (disowned !== undefined) throw new PdError("PD_NOT_STORED", `Cannot store a run of ${disowned}: an earlier run could not be stored`);
  }

  #performAlone(request: WriteRequest): WriteReply {
    try {
      return this.#db.transaction(() => {
        const reply = this.#performOne(request);
        this.#group.progress.flush();
        return reply;
      });
    } catch (error) {
      this.#group.forget();
      if (!this.#db.inTransaction || isDamage(error)) throw error;
      this.#disowned.add(request.values[0]);
      return { id: request.id, error: errorText(error) };
    }
  }

  /** Call after answering a batch. */
  tidy(): void {
    if (this.#damage !== undefined) return;
    const pages = this.#pagesToCheckpoint();
    if (pages === undefined || pages >= CHECKPOINT_AT_LATEST_PAGES) return this.#checkpoint();
    if (pages < CHECKPOINT_AFTER_PAGES) return;
    if (this.#quiet === undefined) this.#quiet = setTimeout(() => this.#checkpoint(), QUIET_MS);
    else this.#quiet.refresh();
  }

  /** Undefined when the log cannot be read. */
  #pagesToCheckpoint(): number | undefined {
    try {
      if (!this.#canLook) return ++this.#batches * PAGES_OF_BATCH;
      // A connection sees the log as of its last read.
      this.#read.get();
      const state = row(this.#lookAtLog.get());
      return Number(state?.["log"] ?? 0) - Number(state?.["checkpointed"] ?? 0);
    } catch {
      return undefined;
    }
  }

  #checkpoint(): void {
    clearTimeout(this.#quiet);
    this.#quiet = undefined;
    this.#batches = 0;
    try {
      this.#moveLog.get();
    } catch {
      // A full disk. The next checkpoint retries.
    }
  }
}

export function errorText(error: unknown): WriteError {
  if (error instanceof PdError) return { code: error.code, message: error.message, fix: error.fix };
  if (isDamage(error)) return damaged(messageOf(error));
  const message = `Cannot write to the database: ${messageOf(error)} (${codeOf(error)})`;
  if (codeOf(error)?.startsWith("SQLITE_BUSY") === true)
    return { code: "PD_NOT_STORED", message, fix: "Stop other programs that write to it, such as the SQLite shell, and retry" };
  return isDiskProblem(error) ? { code: "PD_NOT_STORED", message } : { code: "PD_FAILED", message: messageOf(error) };
}

function damaged(reason: string): WriteError {
  return { code: "PD_DATABASE_DAMAGED", message: `Cannot write to the database: it is damaged: ${reason}` };
}
