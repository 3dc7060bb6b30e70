import { type DedupeCache, type DedupeChange, remember } from "../../domain/dedupe.ts";
import { PdError } from "../../domain/errors.ts";
import type { DeployedId } from "../../domain/ids.ts";
import type { Database } from "../../database/driver.ts";
import { json, row } from "./rows.ts";

interface Progress {
  readonly fence: number;
  lastSeq: number;
  /** JSON text, as it is stored. */
  readonly stored: string;
  /** Absent: as it is stored. */
  cache: DedupeCache | undefined;
}

/**
 * What changes with every run of a source: the number of its newest event, and what dedupe remembers. However many
 * runs of it one transaction holds, it is read once and written once, by `flush`.
 */
export class SourceProgress {
  readonly #read;
  readonly #write;
  readonly #open = new Map<DeployedId, Progress>();

  constructor(db: Database) {
    this.#read = db.prepare("select fence, last_seq, cache from source_progress where source_id = ?");
    this.#write = db.prepare("update source_progress set last_seq = ?, cache = ? where source_id = ?");
  }

  /** Numbers so many new events after the newest, and returns the first number. Throws PD_NOT_STORED when the fence is stale. */
  advance(id: DeployedId, fence: number, { count, learned }: { count: number; learned: DedupeChange | undefined }): number {
    const progress = this.#progressOf(id);
    if (progress?.fence !== fence) throw new PdError("PD_NOT_STORED", `Cannot store a run of ${id}: it is gone, or another process has taken it over`);
    const first = progress.lastSeq + 1;
    progress.lastSeq += count;
    if (learned !== undefined) progress.cache = remember(progress.cache ?? json<DedupeCache>(progress.stored), learned);
    return first;
  }

  #progressOf(id: DeployedId): Progress | undefined {
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const found = row(this.#read.get(id));
    if (found === undefined) return undefined;
    const read = { fence: Number(found["fence"]), lastSeq: Number(found["last_seq"]), stored: String(found["cache"]), cache: undefined };
    this.#open.set(id, read);
    return read;
  }

  /** Before the transaction ends, and before anything else looks at it. */
  flush(): void {
    if (this.#open.size === 0) return;
    for (const [id, { lastSeq, cache, stored }] of this.#open) this.#write.run(lastSeq, cache === undefined ? stored : JSON.stringify(cache), id);
    this.#open.clear();
  }

  /** What was not written is undone. */
  forget(): void {
    this.#open.clear();
  }
}
