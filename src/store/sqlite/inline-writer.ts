import type { Database } from "../../database/driver.ts";
import type { Clock } from "../../ports/clock.ts";
import { type AttemptWrites, attemptWrites } from "./deliveries.ts";
import type { DisownedFences } from "./disowned-fences.ts";
import { GroupCommit } from "./group-commit.ts";
import { openBeside } from "./open.ts";
import { type PendingWrites, pendingWrites } from "./pending.ts";
import { type RunWrites, runWrites } from "./runs.ts";
import { type RunBeginnings, runBeginnings } from "./step-writer.ts";
import { LEAVE_MEMORY, type WriteRequest, writesIn } from "./write-request.ts";
import { Witness, witnessPath } from "./witness.ts";

/** What is written with every request and delivery, and with every step of a workflow. */
type InlineWrites = Pick<RunWrites & PendingWrites & AttemptWrites, "commit" | "append" | "storePending" | "recordAttempts"> & RunBeginnings;

/** More than this is written beside the server: while many wait, it reads and answers others meanwhile, and more share an fsync. */
const MOST_WRITES = 4;
const MOST_CHARACTERS = 2 ** 17;
/** A commit that took longer was held up: by the disk when it is one of several, or when it took very long. */
const SLOW_MS = 4;
const SLOW_IN_A_ROW = 3;
const VERY_SLOW_MS = 50;
/** Then nothing is written inline for so many times as long: a slow disk holds up the server for this share of the time at most. */
const REST = 100;
const LONGEST_REST_MS = 600_000;

/**
 * Writes on the server's own thread what is small, while the writer's thread has nothing to do: the way to that thread
 * and back costs more than the write. Nothing goes wrong here: what cannot be written at once and as a whole is not
 * written, and goes to the thread, which waits, divides and tells.
 */
export class InlineWriter {
  readonly #db: Database;
  readonly #witness: Witness;
  readonly #group: GroupCommit;
  readonly #verbs: InlineWrites;
  readonly #clock: Pick<Clock, "now">;
  #slowInARow = 0;
  #restsUntil = 0;

  /** `path`: a database that openForWriting has opened. */
  static open(path: string, clock: Pick<Clock, "now">): InlineWriter {
    return new InlineWriter(openBeside(path), new Witness(witnessPath(path)), clock);
  }

  private constructor(db: Database, witness: Witness, clock: Pick<Clock, "now">) {
    this.#db = db;
    this.#witness = witness;
    this.#clock = clock;
    this.#group = new GroupCommit(db, witness);
    const runs = runWrites(db, this.#group);
    const pending = pendingWrites(db);
    const attempts = attemptWrites(db, this.#group.publisher);
    this.#verbs = {
      commit: (run) => runs.commit(run),
      append: (addendum) => runs.append(addendum),
      storePending: (request) => pending.storePending(request),
      recordAttempts: (records) => attempts.recordAttempts(records),
      ...runBeginnings(db),
    };
  }

  /** What each of them returns, all being on disk. `undefined`: nothing is written. */
  perform(batch: readonly WriteRequest[], disowned: DisownedFences): readonly unknown[] | undefined {
    const startedAt = this.#clock.now();
    if (this.#isResting(startedAt) || !isSmall(batch) || batch.some(({ values }) => disowned.refuses(values[0]) !== undefined)) return undefined;
    try {
      return this.#group.perform(() => batch.map(({ verb, values }) => Reflect.apply(Reflect.get(this.#verbs, verb), this.#verbs, values)));
    } catch {
      // Somebody else is writing, the disk is full, a fence is stale: the thread will find the same, and tell.
      return undefined;
    } finally {
      this.#restAfter(startedAt, this.#clock.now() - startedAt);
    }
  }

  /** A clock that was put back must not make a rest longer. */
  #isResting(now: number): boolean {
    return now < this.#restsUntil && this.#restsUntil - now <= LONGEST_REST_MS;
  }

  #restAfter(startedAt: number, tookMs: number): void {
    this.#slowInARow = tookMs > SLOW_MS ? this.#slowInARow + 1 : 0;
    if (this.#slowInARow >= SLOW_IN_A_ROW || tookMs > VERY_SLOW_MS) this.#restsUntil = startedAt + Math.min(tookMs * REST, LONGEST_REST_MS);
  }

  close(): void {
    this.#db.close();
    this.#witness.close();
  }
}

function isSmall(batch: readonly WriteRequest[]): boolean {
  if (writesIn(batch) > MOST_WRITES || batch.some(({ verb }) => !LEAVE_MEMORY.has(verb))) return false;
  try {
    return charactersIn(batch.map(({ values }) => values)) <= MOST_CHARACTERS;
  } catch {
    // Nobody walks through what is nested so deep.
    return false;
  }
}

/** What else has no length, and the name of a member. */
const CHARACTERS_OF_OTHERS = 8;

/** About as many as are written. Of what is large, only so much is counted that it is known. */
function charactersIn(write: unknown): number {
  if (typeof write === "string" || write instanceof Uint8Array) return write.length;
  if (typeof write !== "object" || write === null) return CHARACTERS_OF_OTHERS;
  let count = 0;
  for (const part of Object.values(write)) {
    count += CHARACTERS_OF_OTHERS + charactersIn(part);
    if (count > MOST_CHARACTERS) break;
  }
  return count;
}
