import { Worker } from "node:worker_threads";
import { PdError, isErrorCode, messageOf } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Identity } from "../../ports/subscription-store.ts";
import { DisownedFences } from "./disowned-fences.ts";
import type { InlineWriter } from "./inline-writer.ts";
import type { Revision } from "./open.ts";
import { isTravelling } from "./travelling.ts";
import type { WriteError, WriteReply, WriteRequest, Writes } from "./write-request.ts";

export interface WriterSettings {
  readonly path: string;
  readonly migrations: string;
  /** The built entry of the writer's thread. */
  readonly entry: string;
  /** The built entry of the maintenance thread. */
  readonly maintenanceEntry: string;
  /** Of a database that has none yet. */
  readonly identity: Identity;
  /** The home was used before: a database that is not there is missing. */
  readonly mustExist: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Damage was found; from now on nothing is written. */
  readonly onDamage: (reason: string) => void;
  /** The database could not be looked through for damage, this time. */
  readonly onUnchecked: (reason: string) => void;
  /** A row was left out of a list: it is named, with what is wrong with it. */
  readonly onUnreadable: (problem: string) => void;
  /** An earlier version has made the database: it is being brought to this revision. */
  readonly onRevision: (revision: Revision) => void;
}

/** What nobody waits for leaves after so long, or when there is so much of it. */
const SOON_MS = 5;
const SOON_AT_MOST = 64;
/** After so many transactions that were written inline, the thread looks after the log. */
const TIDY_AFTER = 32;

interface Waiting {
  /** `undefined` once it is settled: V8 keeps the entries of a map that was outgrown, for a while, and all that they hold. */
  end: WaitingEnd | undefined;
  /** It is on its way: what the thread has made of it, nobody knows before it answers. */
  isSent: boolean;
  /** What it is to write first. */
  write: unknown;
}

interface WaitingEnd {
  /** With what the verb returns: the other side is this program, too. */
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

type Inline = Pick<InlineWriter, "perform" | "close">;

type StartSettings = Pick<WriterSettings, "entry" | "path" | "migrations" | "onRevision"> & {
  /** Opens what writes inline, when the database is open; none: the thread makes every write. */
  readonly openInline?: () => Inline | undefined;
};

/**
 * Has writes made: inline when they are small and nothing is on its way to the writer's thread, else by that thread. So
 * they are made in the order in which they were asked for.
 */
export class WriterClient {
  readonly #worker: Worker;
  readonly #disowned = new DisownedFences();
  #inline: Inline | undefined;
  /** Writes that the thread has not answered. */
  #sentCount = 0;
  /** Transactions that were written inline since the thread looked after the log. */
  #untidied = 0;
  readonly #waiting = new Map<number, Waiting>();
  #unsent: WriteRequest[] = [];
  #isFlushing = false;
  #soon: NodeJS.Timeout | undefined;
  #lastId = 0;
  #isClosed = false;
  #hasEnded = false;
  #reason = "its thread has ended";

