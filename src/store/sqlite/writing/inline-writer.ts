import type { Database } from "../../../database/driver.ts";
import type { Clock } from "../../../ports/clock.ts";
import { type AttemptWrites, attemptWrites } from "../tables/deliveries.ts";
import type { DisownedFences } from "./disowned-fences.ts";
import { GroupCommit } from "./group-commit.ts";
import { openBeside } from "../file/open.ts";
import { type PendingWrites, pendingWrites } from "../tables/pending.ts";
import { type RunWrites, runWrites } from "../tables/runs.ts";
import { type RunBeginnings, runBeginnings } from "../tables/step-writer.ts";
import { LEAVE_MEMORY, type WriteRequest, writesIn } from "./write-request.ts";
import { Witness, witnessPath } from "../file/witness.ts";

type InlineWrites = Pick<RunWrites & PendingWrites & AttemptWrites, "commit" | "append" | "storePending" | "recordAttempts"> & RunBeginnings;

/** Larger batches go to the thread, where more writes share an fsync. */
const MOST_WRITES = 4;
const MOST_CHARACTERS = 2 ** 17;
/** Inline writing pauses after SLOW_IN_A_ROW commits slower than this, or one above VERY_SLOW_MS. */
const SLOW_MS = 4;
const SLOW_IN_A_ROW = 3;
const VERY_SLOW_MS = 50;
/** Times the slow commit. Limits the share of time in which a slow disk blocks the server. */
const REST = 100;
const LONGEST_REST_MS = 600_000;

/**
 * Makes small writes on the server's thread while the writer's thread is idle, because the round trip costs more. A
 * batch that fails is rolled back and goes to the thread, which reports errors.
 */
export class InlineWriter {
  readonly #db: Database;
  readonly #witness: Witness;
  readonly #group: GroupCommit;
  readonly #verbs: InlineWrites;
  readonly #clock: Pick<Clock, "now">;
  #slowInARow = 0;
  #restsUntil = 0;

  /** `path` must have been opened by openForWriting. */
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

  /** Undefined when nothing was written. */
  perform(batch: readonly WriteRequest[], disowned: DisownedFences): readonly unknown[] | undefined {
    const startedAt = this.#clock.now();
    if (this.#isResting(startedAt) || !isSmall(batch) || batch.some(({ values }) => disowned.refuses(values[0]) !== undefined)) return undefined;
    try {
      return this.#group.perform(() => batch.map(({ verb, values }) => Reflect.apply(Reflect.get(this.#verbs, verb), this.#verbs, values)));
    } catch {
      // The thread will report the same error.
      return undefined;
    } finally {
      this.#restAfter(startedAt, this.#clock.now() - startedAt);
    }
  }

  /** A clock that was set back must not extend the pause. */
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
    // Nested too deep.
    return false;
  }
}

const CHARACTERS_OF_OTHERS = 8;

/** Stops counting above MOST_CHARACTERS. */
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
