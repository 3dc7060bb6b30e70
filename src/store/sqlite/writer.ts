/**
 * The writer's thread: it alone writes to the database, so a slow disk holds up no one but those who wait for a
 * commit. All requests that have arrived share one transaction, and so one fsync. When one of them fails, all are made
 * again, each in a savepoint of its own, so that it undoes only itself.
 */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { PdError, codeOf, messageOf } from "../../domain/errors.ts";
import { type AccountWrites, accountWrites } from "./accounts.ts";
import { type ComponentWrites, componentWrites } from "./components.ts";
import { type DataStoreWrites, dataStoreWrites } from "./data-stores.ts";
import { type DeliveryWrites, Publisher, deliveryWrites } from "./deliveries.ts";
import { type EventWrites, eventWrites } from "./events.ts";
import { type KeyWrites, keyWrites } from "./keys.ts";
import type { Database, Statement } from "../../database/driver.ts";
import { collectWhenQuiet } from "../../system/quiet-heap.ts";
import { type Revision, openForWriting } from "./open.ts";
import { Witness, witnessPath } from "./witness.ts";
import { type PendingWrites, pendingWrites } from "./pending.ts";
import { type PostponedWrites, postponedWrites } from "./postponed.ts";
import { type RegistryWrites, registryWrites } from "./registries.ts";
import { type RetentionWrites, retentionWrites } from "./retention.ts";
import { row } from "./rows.ts";
import { type SecretWrites, secretWrites } from "./secrets.ts";
import { type RunWrites, runWrites } from "./runs.ts";
import { SourceProgress } from "./source-progress.ts";
import { type SubscriptionWrites, subscriptionWrites } from "./subscriptions.ts";
import { type TimerWrites, timerWrites } from "./timers.ts";
import type { TravellingAddendum, TravellingRun } from "./travelling.ts";
import { type WorkflowWrites, workflowWrites } from "./workflows.ts";

/** Everything that writes, by name. */
export type Writes = ComponentWrites &
  RunWrites &
  PendingWrites &
  PostponedWrites &
  EventWrites &
  TimerWrites &
  RetentionWrites &
  SubscriptionWrites &
  DeliveryWrites &
  KeyWrites &
  DataStoreWrites &
  RegistryWrites &
  AccountWrites &
  SecretWrites &
  WorkflowWrites;

export interface WriteRequest {
  readonly id: number;
  readonly verb: keyof Writes | "close" | "scrub" | "damaged";
  readonly values: readonly unknown[];
}

export interface WriteError {
  readonly code: string;
  readonly message: string;
  /** The next step, where it is not that of the code. */
  readonly fix?: string;
}

export interface WriteReply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: WriteError;
  /** It is not open yet: its schema is being brought to this. */
  readonly revision?: Revision;
}

const MAX_BATCH = 256;
/** Checkpoints wait for this much quiet, and the log grows no longer than 8 MB: more at once would hold up commits for longer. */
const QUIET_MS = 50;
const CHECKPOINT_AFTER_PAGES = 500;
const CHECKPOINT_AT_LATEST_PAGES = 2000;
/** A guess, where the log cannot be looked at. */
const PAGES_OF_BATCH = 8;

/** They change neither who listens nor what changes with every run, or say so to Publisher and SourceProgress themselves. */
const LEAVE_MEMORY: ReadonlySet<keyof Writes> = new Set<keyof Writes>(["commit", "append", "storePending", "recordAttempt"]);

function serve(port: NonNullable<typeof parentPort>): void {
  const { path, migrations }: { path: string; migrations: string } = workerData;
  const witness = new Witness(witnessPath(path));
  let writer: Writer;
  try {
    writer = new Writer(
      openForWriting(path, migrations, { witness, onRevision: (revision) => port.postMessage({ id: 0, revision } satisfies WriteReply) }),
      witness,
    );
  } catch (error) {
    port.postMessage({ id: 0, error: errorText(error) } satisfies WriteReply);
    return;
  }
  port.postMessage({ id: 0 } satisfies WriteReply);
  collectWhenQuiet();
  port.on("message", (first: readonly WriteRequest[]) => {
    const batch = [...first];
    while (batch.length < MAX_BATCH) {
      const next: { message: readonly WriteRequest[] } | undefined = receiveMessageOnPort(port);
      if (next === undefined) break;
      batch.push(...next.message);
    }
    const replies = writer.perform(batch.filter(({ verb }) => isWrite(verb)));
    for (const { id, verb, values } of batch) {
      if (verb !== "damaged") continue;
      writer.markDamaged(String(values[0]));
      replies.push({ id });
    }
    for (const { id, verb } of batch) if (verb === "scrub") replies.push(writer.scrub(id));
    const closing = batch.find(({ verb }) => verb === "close");
    if (closing !== undefined) writer.close();
    port.postMessage(closing === undefined ? replies : [...replies, { id: closing.id }]);
    if (closing === undefined) writer.tidy();
    else port.close();
  });
}

