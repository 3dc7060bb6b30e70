import type { Account } from "../../domain/account/account.ts";
import type { Attempt, Delivery } from "../../domain/delivery/delivery.ts";
import type { DeployedComponent } from "../../domain/source/deployed-component.ts";
import type { Event, NewEvent, PostponedEvent } from "../../domain/event/event.ts";
import { type DeployedId, type ListenerId, type SavedId, eventId } from "../../domain/ids.ts";
import type { Invocation, LogLine } from "../../domain/run/invocation.ts";
import type { Registry } from "../../domain/component/registry.ts";
import type { SavedComponent } from "../../domain/component/saved-component.ts";
import type { SourceVersion } from "../../domain/source/source-version.ts";
import type { AutoSubscription, Subscription } from "../../domain/delivery/subscription.ts";
import type { Trigger } from "../../domain/run/trigger.ts";
import type { Webhook } from "../../domain/delivery/webhook.ts";
import type { StepRecord, WorkflowRun } from "../../domain/workflow/run.ts";
import { parseJson } from "../../domain/text/json.ts";
import { SEALED_MEMBER } from "../../ports/vault.ts";
import type { ApiKey } from "../../ports/stores/key-store.ts";
import type { EndedCall, PendingRequest } from "../../ports/stores/run-store.ts";
import type { SourceSecrets } from "../../ports/stores/secret-store.ts";
import type { Timer, TimerInstant } from "../../ports/stores/timer-store.ts";
import type { WaitingStep } from "../../ports/stores/workflow-store.ts";

export type Row = Record<string, unknown>;

export function row(value: unknown): Row | undefined {
  return value as Row | undefined;
}

export function rows(values: unknown): Row[] {
  return values as Row[];
}

export function json<Value>(text: unknown): Value {
  // A shortcut for by far the most frequent value.
  if (text === "{}") return {} as Value;
  return JSON.parse(String(text)) as Value;
}

/** SQLite has numbers instead of booleans. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 1;
}

/** Omits null members. A forgotten member does not compile. */
export function present<Value extends object>(members: { [Key in keyof Value]-?: Value[Key] | null | undefined }): Value {
  const kept: Partial<Record<keyof Value, unknown>> = {};
  for (const name in members) if (members[name] !== null && members[name] !== undefined) kept[name] = members[name];
  return kept as Value;
}

export function savedComponentOf(row: Row): SavedComponent {
  return present<SavedComponent>({
    id: row["id"] as SavedComponent["id"],
    code: json(row["code"]),
    hash: String(row["hash"]),
    origin: json(row["origin"]),
    bundle: json(row["bundle"]),
    definition: json(row["definition"]),
    lock: json(row["lock"]),
    packagesFolder: row["packages_folder"] as string | null,
    isTransient: isTrue(row["is_transient"]),
    createdAt: Number(row["created_at"]),
  });
}

export function sourceIdOf(row: Row): DeployedId {
  return row["id"] as DeployedId;
}

/** SQLite would look up each of thousands of ids. */
export function isOf(sources: readonly DeployedId[]): (record: { readonly sourceId: DeployedId }) => boolean {
  const wanted = new Set(sources);
  return ({ sourceId }) => wanted.has(sourceId);
}

function sourceSecretsOf(row: Row): SourceSecrets {
  return { id: row["id"] as DeployedComponent["id"], configured: json(row["configured"]), setAside: json(row["set_aside"]), env: json(row["env"]) };
}

const NOT_READABLE = JSON.stringify({ [SEALED_MEMBER]: "sealed:not readable" });

/** Unreadable JSON becomes a text with an unknown key, so the vault keeps earlier keys. */
export function readableSecrets(found: Row): SourceSecrets {
  const parts = ["configured", "set_aside", "env"].map((name) => [name, parseJson(String(found[name])) === undefined ? NOT_READABLE : found[name]]);
  return sourceSecretsOf({ id: found["id"], ...Object.fromEntries(parts) });
}

export function componentIdOf(row: Row): SavedId {
  return row["component_id"] as SavedId;
}

