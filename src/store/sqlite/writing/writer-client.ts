import { Worker } from "node:worker_threads";
import { PdError, isErrorCode, messageOf } from "../../../domain/errors.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Identity } from "../../../ports/stores/subscription-store.ts";
import type { Revision } from "../file/open.ts";
import { isFencedMessage } from "../rows/run-message.ts";
import type { WriteError, WriteReply, WriteRequest, Writes } from "./write-request.ts";

export interface WriterSettings {
  readonly path: string;
  readonly migrations: string;
  readonly entry: string;
  readonly maintenanceEntry: string;
  /** Stored in a new database. */
  readonly identity: Identity;
  /** The home was used before, so a missing database is an error. */
  readonly mustExist: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Later writes fail. */
  readonly onDamage: (reason: string) => void;
  readonly onUnchecked: (reason: string) => void;
  /** Called for each row left out of a list. */
  readonly onUnreadable: (problem: string) => void;
  readonly onRevision: (revision: Revision) => void;
}

/** Limits for writes without a waiting caller. */
const SOON_MS = 5;
const SOON_AT_MOST = 64;

interface Waiting {
  /** Cleared when settled: V8 keeps entries of an outgrown map for a while. */
  end: WaitingEnd | undefined;
  /** The thread may have performed it even without an answer. */
  isSent: boolean;
}

interface WaitingEnd {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

type StartSettings = Pick<WriterSettings, "entry" | "path" | "migrations" | "onRevision">;

/** Has the thread perform writes in call order. */
export class WriterClient {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #unsent: WriteRequest[] = [];
  #isFlushing = false;
  #soon: NodeJS.Timeout | undefined;
  #lastId = 0;
  #isClosed = false;
  #hasEnded = false;
  #reason = "its thread has ended";

  /** Throws PD_DATABASE_UNUSABLE, PD_DATABASE_NEWER or PD_NOT_STORED. */
  static async start({ entry, path, migrations, onRevision }: StartSettings): Promise<WriterClient> {
    const worker = new Worker(entry, { workerData: { path, migrations } });
    await new Promise<void>((resolve, reject) => {
      worker.once("error", reject);
      worker.on("message", function read(reply: WriteReply) {
        if (reply.revision !== undefined) return onRevision(reply.revision);
        worker.off("error", reject).off("message", read);
        if (reply.error === undefined) resolve();
        else reject(errorOf(reply.error));
      });
    });
    return new WriterClient(worker);
  }

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (replies: readonly WriteReply[]) => replies.forEach((reply) => this.#settle(reply)));
    worker.on("error", (error) => (this.#reason = messageOf(error)));
    worker.on("exit", () => {
      this.#hasEnded = true;
      this.#failAll();
    });
  }

  write<Verb extends keyof Writes>(verb: Verb, ...values: Parameters<Writes[Verb]>): Promise<ReturnType<Writes[Verb]>> {
    return this.#send({ verb, values });
  }

  /** No caller waits: sent with the next write or after a few milliseconds. */
  writeSoon<Verb extends keyof Writes>(verb: Verb, ...values: Parameters<Writes[Verb]>): Promise<ReturnType<Writes[Verb]>> {
    return this.#send({ verb, values }, { isUrgent: false });
  }

  scrub(): Promise<void> {
    return this.#send<undefined>({ verb: "scrub", values: [] });
  }

  /** Makes every later write fail. */
  async markDamaged(reason: string): Promise<void> {
    await this.#send<undefined>({ verb: "damaged", values: [reason] });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#send<undefined>({ verb: "close", values: [] });
  }

  #send<Value>(request: Omit<WriteRequest, "id">, { isUrgent } = { isUrgent: true }): Promise<Value> {
    if (this.#hasEnded) return Promise.reject(new PdError("PD_NOT_STORED", `Cannot write to the database: ${this.#reason}`, { fix: "Restart the server" }));
    return new Promise<Value>((resolve, reject) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, { end: { resolve: (value) => resolve(value as Value), reject }, isSent: false });
      this.#unsent.push({ id, verb: request.verb, values: request.values });
      if (isUrgent || this.#unsent.length >= SOON_AT_MOST) this.#flushThisTurn();
      else this.#soon ??= setTimeout(() => this.#flush(), SOON_MS);
    });
  }

  #flushThisTurn(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => this.#flush());
  }

  /** Requests of one turn usually share a transaction. */
  #flush(): void {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    this.#isFlushing = false;
    const batch = this.#unsent;
    this.#unsent = [];
    if (this.#hasEnded || batch.length === 0) return;
    this.#post(batch);
  }

  #post(batch: readonly WriteRequest[]): void {
    const moved: ArrayBuffer[] = [];
    for (const { id, values } of batch) {
      const waiting = this.#waiting.get(id);
      if (waiting !== undefined) waiting.isSent = true;
      const write = values[0];
      if (isFencedMessage(write)) for (const { bytes } of write.eventParts ?? []) moved.push(bytes.buffer);
    }
    try {
      this.#worker.postMessage(batch, moved);
    } catch (error) {
      this.#notPosted(batch, error);
    }
  }

  /** Nested too deep to be sent. Only its request fails. */
  #notPosted(batch: readonly WriteRequest[], error: unknown): void {
    if (batch.length > 1) return batch.forEach((request) => this.#post([request]));
    for (const { id } of batch)
      this.#take(id)?.reject(new PdError("PD_FAILED", `Cannot write to the database: the value cannot be sent to its thread: ${messageOf(error)}`));
  }

  #settle({ id, value, error }: WriteReply): void {
    const end = this.#take(id);
    if (error === undefined) end?.resolve(value);
    else end?.reject(errorOf(error));
  }

  #take(id: number): WaitingEnd | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(id);
    const { end } = waiting;
    waiting.end = undefined;
    return end;
  }

  /** A request that was sent is in doubt: the thread may have died after storing it. */
  #failAll(): void {
    for (const { end, isSent } of this.#waiting.values())
      end?.reject(
        isSent
          ? new PdError("PD_IN_DOUBT", `Cannot confirm a write to the database: ${this.#reason}`)
          : new PdError("PD_NOT_STORED", `Cannot write to the database: ${this.#reason}`, { fix: "Restart the server" }),
      );
    this.#waiting.clear();
  }
}

function errorOf({ code, message, fix }: WriteError): PdError {
  return new PdError(isErrorCode(code) ? code : "PD_FAILED", message, fix === undefined ? {} : { fix });
}
