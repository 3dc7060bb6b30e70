import { type DedupeCache, type DedupeChange, remember } from "../../domain/dedupe.ts";
import type { DeployedId } from "../../domain/ids.ts";
import type { Database } from "../../database/driver.ts";
import { json, row } from "./rows.ts";
import { overtaken } from "./staged-events.ts";

interface Progress {
  readonly fence: number;
  lastSeq: number;
  /** JSON text, as it is stored. */
  stored: string;
  /** What that text says, once somebody wants to know, and what was learned since. */
  cache: DedupeCache | undefined;
  /** Something was learned that `stored` does not have. */
  hasLearned: boolean;
}

/** So many sources are remembered. */
const MOST_KNOWN = 1000;

/**
 * What changes with every run of a source: the number of its newest event, and what dedupe remembers. However many
 * runs of it one transaction holds, it is written once, by `flush`; and it is read once, until `forget`.
 */
export class SourceProgress {
  readonly #read;
  readonly #write;
  readonly #known = new Map<DeployedId, Progress>();
  /** Those that are not as they are stored. */
  readonly #changed = new Map<DeployedId, Progress>();

  constructor(db: Database) {
    this.#read = db.prepare("select fence, last_seq, cache from source_progress where source_id = ?");
    this.#write = db.prepare("update source_progress set last_seq = ?, cache = ? where source_id = ?");
  }

  /** Numbers so many new events after the newest, and returns the first number. Throws PD_NOT_STORED when the fence is stale. */
  advance(id: DeployedId, fence: number, { count, learned }: { count: number; learned: DedupeChange | undefined }): number {
    const progress = this.#owned(id, fence);
    const first = progress.lastSeq + 1;
    progress.lastSeq += count;
    if (count > 0 || learned !== undefined) this.#changed.set(id, progress);
    if (learned !== undefined) {
      progress.cache = remember(progress.cache ?? json<DedupeCache>(progress.stored), learned);
      progress.hasLearned = true;
    }
    return first;
  }

  /** The number that the next event gets. Throws as `advance`. */
  next(id: DeployedId, fence: number): number {
    return this.#owned(id, fence).lastSeq + 1;
  }

  #owned(id: DeployedId, fence: number): Progress {
    const progress = this.#progressOf(id);
    if (progress?.fence !== fence) throw overtaken(id);
    return progress;
  }

  #progressOf(id: DeployedId): Progress | undefined {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const found = row(this.#read.get(id));
    if (found === undefined) return undefined;
    const read = { fence: Number(found["fence"]), lastSeq: Number(found["last_seq"]), stored: String(found["cache"]), cache: undefined, hasLearned: false };
    this.#known.set(id, read);
    return read;
  }

  /** Before the transaction ends, and before anything else looks at it. */
  flush(): void {
    for (const [id, progress] of this.#changed) {
      if (progress.hasLearned) progress.stored = JSON.stringify(progress.cache);
      progress.hasLearned = false;
      this.#write.run(progress.lastSeq, progress.stored, id);
    }
    this.#changed.clear();
    if (this.#known.size > MOST_KNOWN) this.#known.clear();
  }

  /** What was not written is undone, and all is read anew. */
  forget(): void {
    this.#known.clear();
    this.#changed.clear();
  }
}