function isWrite(verb: WriteRequest["verb"]): verb is keyof Writes {
  return verb !== "close" && verb !== "scrub" && verb !== "damaged";
}

class Writer {
  readonly #db: Database;
  readonly #verbs: Writes;
  readonly #progress: SourceProgress;
  readonly #publisher: Publisher;
  /** Source → the fence under which a commit failed. */
  readonly #disowned = new Map<string, number>();
  #quiet: NodeJS.Timeout | undefined;
  readonly #witness: Witness;
  readonly #countCommit: Statement;
  readonly #lookAtLog: Statement;
  readonly #canLook: boolean;
  /** Since the last checkpoint. */
  #batches = 0;
  /** Why nothing is written any more. */
  #damage: string | undefined;

  constructor(db: Database, witness: Witness) {
    this.#db = db;
    this.#witness = witness;
    this.#countCommit = db.prepare("update commits set count = count + 1 returning count");
    this.#lookAtLog = db.prepare("pragma wal_checkpoint(noop)");
    this.#canLook = canLookAtLog(db);
    this.#progress = new SourceProgress(db);
    this.#publisher = new Publisher(db);
    this.#verbs = {
      ...componentWrites(db),
      ...runWrites(db, { progress: this.#progress, publisher: this.#publisher }),
      ...pendingWrites(db),
      ...postponedWrites(db),
      ...eventWrites(db),
      ...timerWrites(db),
      ...retentionWrites(db),
      ...subscriptionWrites(db),
      ...deliveryWrites(db, this.#publisher),
      ...keyWrites(db),
      ...dataStoreWrites(db),
      ...registryWrites(db),
      ...accountWrites(db),
      ...secretWrites(db),
      ...workflowWrites(db),
    };
    this.#verbs.dropDonePending();
  }

  perform(batch: readonly WriteRequest[]): WriteReply[] {
    if (batch.length === 0) return [];
    if (this.#damage !== undefined) return this.#refuseAll(batch, this.#damage);
    try {
      return this.#performTogether(batch) ?? this.#transaction(() => batch.map((request) => this.#performAlone(request)));
    } catch (error) {
      if (isDamage(error)) this.markDamaged(messageOf(error));
      // The transaction as a whole failed, as on a full disk: nothing of it is there, so nobody is told it is.
      const failure = errorText(error);
      for (const request of batch) this.#disown(request);
      return batch.map(({ id }) => ({ id, error: failure }));
    }
  }

  /** `undefined`: one of them failed, so nothing of any is written. That is rare, and then each gets a savepoint. */
  #performTogether(batch: readonly WriteRequest[]): WriteReply[] | undefined {
    try {
      return this.#transaction(() => batch.map((request) => this.#performOne(request)));
    } catch (error) {
      if (isDamage(error)) throw error;
      return undefined;
    }
  }

  #transaction(work: () => WriteReply[]): WriteReply[] {
    try {
      const { replies, commits } = this.#db.transaction(() => {
        const made = work();
        this.#progress.flush();
        return { replies: made, commits: Number(row(this.#countCommit.get())?.["count"]) };
      });
      this.#note(commits);
      return replies;
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  /** What was looked up or not yet written in a transaction that is undone. */
  #forget(): void {
    this.#progress.forget();
    this.#publisher.forget();
  }

  /** What is committed counts whether it can be noted or not: a mark that lags tells of less. */
  #note(commits: number): void {
    try {
      this.#witness.note(commits);
    } catch {
      // A full disk, most likely.
    }
  }

  /** From now on nothing is written: what is there may still be read and saved. */
  markDamaged(reason: string): void {
    this.#damage ??= reason;
  }

  #refuseAll(batch: readonly WriteRequest[], damage: string): WriteReply[] {
    const error = { code: "PD_DATABASE_DAMAGED", message: `Cannot write to the database: it is damaged: ${damage}` };
    return batch.map(({ id }) => ({ id, error }));
  }

  /** No transaction may go on meanwhile, so it is no verb like others. */
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
      // A full disk: what was committed is safe in the log.
    }
    this.#db.close();
    this.#witness.close();
  }

  #performOne({ id, verb, values }: WriteRequest): WriteReply {
    if (!isWrite(verb)) return { id };
    this.#refuseDisowned(values[0]);
    if (!LEAVE_MEMORY.has(verb)) {
      this.#progress.flush();
      this.#publisher.forget();
    }
    const value: unknown = Reflect.apply(this.#verbs[verb], this.#verbs, values);
    return { id, value };
  }

  #performAlone(request: WriteRequest): WriteReply {
    try {
      return this.#db.transaction(() => {
        const reply = this.#performOne(request);
        this.#progress.flush();
        return reply;
      });
    } catch (error) {
      this.#forget();
      if (!this.#db.inTransaction || isDamage(error)) throw error;
      this.#disown(request);
      return { id: request.id, error: errorText(error) };
    }
  }

  /**
   * A host whose commit failed remembers dedupe ids and values that are not stored. Commits that it sent before it
   * learns of that must not store them as a part of other runs: its fence counts no more.
   */
  #disown({ values }: WriteRequest): void {
    const [write] = values;
    if (isFenced(write)) this.#disowned.set(write.sourceId, write.fence);
  }

  #refuseDisowned(write: unknown): void {
    if (!isFenced(write) || this.#disowned.get(write.sourceId) !== write.fence) return;
    throw new PdError("PD_NOT_STORED", `Cannot store a run of ${write.sourceId}: one before it could not be stored`);
  }

  /** What nobody has to wait for, once a batch has been answered. */
  tidy(): void {
    if (this.#damage !== undefined) return;
    const pages = this.#pagesToCheckpoint();
    if (pages === undefined || pages >= CHECKPOINT_AT_LATEST_PAGES) return this.#checkpoint();
    if (pages < CHECKPOINT_AFTER_PAGES) return;
    if (this.#quiet === undefined) this.#quiet = setTimeout(() => this.#checkpoint(), QUIET_MS);
    else this.#quiet.refresh();
  }

  /** `undefined`: the disk does not tell. */
  #pagesToCheckpoint(): number | undefined {
    try {
      if (!this.#canLook) return ++this.#batches * PAGES_OF_BATCH;
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
      this.#db.pragma("wal_checkpoint(passive)");
    } catch {
      // A full disk: what was committed is safe in the log, and the next checkpoint tries again.
    }
  }
}

/** From 3.51 on SQLite tells how long its log is; older ones would write it back, which is what they are asked for then. */
function canLookAtLog(db: Database): boolean {
  const [major = 0, minor = 0] = String(row(db.prepare("select sqlite_version() as version").get())?.["version"])
    .split(".")
    .map(Number);
  return major > 3 || (major === 3 && minor >= 51);
}

function isDamage(error: unknown): boolean {
  const code = codeOf(error) ?? "";
  return code.startsWith("SQLITE_CORRUPT") || code.startsWith("SQLITE_NOTADB");
}

type Fenced = TravellingRun | TravellingAddendum;

function isFenced(write: unknown): write is Fenced {
  return typeof write === "object" && write !== null && "fence" in write;
}

function errorText(error: unknown): WriteError {
  if (error instanceof PdError) return { code: error.code, message: error.message, fix: error.fix };
  const code = codeOf(error) ?? "";
  if (isDamage(error)) return { code: "PD_DATABASE_DAMAGED", message: `Cannot write to the database: it is damaged: ${messageOf(error)}` };
  const isDisk =
    code.startsWith("SQLITE_FULL") || code.startsWith("SQLITE_IOERR") || code.startsWith("SQLITE_READONLY") || code === "ENOSPC" || code === "EROFS";
  return { code: isDisk ? "PD_NOT_STORED" : "PD_FAILED", message: isDisk ? `Cannot write to the database: ${messageOf(error)} (${code})` : messageOf(error) };
}

if (parentPort !== null) serve(parentPort);
