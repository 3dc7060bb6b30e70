import type { AccountWrites } from "../tables/accounts.ts";
import type { ComponentWrites } from "../tables/components.ts";
import type { DataStoreWrites } from "../tables/data-stores.ts";
import type { AttemptWrites, DeliveryWrites } from "../tables/deliveries.ts";
import type { EventWrites } from "../tables/events.ts";
import type { KeyWrites } from "../tables/keys.ts";
import type { PendingWrites } from "../tables/pending.ts";
import type { PostponedWrites } from "../tables/postponed.ts";
import type { RegistryWrites } from "../tables/registries.ts";
import type { RetentionWrites } from "../tables/retention.ts";
import type { SecretWrites } from "../tables/secrets.ts";
import type { RunWrites, StateWrites } from "../tables/runs.ts";
import type { SubscriptionWrites } from "../tables/subscriptions.ts";
import type { AlertWrites } from "../tables/alerts.ts";
import type { TallyWrites } from "../tables/tallies.ts";
import type { TimerWrites } from "../tables/timers.ts";
import type { WorkflowWrites } from "../tables/workflow-writes.ts";
import type { Revision } from "../file/open.ts";

export type Writes = ComponentWrites &
  RunWrites &
  StateWrites &
  PendingWrites &
  PostponedWrites &
  EventWrites &
  TimerWrites &
  RetentionWrites &
  SubscriptionWrites &
  AttemptWrites &
  DeliveryWrites &
  KeyWrites &
  DataStoreWrites &
  RegistryWrites &
  AccountWrites &
  SecretWrites &
  AlertWrites &
  TallyWrites &
  WorkflowWrites;

export interface WriteRequest {
  readonly id: number;
  readonly verb: keyof Writes | "close" | "scrub" | "damaged";
  readonly values: readonly unknown[];
}

export function writesOf({ verb, values: [write] }: WriteRequest): number {
  return verb === "recordAttempts" && Array.isArray(write) ? write.length : 1;
}

export function writesIn(requests: readonly WriteRequest[]): number {
  return requests.reduce((count, request) => count + writesOf(request), 0);
}

export interface WriteError {
  readonly code: string;
  readonly message: string;
  readonly fix?: string;
}

export interface WriteReply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: WriteError;
  /** Set during a migration at the start. */
  readonly revision?: Revision;
}
