import { PdError } from "./errors.ts";
import type { ListenerId, SubscriptionId } from "./ids.ts";

/** Who gets what an emitter emits on a channel (platform.md §1.6). */
export interface Subscription {
  readonly id: SubscriptionId;
  /** `dc_…` or `p_…`, a glob `dc_*` or `p_*`, or the user or workspace, which stand for all. */
  readonly emitterId: string;
  readonly listenerId: ListenerId;
  /** Empty: the default channel. */
  readonly channel: string;
  readonly createdAt: number;
}

/** Makes such a subscription for each source that is deployed from then on. */
export interface AutoSubscription {
  readonly channel: SystemChannel;
  readonly listenerId: ListenerId;
}

export type SystemChannel = "$errors" | "$logs";

/** Every source of this server. */
export const ALL_SOURCES = "dc_*";

/** What the emitter stands for when emitters are matched. Throws PD_BAD_INPUT for what can be no emitter. */
export function emitterKey(emitterId: string): string {
  if (/^(dc|p)_([0-9A-Za-z]+|\*)$/.test(emitterId)) return emitterId;
  if (/^[ou]_[0-9A-Za-z]+$/.test(emitterId)) return ALL_SOURCES;
  throw new PdError("PD_BAD_INPUT", `Cannot subscribe to ${JSON.stringify(emitterId)}: an emitter is a dc_ or p_ id, dc_*, p_*, or a workspace or user id`);
}

/** A pattern that a source matches must not make it its own listener; that has to be asked for by its id. */
export function reaches({ emitterId, listenerId }: Pick<Subscription, "emitterId" | "listenerId">, sourceId: string): boolean {
  return listenerId !== sourceId || emitterId === sourceId;
}
