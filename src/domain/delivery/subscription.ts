import { PdError } from "../errors.ts";
import { type DeployedId, type ListenerId, type SubscriptionId, isTriggerId, isWorkflowId } from "../ids.ts";

export interface Subscription {
  readonly id: SubscriptionId;
  /** `dc_…`, `p_…`, a glob `dc_*` or `p_*`, or a user or workspace id, which matches all. */
  readonly emitterId: string;
  readonly listenerId: ListenerId;
  /** Empty for the default channel. */
  readonly channel: string;
  readonly createdAt: number;
}

/** Subscribes the listener to each source that is deployed later. */
export interface AutoSubscription {
  readonly channel: SystemChannel;
  readonly listenerId: ListenerId;
}

export type SystemChannel = "$errors" | "$logs";

const ALL = "*";

/** Throws PD_BAD_INPUT when the id is not valid. */
export function emitterKey(emitterId: string): string {
  if (/^(dc|p)_([0-9A-Za-z]+|\*)$/.test(emitterId) || isTriggerId(emitterId)) return emitterId;
  if (/^[ou]_[0-9A-Za-z]+$/.test(emitterId)) return ALL;
  throw new PdError("PD_BAD_INPUT", `Cannot subscribe to ${JSON.stringify(emitterId)}: an emitter is a dc_ or p_ id, dc_*, p_*, or a workspace or user id`);
}

/** A workflow's triggers match only their own id. */
export function keysReaching(emitter: DeployedId): readonly [string, string, string] {
  if (isTriggerId(emitter)) return [emitter, emitter, emitter];
  return [emitter, isWorkflowId(emitter) ? "p_*" : "dc_*", ALL];
}

/** Only its own id subscribes a source to itself, not a pattern. */
export function reaches({ emitterId, listenerId }: { readonly emitterId: string; readonly listenerId: string }, sourceId: string): boolean {
  return listenerId !== sourceId || emitterId === sourceId;
}
