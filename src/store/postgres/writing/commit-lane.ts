import { PdError } from "../../../domain/errors.ts";
import type { DeployedId, InvocationId } from "../../../domain/ids.ts";
import type { Addendum, Committed, PendingRequest, RunCommit, RunStore } from "../../../ports/stores/run-store.ts";
import { StoredCommit } from "../../rows/stored-commit.ts";
import { isInDoubt, takenConstraint } from "../connection/errors.ts";
import type { Database } from "../connection/sql.ts";
import { type SourceRuns, isSmall, writeTogether } from "./commit-statement.ts";
import { DisownedFences } from "./disowned-fences.ts";
import { storePending } from "./pending.ts";
import { type Progress, type Written, endOf, writeAddendum, writeCommit } from "./whole-run.ts";

/** Runs in one statement. */
const MOST_TOGETHER = 256;
const MOST_KNOWN = 1000;
/** As `increment` of the sequence. */
const CHUNKS_A_BLOCK = 1000;

interface Ends<Made> {
  readonly resolve: (made: Made) => void;
  readonly reject: (error: unknown) => void;
}

interface CommitWrite extends Ends<Committed> {
  readonly kind: "commit";
  readonly run: RunCommit;
}

interface AppendWrite extends Ends<Committed> {
  readonly kind: "append";
  readonly addendum: Addendum;
}

interface PendingWrite extends Ends<void> {
  readonly kind: "pending";
  readonly request: PendingRequest;
}

/** Another write of a source that must keep its place among the runs. */
interface OtherWrite {
  readonly kind: "other";
  readonly sourceId: DeployedId;
  /** Settles its caller itself. Never rejects. */
  readonly perform: () => Promise<void>;
}

type RunWrite = CommitWrite | AppendWrite;
type SourceWrite = RunWrite | OtherWrite;
type AnyWrite = SourceWrite | PendingWrite;

/** What one turn writes. */
interface Taken {
  readonly pending: PendingWrite[];
  /** In one statement, by source. */
  readonly together: Map<DeployedId, CommitWrite[]>;
  /** Each in a transaction of its own, one after the other, by source. */
  readonly alone: Map<DeployedId, SourceWrite[]>;
}

/**
 * Writes runs in the order in which each source's were given. Those that wait while a statement is under way share the
 * next one. A large or unusual run has a transaction of its own, and only its source waits for it.
 */
export class CommitLane {
  readonly #db: Database;
  readonly #committed: RunStore["committed"];
  readonly #known = new Map<DeployedId, Progress>();
  readonly #disowned = new DisownedFences();
  /** Of sources whose runs are written alone. */
  readonly #underWay = new Map<DeployedId, Promise<void>>();
  readonly #writing = new Set<InvocationId>();
  /** Given, and not answered yet. */
  readonly #open = new Set<Promise<unknown>>();
  #waiting: AnyWrite[] = [];
  #turn: Promise<void> | undefined;
  #chunk = { next: 0, end: 0 };

  constructor(db: Database, committed: RunStore["committed"]) {
    this.#db = db;
    this.#committed = committed;
  }

  commit(run: RunCommit): Promise<Committed> {
    return this.#given(new Promise((resolve, reject) => this.#add({ kind: "commit", run, resolve, reject })));
  }

  append(addendum: Addendum): Promise<Committed> {
    return this.#given(new Promise((resolve, reject) => this.#add({ kind: "append", addendum, resolve, reject })));
  }

