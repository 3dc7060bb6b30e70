import { PdError } from "../../domain/errors.ts";
import { newestFirst } from "../../domain/deployed-component.ts";
import type { DeployedId } from "../../domain/ids.ts";
import { type Looking, type Named, theNamed } from "../../domain/named.ts";
import { KeyedTurns } from "../../domain/turns.ts";
import type { TimerPlan } from "../timers/scheduler.ts";
import type { LiveSource } from "../runs/live-source.ts";

/** The deployed components of this host, found by what requests name them by. */
export class HostedSources {
  readonly #byId = new Map<string, LiveSource>();
  readonly #byEndpoint = new Map<string, LiveSource>();
  /** Slugs that a deploy or an update is about to take. */
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
    live.isGone = true;
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

  /** Ends the process that had nothing to do for the longest; false: all are at work. */
  coolLongestIdle(): boolean {
    let longest: LiveSource | undefined;
    for (const live of this.all()) {
      const { idleMs } = live;
      if (idleMs !== undefined && !live.isCooling && idleMs >= (longest?.idleMs ?? 0)) longest = live;
    }
    longest?.coolDown(0);
    return longest !== undefined;
  }

  /** Keeps a slug from other sources of this host until it is released; false: one has it, or is about to. */
  holdSlug(slug: string): boolean {
    if (this.#claimed.has(slug) || this.bySlug(slug) !== undefined) return false;
    this.#claimed.add(slug);
    return true;
  }

  releaseSlug(slug: string): void {
    this.#claimed.delete(slug);
  }

  /** By id, slug or name. Throws PD_SOURCE_NOT_FOUND, saying what was attempted, and PD_AMBIGUOUS. */
  find(word: string, looking: Looking): LiveSource {
    return this.byIdOrSlug(word) ?? theNamed(this.named(), word, looking).live;
  }

  /** Sources that people know of: triggers of workflows belong to those. */
  named(): readonly (Named & { readonly live: LiveSource })[] {
    const known = [...this.#byId.values()].filter(({ outline, isShown }) => isShown && outline.workflowId === undefined);
    return known.map((live) => ({ id: live.outline.id, slug: live.outline.slug, name: live.outline.name, live }));
  }

  /** Changes of one source happen one after the other. */
  inTurn<Value>(live: LiveSource, change: () => Promise<Value>): Promise<Value> {
    return this.#turns.take(live.outline.id, async (hasWaited) => {
      // One that waited behind a delete finds nothing to change any more.
      const isGone = hasWaited && !this.#byId.has(live.outline.id);
      if (isGone) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot change ${live.outline.slug}: it was deleted`);
      return change();
    });
  }
}

/** What verbs that change sources work on. */
export interface Hosting {
  readonly sources: HostedSources;
  readonly timers: TimerPlan;
}
