import { PdError } from "./errors.ts";
import { type DeployedId, type ListenerId, type SubscriptionId, isTriggerId, isWorkflowId } from "./ids.ts";

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

/** Every source and every workflow of this server. */
const ALL = "*";

/** What the emitter of a subscription stands for when emitters are matched. Throws PD_BAD_INPUT for what can be no emitter. */
export function emitterKey(emitterId: string): string {
  if (/^(dc|p)_([0-9A-Za-z]+|\*)$/.test(emitterId) || isTriggerId(emitterId)) return emitterId;
  if (/^[ou]_[0-9A-Za-z]+$/.test(emitterId)) return ALL;
  throw new PdError("PD_BAD_INPUT", `Cannot subscribe to ${JSON.stringify(emitterId)}: an emitter is a dc_ or p_ id, dc_*, p_*, or a workspace or user id`);
}

/**
 * The keys of the subscriptions that get what this one emits: its own, and those that stand for many. Triggers of a
 * workflow are part of it: no pattern reaches them.
 */
export function keysReaching(emitter: DeployedId): readonly [string, string, string] {
  if (isTriggerId(emitter)) return [emitter, emitter, emitter];
  return [emitter, isWorkflowId(emitter) ? "p_*" : "dc_*", ALL];
}

/** A pattern that a source matches must not make it its own listener; that has to be asked for by its id. */
export function reaches({ emitterId, listenerId }: { readonly emitterId: string; readonly listenerId: string }, sourceId: string): boolean {
  return listenerId !== sourceId || emitterId === sourceId;
}
