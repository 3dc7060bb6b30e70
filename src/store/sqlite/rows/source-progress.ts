import { type DedupeCache, type DedupeChange, remember } from "../../../domain/event/dedupe.ts";
import type { DeployedId } from "../../../domain/ids.ts";
import type { Database } from "../../../database/driver.ts";
import { json, row } from "../../rows/rows.ts";
import { overtaken } from "./staged-events.ts";

interface Progress {
  readonly fence: number;
  lastSeq: number;
  /** JSON text. */
  stored: string;
  /** `stored` with what was learned since. Undefined until needed. */
  cache: DedupeCache | undefined;
  hasLearned: boolean;
}

const MOST_KNOWN = 1000;

/** Both change with every run, so `flush` writes them once per transaction. */
export class SourceProgress {
  readonly #read;
  readonly #write;
  readonly #known = new Map<DeployedId, Progress>();
  readonly #changed = new Map<DeployedId, Progress>();

  constructor(db: Database) {
    this.#read = db.prepare("select fence, last_seq, cache from source_progress where source_id = ?");
    this.#write = db.prepare("update source_progress set last_seq = ?, cache = ? where source_id = ?");
  }

  /** Returns the first of `count` numbers. Throws PD_NOT_STORED when the fence is stale. */
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

  /** Call before the transaction ends and before other code reads these rows. */
  flush(): void {
    for (const [id, progress] of this.#changed) {
      if (progress.hasLearned) progress.stored = JSON.stringify(progress.cache);
      progress.hasLearned = false;
      this.#write.run(progress.lastSeq, progress.stored, id);
    }
    this.#changed.clear();
    if (this.#known.size > MOST_KNOWN) this.#known.clear();
  }

  forget(): void {
    this.#known.clear();
    this.#changed.clear();
  }
}
