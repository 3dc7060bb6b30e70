import { PdError } from "../../domain/errors.ts";
import { newestFirst } from "../../domain/source/deployed-component.ts";
import type { DeployedId } from "../../domain/ids.ts";
import { type Looking, type Named, theNamed } from "../../domain/source/named.ts";
import { KeyedTurns } from "../../domain/source/turns.ts";
import type { TimerPlan } from "../timers/scheduler.ts";
import type { LiveSource } from "../runs/source/live-source.ts";

export class HostedSources {
  readonly #byId = new Map<string, LiveSource>();
  readonly #byEndpoint = new Map<string, LiveSource>();
  readonly #claimed = new Set<string>();
  #newestFirst: readonly LiveSource[] | undefined;
  #ids: readonly DeployedId[] | undefined;
  readonly #turns = new KeyedTurns<DeployedId>();

  add(live: LiveSource): void {
    this.#byId.set(live.outline.id, live);
    this.#byEndpoint.set(live.outline.endpointKey, live);
    this.#changed();
  }

  remove(live: LiveSource): void {
    this.#byId.delete(live.outline.id);
    this.#byEndpoint.delete(live.outline.endpointKey);
    this.#changed();
    live.markGone();
  }

  all(): IterableIterator<LiveSource> {
    return this.#byId.values();
  }

  #changed(): void {
    this.#newestFirst = undefined;
    this.#ids = undefined;
  }

  get ids(): readonly DeployedId[] {
    this.#ids ??= Array.from(this.#byId.values(), ({ outline }) => outline.id);
    return this.#ids;
  }

  newestFirst(): readonly LiveSource[] {
    this.#newestFirst ??= [...this.#byId.values()].toSorted((a, b) => newestFirst(a.outline, b.outline));
    return this.#newestFirst;
  }

  byEndpoint(key: string): LiveSource | undefined {
    return this.#byEndpoint.get(key);
  }

  byId(id: DeployedId): LiveSource | undefined {
    return this.#byId.get(id);
  }

  bySlug(slug: string): LiveSource | undefined {
    return [...this.#byId.values()].find(({ outline }) => outline.slug === slug);
  }

  byIdOrSlug(word: string): LiveSource | undefined {
    return this.#byId.get(word) ?? this.bySlug(word);
  }

  /** Returns false when all are busy. */
  coolLongestIdle(): boolean {
    let longest: LiveSource | undefined;
    for (const live of this.all()) {
      const { idleMs } = live;
      if (idleMs !== undefined && !live.isCooling && idleMs >= (longest?.idleMs ?? 0)) longest = live;
    }
    longest?.coolDown(0);
    return longest !== undefined;
  }

  /** Reserves a slug until `releaseSlug`. Returns false when it is used or reserved. */
  holdSlug(slug: string): boolean {
    if (this.#claimed.has(slug) || this.bySlug(slug) !== undefined) return false;
    this.#claimed.add(slug);
    return true;
  }

  releaseSlug(slug: string): void {
    this.#claimed.delete(slug);
  }

  /** Throws PD_SOURCE_NOT_FOUND, PD_AMBIGUOUS. */
  find(word: string, looking: Looking): LiveSource {
    return this.byIdOrSlug(word) ?? theNamed(this.named(), word, looking).live;
  }

  /** Excludes sources that are being deployed and triggers of workflows. */
  named(): readonly (Named & { readonly live: LiveSource })[] {
    const known = [...this.#byId.values()].filter(({ outline, isShown }) => isShown && outline.workflowId === undefined);
    return known.map((live) => ({ id: live.outline.id, slug: live.outline.slug, name: live.outline.name, live }));
  }

  /** One change after the other. Throws PD_SOURCE_NOT_FOUND when the source was deleted before its turn. */
  inTurn<Value>(live: LiveSource, change: () => Promise<Value>): Promise<Value> {
    return this.#turns.take(live.outline.id, async (hasWaited) => {
      const isGone = hasWaited && !this.#byId.has(live.outline.id);
      if (isGone) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot change ${live.outline.slug}: it was deleted`);
      return change();
    });
  }
}

export interface Hosting {
  readonly sources: HostedSources;
  readonly timers: TimerPlan;
}