  /** Throws PD_DATABASE_UNUSABLE or PD_DATABASE_NEWER. */
  static async start({ entry, path, migrations, onRevision, openInline }: StartSettings): Promise<WriterClient> {
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
    try {
      return new WriterClient(worker, openInline?.());
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  }

  private constructor(worker: Worker, inline: Inline | undefined) {
    this.#worker = worker;
    this.#inline = inline;
    worker.on("message", (replies: readonly WriteReply[]) => replies.forEach((reply) => this.#settle(reply)));
    worker.on("error", (error) => (this.#reason = messageOf(error)));
    worker.on("exit", () => {
      this.#hasEnded = true;
      this.#closeInline();
      this.#failAll();
    });
  }

  write<Verb extends keyof Writes>(verb: Verb, ...values: Parameters<Writes[Verb]>): Promise<ReturnType<Writes[Verb]>> {
    return this.#send({ verb, values });
  }

  /** As `write`, of something that nobody waits for: it leaves with the next write, or after a few milliseconds together with others like it. */
  writeSoon<Verb extends keyof Writes>(verb: Verb, ...values: Parameters<Writes[Verb]>): Promise<ReturnType<Writes[Verb]>> {
    return this.#send({ verb, values }, { isUrgent: false });
  }

  /** Leaves nothing in the files that was deleted or replaced. */
  scrub(): Promise<void> {
    return this.#send<undefined>({ verb: "scrub", values: [] });
  }

  /** Refuses every later write, with this reason. */
  async markDamaged(reason: string): Promise<void> {
    this.#closeInline();
    await this.#send<undefined>({ verb: "damaged", values: [reason] });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // What was asked for before is written by the thread then.
    this.#closeInline();
    await this.#send<undefined>({ verb: "close", values: [] });
  }

  #send<Value>(request: Omit<WriteRequest, "id">, { isUrgent } = { isUrgent: true }): Promise<Value> {
    if (this.#hasEnded) return Promise.reject(new PdError("PD_NOT_STORED", `Cannot write to the database: ${this.#reason}`, { fix: "Start the server again" }));
    return new Promise<Value>((resolve, reject) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, { end: { resolve: (value) => resolve(value as Value), reject }, isSent: false, write: request.values[0] });
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

  /** What was asked for in one turn travels together, and will mostly share a transaction. */
  #flush(): void {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    this.#isFlushing = false;
    const batch = this.#unsent;
    this.#unsent = [];
    if (this.#hasEnded || batch.length === 0) return;
    if (!this.#writeInline(batch)) this.#post(batch);
  }

  /** False: nothing is written. */
  #writeInline(batch: readonly WriteRequest[]): boolean {
    const values = this.#sentCount > 0 ? undefined : this.#inline?.perform(batch, this.#disowned);
    if (values === undefined) return false;
    if (++this.#untidied >= TIDY_AFTER) {
      this.#untidied = 0;
      this.#worker.postMessage([{ id: 0, verb: "tidy", values: [] } satisfies WriteRequest]);
    }
    for (let place = 0; place < batch.length; place++) this.#take(batch[place]?.id ?? 0)?.resolve(values[place]);
    return true;
  }

  #post(batch: readonly WriteRequest[]): void {
    const moved: ArrayBuffer[] = [];
    for (const { id, values } of batch) {
      const waiting = this.#waiting.get(id);
      if (waiting !== undefined) waiting.isSent = true;
      const write = values[0];
      if (isTravelling(write)) for (const { bytes } of write.eventParts ?? []) moved.push(bytes.buffer);
    }
    this.#sentCount += batch.length;
    try {
      this.#worker.postMessage(batch, moved);
    } catch (error) {
      this.#sentCount -= batch.length;
      this.#notPosted(batch, error);
    }
  }

  /** What is nested very deep cannot travel: it is refused, and all others are not. */
  #notPosted(batch: readonly WriteRequest[], error: unknown): void {
    if (batch.length > 1) return batch.forEach((request) => this.#post([request]));
    for (const { id, values } of batch) {
      this.#disowned.add(values[0]);
      this.#take(id)?.reject(new PdError("PD_FAILED", `Cannot write to the database: what is to be written cannot be handed over: ${messageOf(error)}`));
    }
  }

  #settle({ id, value, error, isLogLong }: WriteReply): void {
    if (isLogLong === true) return this.#shortenLog();
    this.#sentCount--;
    if (error !== undefined) this.#disowned.add(this.#waiting.get(id)?.write);
    if (error?.code === "PD_DATABASE_DAMAGED") this.#closeInline();
    const end = this.#take(id);
    if (error === undefined) end?.resolve(value);
    else end?.reject(errorOf(error));
  }

  /** While this is on its way nothing is written inline. What goes wrong with it goes wrong with the next write, which tells. */
  #shortenLog(): void {
    if (!this.#isClosed) this.#send<undefined>({ verb: "shorten", values: [] }).catch(() => {});
  }

  /** Whoever waits for it, who is told once. */
  #take(id: number): WaitingEnd | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(id);
    const { end } = waiting;
    waiting.end = undefined;
    waiting.write = undefined;
    return end;
  }

  #closeInline(): void {
    this.#inline?.close();
    this.#inline = undefined;
  }

  /** The thread may have stored what it was sent, and have died before it said so. */
  #failAll(): void {
    for (const { end, isSent } of this.#waiting.values())
      end?.reject(
        isSent
          ? new PdError("PD_IN_DOUBT", `Cannot tell whether it is written to the database: ${this.#reason}`)
          : new PdError("PD_NOT_STORED", `Cannot write to the database: ${this.#reason}`, { fix: "Start the server again" }),
      );
    this.#waiting.clear();
  }
}

function errorOf({ code, message, fix }: WriteError): PdError {
  return new PdError(isErrorCode(code) ? code : "PD_FAILED", message, fix === undefined ? {} : { fix });
}
