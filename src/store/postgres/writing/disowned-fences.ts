import type { DeployedId, InvocationId } from "../../../domain/ids.ts";

interface Disowned {
  readonly fence: number;
  /** Runs of which it is not known whether they are stored. */
  readonly doubts: Set<InvocationId>;
  /** A write of this fence was not stored. */
  isLost: boolean;
}

/**
 * After a failed commit, the host still remembers dedupe ids and values that are not stored. Commits that it sent
 * before it learned of the failure must not store them. When all that was in doubt turns out to be stored, nothing was
 * lost, and the fence is good again.
 */
export class DisownedFences {
  readonly #fences = new Map<DeployedId, Disowned>();
  readonly #sourceOf = new Map<InvocationId, DeployedId>();

  refuses(sourceId: DeployedId, fence: number): boolean {
    const disowned = this.#fences.get(sourceId);
    if (disowned?.fence !== fence) return false;
    disowned.isLost = true;
    return true;
  }

  add({ sourceId, fence, id, isInDoubt }: { sourceId: DeployedId; fence: number; id: InvocationId; isInDoubt: boolean }): void {
    const known = this.#fences.get(sourceId);
    if (known !== undefined && known.fence > fence) return;
    const disowned = known?.fence === fence ? known : { fence, doubts: new Set<InvocationId>(), isLost: false };
    if (isInDoubt) {
      disowned.doubts.add(id);
      this.#sourceOf.set(id, sourceId);
    } else disowned.isLost = true;
    this.#fences.set(sourceId, disowned);
  }

  /** What became of a run that was in doubt. */
  settle(id: InvocationId, isStored: boolean): void {
    const sourceId = this.#sourceOf.get(id);
    const disowned = sourceId === undefined ? undefined : this.#fences.get(sourceId);
    this.#sourceOf.delete(id);
    if (sourceId === undefined || disowned === undefined || !disowned.doubts.delete(id)) return;
    if (!isStored) disowned.isLost = true;
    if (!disowned.isLost && disowned.doubts.size === 0) this.#fences.delete(sourceId);
  }
}