  storePending(request: PendingRequest): Promise<void> {
    return new Promise((resolve, reject) => this.#add({ kind: "pending", request, resolve, reject }));
  }

  /** Performs a write of the source's state between the runs that were given before and those that follow. */
  inOrder<Made>(sourceId: DeployedId, work: () => Promise<Made>): Promise<Made> {
    const made = new Promise<Made>((resolve, reject) => {
      const perform = (): Promise<void> => work().then(resolve, reject);
      this.#add({ kind: "other", sourceId, perform });
    });
    return this.#given(made);
  }

  /** As the port's. A fence is good again when nothing of it was lost. */
  async committed(id: InvocationId): Promise<Committed | undefined> {
    const found = await this.#committed(id);
    this.#disowned.settle(id, found !== undefined);
    return found;
  }

  /** Resolves once everything that was given before is written, or has failed. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#open);
  }

  #given<Made>(write: Promise<Made>): Promise<Made> {
    const end = (): void => void this.#open.delete(write);
    this.#open.add(write);
    void write.then(end, end);
    return write;
  }

  #add(write: AnyWrite): void {
    this.#waiting.push(write);
    this.#goOn();
  }

  #goOn(): void {
    if (this.#turn !== undefined || this.#waiting.length === 0) return;
    // Calls of the same tick share a statement.
    this.#turn = Promise.resolve().then(() => this.#takeTurns());
  }

  async #takeTurns(): Promise<void> {
    for (;;) {
      const taken = this.#take();
      if (taken === undefined) {
        this.#turn = undefined;
        return;
      }
      // First: the commit of the same id deletes it.
      await this.#storeAll(taken.pending);
      for (const [sourceId, writes] of taken.alone) this.#startAlone(sourceId, writes);
      await this.#writeTogether(taken.together);
    }
  }

  /** Undefined when nothing can be written before something else has ended. */
  #take(): Taken | undefined {
    const taken: Taken = { pending: [], together: new Map(), alone: new Map() };
    const later: AnyWrite[] = [];
    let count = 0;
    for (const write of this.#waiting) {
      if (write.kind === "pending") {
        if (this.#writing.has(write.request.id)) later.push(write);
        else taken.pending.push(write);
        continue;
      }
      const sourceId = sourceOf(write);
      if (write.kind !== "other" && this.#isDisowned(write)) write.reject(disowned(sourceId));
      else if (this.#underWay.has(sourceId) || count >= MOST_TOGETHER) later.push(write);
      else {
        this.#place(write, taken);
        count++;
      }
    }
    this.#waiting = later;
    return taken.pending.length + taken.together.size + taken.alone.size === 0 ? undefined : taken;
  }

  #isDisowned(write: RunWrite): boolean {
    const { sourceId, fence } = placeOf(write);
    return this.#disowned.refuses(sourceId, fence);
  }

  /** Once a write of a source is made alone, the later ones follow it. */
  #place(write: SourceWrite, { together, alone }: Taken): void {
    const sourceId = sourceOf(write);
    if (write.kind !== "other") this.#writing.add(placeOf(write).id);
    const after = alone.get(sourceId);
    const before = together.get(sourceId) ?? [];
    if (after !== undefined) after.push(write);
    else if (write.kind === "commit" && isSmall(write.run) && this.#known.get(sourceId)?.fence === write.run.fence) together.set(sourceId, [...before, write]);
    else {
      together.delete(sourceId);
      alone.set(sourceId, [...before, write]);
    }
  }

  async #storeAll(writes: readonly PendingWrite[]): Promise<void> {
    if (writes.length === 0) return;
    try {
      const gone = await storePending(
        this.#db,
        writes.map(({ request }) => request),
      );
      for (const { request, resolve, reject } of writes) {
        const problem = gone.get(request.sourceId);
        if (problem === undefined) resolve();
        else reject(problem);
      }
    } catch (error) {
      for (const { reject } of writes) reject(error);
    }
  }

  async #writeTogether(commits: Taken["together"]): Promise<void> {
    if (commits.size === 0) return;
    let written: ReadonlyMap<DeployedId, readonly Written[]> = new Map();
    try {
      written = await writeTogether(this.#db, await this.#sourcesOf(commits));
    } catch (error) {
      if (isInDoubt(error)) return this.#failAll(commits, error);
      // One run that cannot be stored keeps the others out, so each is tried alone.
    }
    for (const [sourceId, writes] of commits) {
      const made = written.get(sourceId);
      if (made === undefined) {
        this.#known.delete(sourceId);
        this.#startAlone(sourceId, writes);
        continue;
      }
      for (const [place, write] of writes.entries()) this.#succeed(write, made[place]);
    }
  }

  async #sourcesOf(commits: Taken["together"]): Promise<readonly SourceRuns[]> {
    const sources: SourceRuns[] = [];
    for (const [sourceId, writes] of commits) {
      const progress = this.#known.get(sourceId);
      const runs: SourceRuns["runs"][number][] = [];
      for (const { run } of writes) if (isSmall(run)) runs.push({ run, logChunk: await this.#nextChunk(run) });
      if (progress !== undefined && runs.length === writes.length) sources.push({ sourceId, progress, runs });
    }
    return sources;
  }

  #failAll(commits: Taken["together"], error: unknown): void {
    for (const writes of commits.values()) for (const write of writes) this.#fail(write, error);
  }

  #startAlone(sourceId: DeployedId, writes: readonly SourceWrite[]): void {
    const end = (): void => {
      this.#underWay.delete(sourceId);
      this.#goOn();
    };
    this.#underWay.set(sourceId, this.#writeAlone(writes).finally(end));
  }