export function sourceVersionOf(row: Row): SourceVersion {
  return {
    number: Number(row["number"]),
    componentId: componentIdOf(row),
    hash: String(row["hash"]),
    declaredVersion: String(row["declared_version"]),
    origin: json(row["origin"]),
    at: Number(row["at"]),
  };
}

export function eventOfRow(row: Row): Event {
  const [seq, storedAt] = [Number(row["seq"]), Number(row["stored_at"])];
  const invocationId = row["invocation_id"] as Event["invocationId"];
  const againOf = row["again_of"];
  return { ...newEventOf(row), id: eventId(storedAt, seq), seq, storedAt, invocationId, ...(typeof againOf === "number" ? { againOf } : {}) };
}

export function newEventOf(row: Row): NewEvent {
  return present<NewEvent>({
    channel: String(row["channel"]),
    dedupeId: row["dedupe_id"] as string | null,
    summary: row["summary"] as string | null,
    ts: row["ts"] as number | null,
    payload: String(row["payload"]),
  });
}

export function postponedEventOf(row: Row): PostponedEvent {
  return { ...eventOfRow(row), sourceId: row["source_id"] as PostponedEvent["sourceId"], dueAt: Number(row["due_at"]) };
}

export function invocationOf(row: Row): Invocation {
  return present<Invocation>({
    id: row["id"] as Invocation["id"],
    sourceId: row["source_id"] as Invocation["sourceId"],
    trigger: json<Trigger>(row["trigger"]),
    startedAt: Number(row["started_at"]),
    durationMs: Number(row["duration_ms"]),
    outcome: json(row["outcome"]),
    eventCount: Number(row["event_count"]),
    dropped: json(row["dropped"]),
    responseStatus: row["response_status"] as number | null,
    replayOf: row["replay_of"] as Invocation["id"] | null,
    returned: row["returned"] as string | null,
    version: row["version"] as number | null,
  });
}

export function endedCallOf(row: Row): EndedCall {
  return { id: row["id"] as EndedCall["id"], startedAt: Number(row["started_at"]), durationMs: Number(row["duration_ms"]), outcome: json(row["outcome"]) };
}

export function logLinesOf(row: Row): readonly LogLine[] {
  return json(row["lines"]);
}

export function pendingRequestOf(row: Row): PendingRequest {
  return {
    id: row["id"] as PendingRequest["id"],
    sourceId: row["source_id"] as PendingRequest["sourceId"],
    trigger: json(row["trigger"]),
    receivedAt: Number(row["received_at"]),
  };
}

export function timerPlaceOf(row: Row): Pick<Timer, "sourceId" | "prop"> {
  return { sourceId: row["source_id"] as Timer["sourceId"], prop: String(row["prop"]) };
}

export function timerOf(row: Row): Timer {
  return present<Timer>({
    ...timerPlaceOf(row),
    schedule: json(row["schedule"]),
    catchUp: row["catch_up"] as Timer["catchUp"],
    anchorAt: Number(row["anchor_at"]),
    nextAt: row["next_at"] as number | null,
  });
}

export function timerInstantOf(row: Row): TimerInstant {
  return present<TimerInstant>({
    sourceId: row["source_id"] as TimerInstant["sourceId"],
    prop: String(row["prop"]),
    plannedAt: Number(row["planned_at"]),
    lastPlannedAt: Number(row["last_planned_at"]),
    count: Number(row["count"]),
    state: row["state"] as TimerInstant["state"],
    invocationId: row["invocation_id"] as TimerInstant["invocationId"] | null,
    reason: row["reason"] as string | null,
  });
}

export function webhookOf(row: Row): Webhook {
  return present<Webhook>({
    id: row["id"] as Webhook["id"],
    url: String(row["url"]),
    name: row["name"] as string | null,
    description: row["description"] as string | null,
    active: isTrue(row["active"]),
    secret: String(row["secret"]),
    oldSecrets: oldSecretsOf(row),
    failingSince: row["failing_since"] as number | null,
    inactiveReason: row["inactive_reason"] as string | null,
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["updated_at"]),
  });
}

/** Receivers learn the new secret, so deliveries continue without unreadable old ones. */
function oldSecretsOf(row: Row): Webhook["oldSecrets"] {
  try {
    return json(row["old_secrets"]);
  } catch {
    return [];
  }
}

