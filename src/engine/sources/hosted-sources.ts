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
  readonly #turns = new KeyedTurns<DeployedId>();

  add(live: LiveSource): void {
    this.#byId.set(live.source.id, live);
    this.#byEndpoint.set(live.source.endpointKey, live);
    this.#newestFirst = undefined;
  }

  remove(live: LiveSource): void {
    this.#byId.delete(live.source.id);
    this.#byEndpoint.delete(live.source.endpointKey);
    this.#newestFirst = undefined;
    live.isGone = true;
  }

  all(): IterableIterator<LiveSource> {
    return this.#byId.values();
  }

  get ids(): readonly DeployedId[] {
    return [...this.#byId.values()].map(({ source }) => source.id);
  }

  newestFirst(): readonly LiveSource[] {
    this.#newestFirst ??= [...this.#byId.values()].toSorted((a, b) => newestFirst(a.source, b.source));
    return this.#newestFirst;
  }

  byEndpoint(key: string): LiveSource | undefined {
    return this.#byEndpoint.get(key);
  }

  byId(id: DeployedId): LiveSource | undefined {
    return this.#byId.get(id);
  }

  bySlug(slug: string): LiveSource | undefined {
    return [...this.#byId.values()].find(({ source }) => source.slug === slug);
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
    const known = [...this.#byId.values()].filter(({ source, isShown }) => isShown && source.workflowId === undefined);
    return known.map((live) => ({ id: live.source.id, slug: live.source.slug, name: live.source.name, live }));
  }

  /** Changes of one source happen one after the other. */
  inTurn<Value>(live: LiveSource, change: () => Promise<Value>): Promise<Value> {
    return this.#turns.take(live.source.id, async (hasWaited) => {
      // One that waited behind a delete finds nothing to change any more.
      const isGone = hasWaited && !this.#byId.has(live.source.id);
      if (isGone) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot change ${live.source.slug}: it was deleted`);
      return change();
    });
  }
}

/** What verbs that change sources work on. */
export interface Hosting {
  readonly sources: HostedSources;
  readonly timers: TimerPlan;
}