  async #writeAlone(writes: readonly SourceWrite[]): Promise<void> {
    for (const write of writes) {
      if (write.kind === "other") {
        this.#known.delete(write.sourceId);
        await write.perform();
        continue;
      }
      const { sourceId, id } = placeOf(write);
      try {
        if (this.#isDisowned(write)) throw disowned(sourceId);
        const logChunk = await this.#nextChunk(write.kind === "commit" ? write.run : write.addendum);
        const written = await this.#db.transaction((sql) =>
          write.kind === "commit" ? writeCommit(sql, write.run, logChunk) : writeAddendum(sql, write.addendum, logChunk),
        );
        this.#succeed(write, written);
      } catch (error) {
        const before = takenConstraint(error) === "invocations_id_key" ? await this.#writtenBefore(id) : undefined;
        if (before === undefined) this.#fail(write, error);
        else this.#resolve(write, before);
      }
    }
  }

  /** A run that was repeated because its first answer was lost. */
  async #writtenBefore(id: InvocationId): Promise<Committed | undefined> {
    try {
      return await this.#committed(id);
    } catch {
      // The caller asks again.
      return undefined;
    }
  }

  #succeed(write: RunWrite, written: Written | undefined): void {
    if (written === undefined) return this.#fail(write, new PdError("PD_FAILED", "Cannot store a run: it has no answer"));
    const { sourceId, id, at } = placeOf(write);
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(sourceId, written.progress);
    const { events } = write.kind === "commit" ? write.run : write.addendum;
    this.#resolve(write, new StoredCommit(written.answer, events, { id, at }));
  }

  #resolve(write: RunWrite, committed: Committed): void {
    this.#writing.delete(placeOf(write).id);
    write.resolve(committed);
  }

  #fail(write: RunWrite, error: unknown): void {
    const { sourceId, fence, id } = placeOf(write);
    this.#known.delete(sourceId);
    this.#disowned.add({ sourceId, fence, id, isInDoubt: isInDoubt(error) });
    this.#writing.delete(id);
    write.reject(error);
  }

  /** A number for the lines of a run. Known before the write, because messages name it. */
  async #nextChunk({ logs }: Pick<RunCommit, "logs">): Promise<number> {
    if (logs.length === 0) return 0;
    if (this.#chunk.next >= this.#chunk.end) {
      const { rows } = await this.#db.runAgain("select nextval('log_chunk_blocks') as block");
      const next = Number(rows[0]?.["block"]);
      this.#chunk = { next, end: next + CHUNKS_A_BLOCK };
    }
    return this.#chunk.next++;
  }
}

function sourceOf(write: SourceWrite): DeployedId {
  return write.kind === "other" ? write.sourceId : placeOf(write).sourceId;
}

function placeOf(write: RunWrite): { sourceId: DeployedId; fence: number; id: InvocationId; at: number } {
  if (write.kind === "append") {
    const { sourceId, fence, invocationId, at } = write.addendum;
    return { sourceId, fence, id: invocationId, at };
  }
  const { fence, invocation } = write.run;
  return { sourceId: invocation.sourceId, fence, id: invocation.id, at: endOf(invocation) };
}

function disowned(sourceId: DeployedId): PdError {
  return new PdError("PD_NOT_STORED", `Cannot store a run of ${sourceId}: an earlier run could not be stored`);
}