export function subscriptionOf(row: Row): Subscription {
  return {
    id: row["id"] as Subscription["id"],
    emitterId: String(row["emitter_id"]),
    listenerId: row["listener_id"] as Subscription["listenerId"],
    channel: String(row["channel"]),
    createdAt: Number(row["created_at"]),
  };
}

export function autoSubscriptionOf(row: Row): AutoSubscription {
  return { channel: row["channel"] as AutoSubscription["channel"], listenerId: row["listener_id"] as AutoSubscription["listenerId"] };
}

export function deliveryOf(row: Row): Delivery {
  const nextAt = row["next_at"];
  return {
    id: `dlv_${Number(row["seq"])}`,
    listenerId: row["listener_id"] as Delivery["listenerId"],
    messageId: String(row["message_id"]),
    emitterId: String(row["emitter_id"]),
    channel: String(row["channel"]),
    payload: String(row["payload"]),
    state: row["state"] as Delivery["state"],
    attemptCount: Number(row["attempts"]),
    createdAt: Number(row["created_at"]),
    ...(nextAt === null ? {} : { nextAt: Number(nextAt) }),
  };
}

export function hostedOrListenerOf(row: Row): DeployedId | ListenerId {
  return row["id"] as DeployedId | ListenerId;
}

export function listenerOf(row: Row): Delivery["listenerId"] {
  return row["listener_id"] as Delivery["listenerId"];
}

export function stateCount(row: Row): readonly [Delivery["state"], number] {
  return [row["state"] as Delivery["state"], Number(row["count"])];
}

export function attemptOf(row: Row): Attempt {
  return { at: Number(row["at"]), durationMs: Number(row["duration_ms"]), result: json(row["result"]) };
}

export function accountOf(row: Row): Account {
  return present<Account>({
    id: row["id"] as Account["id"],
    app: String(row["app"]),
    name: String(row["name"]),
    credentials: json(row["credentials"]),
    oauth: row["oauth"] === null ? null : json(row["oauth"]),
    problem: row["problem"] as string | null,
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["updated_at"]),
    revision: Number(row["revision"]),
  });
}

export function registryOf(row: Row): Registry {
  return { name: String(row["name"]), kind: row["kind"] as Registry["kind"], location: String(row["location"]) };
}

export function apiKeyOf(row: Row): ApiKey {
  return {
    id: String(row["id"]),
    name: String(row["name"]),
    hash: String(row["hash"]),
    isReadOnly: isTrue(row["read_only"]),
    createdAt: Number(row["created_at"]),
  };
}

/** Run → its newest rerun. */
export function rerunOf(row: Row): readonly [WorkflowRun["id"], Pick<WorkflowRun, "id" | "state">] {
  return [row["rerun_of"] as WorkflowRun["id"], { id: row["id"] as WorkflowRun["id"], state: row["state"] as WorkflowRun["state"] }];
}

export function workflowRunOf(row: Row): WorkflowRun {
  return present<WorkflowRun>({
    id: row["id"] as WorkflowRun["id"],
    workflowId: row["workflow_id"] as WorkflowRun["workflowId"],
    version: Number(row["version"]),
    trigger: json(row["trigger"]),
    state: row["state"] as WorkflowRun["state"],
    startedAt: Number(row["started_at"]),
    endedAt: row["ended_at"] as number | null,
    failure: row["failure"] === null ? null : json(row["failure"]),
    reason: row["reason"] as string | null,
    rerunOf: row["rerun_of"] as WorkflowRun["id"] | null,
    from: row["from_step"] as string | null,
    wakes: Number(row["wakes"]),
  });
}

export function runStateCount(row: Row): readonly [WorkflowRun["state"], number] {
  return [row["state"] as WorkflowRun["state"], Number(row["count"])];
}

export function stepRecordOf(row: Row): StepRecord {
  return json(row["record"]);
}

export function waitingStepOf(row: Row): WaitingStep {
  return { workflowId: row["workflow_id"] as WaitingStep["workflowId"], runId: row["run_id"] as WaitingStep["runId"], path: String(row["path"]) };
}
