import type { ComponentRecord } from "../../api/components.ts";
import type { EventRecord } from "../../api/events.ts";
import type { ActionRunRecord, InstantRecord, InvocationRecord, LineRecord, ObservationRecord } from "../../api/invocations.ts";
import type { SourceRecord, TimerRecord } from "../../api/sources.ts";
import type { ComponentDefinition } from "../../domain/component/component.ts";
import type { DeployedComponent, SourceOutline } from "../../domain/source/deployed-component.ts";
import type { Provenance } from "../../domain/source/stored-source.ts";
import type { Event, PostponedEvent } from "../../domain/event/event.ts";
import { type Invocation, type LogLine, describeOutcome } from "../../domain/run/invocation.ts";
import { type JsonObject, parseJson } from "../../domain/text/json.ts";
import type { PropDeclaration } from "../../domain/props/kinds.ts";
import { type ConfiguredProps, hasEndpoint, propFacts } from "../../domain/props/declared-props.ts";
import { scheduleInput } from "../../domain/timer/schedule.ts";
import { shownValue } from "../../domain/props/secret-props.ts";
import type { RegistryOrigin, SavedComponent } from "../../domain/component/saved-component.ts";
import { describeArrival } from "../../domain/run/arrival.ts";
import { eventFor } from "../../domain/run/event-of-trigger.ts";
import { describeTrigger } from "../../domain/run/trigger.ts";
import type { ActionRun } from "../../engine/workbench/actions.ts";
import type { Observation } from "../../engine/runs/commits/event-feed.ts";
import type { Identity } from "../../ports/stores/subscription-store.ts";
import type { Timer, TimerInstant } from "../../ports/stores/timer-store.ts";

export function seconds(at: number): number {
  return Math.floor(at / 1000);
}

export function componentRecord(component: SavedComponent): ComponentRecord {
  const { id, code, hash, definition, origin, lock, createdAt } = component;
  return {
    id,
    code: code.text,
    code_hash: hash,
    component_path: code.path,
    component_files: Object.keys(code.files).length > 0 ? { ...code.files } : undefined,
    component_url: origin.kind === "url" ? origin.url : undefined,
    registry: origin.kind === "registry" ? registryRecord(origin) : undefined,
    name: definition.name,
    version: definition.version,
    key: definition.key,
    description: definition.description,
    component_type: definition.type,
    dedupe: definition.dedupe,
    hooks: [...definition.hooks],
    warnings: [...definition.warnings],
    packages: { ...lock },
    configurable_props: definition.props.map(propFacts),
    published: !component.isTransient,
    created_at: seconds(createdAt),
    updated_at: seconds(createdAt),
  };
}

export function registryRecord({ registry, path, package: packageName, commit }: RegistryOrigin): ComponentRecord["registry"] {
  return { name: registry, path, package: packageName, commit };
}

export interface SourceContext extends Pick<DeployedComponent, "configured" | "env"> {
  readonly definition: ComponentDefinition;
  readonly problems: readonly string[];
  readonly endpoint: string;
  readonly timers: readonly Timer[];
  readonly owner: Identity;
  readonly provenance: Provenance;
}

export function sourceRecord(
  source: DeployedComponent,
  { configured, env, definition, endpoint, timers, owner, provenance, problems }: SourceContext,
): SourceRecord {
  return {
    id: source.id,
    // The hosted platform has both names.
    user_id: owner.userId,
    owner_id: owner.userId,
    component_id: source.componentId,
    component_key: definition.key,
    component_version: definition.version,
    description: definition.description === "" ? undefined : definition.description,
    version: source.version,
    configured_props: configuredRecord(configured, definition.props, endpoint),
    configurable_props: definition.props.map(propFacts),
    active: source.active,
    created_at: seconds(source.createdAt),
    updated_at: seconds(source.updatedAt),
    name: source.name,
    name_slug: source.slug,
    type: "DeployedComponent",
    dedupe: definition.dedupe,
    env: Object.keys(env),
    ...source.settings,
    imports: provenance.imports.length > 0 ? [...provenance.imports] : undefined,
    component_url: provenance.origin.kind === "url" ? provenance.origin.url : undefined,
    registry: provenance.origin.kind === "registry" ? registryRecord(provenance.origin) : undefined,
    warnings: definition.warnings.length > 0 ? [...definition.warnings] : undefined,
    problems: problems.length > 0 ? [...problems] : undefined,
    endpoint_url: hasEndpoint(definition.props) ? endpoint : undefined,
    timers: timers.length > 0 ? timers.map(timerRecord) : undefined,
  };
}

export function unreadableRecord({ id, name, slug, version, createdAt }: SourceOutline, owner: SourceContext["owner"], problem: string): SourceRecord {
  return {
    id,
    user_id: owner.userId,
    owner_id: owner.userId,
    component_id: "",
    component_version: "",
    version,
    configured_props: {},
    configurable_props: [],
    active: false,
    created_at: seconds(createdAt),
    updated_at: seconds(createdAt),
    name,
    name_slug: slug,
    type: "DeployedComponent",
    env: [],
    problems: [problem],
  };
}

function configuredRecord(configured: ConfiguredProps, props: readonly PropDeclaration[], endpoint: string): JsonObject {
  return Object.fromEntries(
    props.flatMap((prop) => {
      const value = shownValue(prop, Object.hasOwn(configured, prop.name) ? configured[prop.name] : undefined, endpoint);
      return value === undefined ? [] : [[prop.name, value]];
    }),
  );
}

function timerRecord({ prop, schedule, catchUp, nextAt }: Timer): TimerRecord {
  return { prop, ...scheduleInput(schedule), catch_up: catchUp, next_at_ms: nextAt };
}

export function instantRecord(instant: TimerInstant): InstantRecord {
  const { prop, plannedAt, lastPlannedAt, count, state, invocationId, reason } = instant;
  return { prop, planned_at_ms: plannedAt, last_planned_at_ms: lastPlannedAt, count, state, invocation_id: invocationId, reason };
}

/** Longer bodies are cut unless `expand=event`. */
const SUMMARY_BODY = 1024;

export function eventRecord(sourceId: string, event: Event | PostponedEvent, isExpanded: boolean): EventRecord {
  const isCut = !isExpanded && event.payload.length > SUMMARY_BODY;
  return {
    id: event.id,
    indexed_at_ms: event.storedAt,
    event: isCut ? `${event.payload.slice(0, SUMMARY_BODY)}…` : (parseJson(event.payload) ?? null),
    ...(isCut ? { truncated: true } : {}),
    metadata: {
      emitter_id: "sourceId" in event ? event.sourceId : sourceId,
      emit_id: `${sourceId}-${event.id}`,
      name: event.channel,
      id: event.dedupeId,
      summary: event.summary,
      ts: event.ts,
      delivery_ts: "dueAt" in event ? event.dueAt : undefined,
      invocation_id: event.invocationId,
    },
  };
}

type Named = (id: string) => string | undefined;

/** For a list. */
export function invocationRecord(invocation: Invocation, nameOf: Named): InvocationRecord {
  const { outcome, trigger } = invocation;
  return {
    id: invocation.id,
    source_id: invocation.sourceId,
    trigger: { ...trigger },
    trigger_summary: describeTrigger(trigger, nameOf),
    arrived: describeArrival(trigger) || undefined,
    started_at_ms: invocation.startedAt,
    duration_ms: invocation.durationMs,
    outcome: outcome.kind,
    message: describeOutcome(outcome),
    error: outcome.kind === "threw" ? { ...outcome.error } : undefined,
    event_count: invocation.eventCount,
    dropped: { ...invocation.dropped },
    response_status: invocation.responseStatus,
    replay_of: invocation.replayOf,
    version: invocation.version,
    returned: invocation.returned === undefined ? undefined : parseJson(invocation.returned),
  };
}

/** For one alone. */
export async function wholeInvocationRecord(invocation: Invocation, logs: readonly LogLine[], nameOf: Named): Promise<InvocationRecord> {
  const { trigger } = invocation;
  // A step has props, not an event.
  const event = trigger.kind === "step" || trigger.kind === "hook" ? undefined : await eventFor(trigger, () => undefined);
  return {
    ...invocationRecord(invocation, nameOf),
    event: event === undefined ? undefined : parseJson(JSON.stringify(event)),
    logs: logs.map((line) => lineRecord(line)),
  };
}

export function actionRecord({ outcome, exports, returned, response, sends, flow, emits, logs, durationMs, runs }: ActionRun): ActionRunRecord {
  return {
    outcome: outcome.kind,
    message: describeOutcome(outcome),
    error: outcome.kind === "threw" ? { ...outcome.error } : undefined,
    exports,
    ret: returned,
    os: logs.map(lineRecord),
    response,
    sends: [...sends],
    emits: emits.map(({ payload, name = "" }) => ({ event: parseJson(payload) ?? null, name })),
    flow,
    duration_ms: durationMs,
    runs,
  };
}

export function lineRecord({ at, level, text, from }: LogLine): LineRecord {
  return { k: level === "error" || level === "system" ? level : `console.${level}`, msg: text, ts: at, from };
}

export function observationRecord(observation: Observation, nameOf: Named): ObservationRecord {
  switch (observation.kind) {
    case "started": {
      const { id, at, trigger, replayOf } = observation;
      const replay = replayOf === undefined ? {} : { replay_of: replayOf };
      const msg = `${describeTrigger(trigger, nameOf)}${replayOf === undefined ? "" : `, replay of ${replayOf}`}`;
      return { k: "run.start", ts: at, invocation_id: id, msg, trigger: trigger.kind, ...replay };
    }
    case "line":
      return { ...lineRecord(observation.line), invocation_id: observation.id };
    case "updated":
      return { k: "source.update", ts: observation.at, msg: `now runs version ${observation.version} (code ${observation.hash.slice(0, 7)})` };
    case "ended": {
      const { id, at, durationMs, outcome, eventCount, dropped } = observation;
      const err = outcome.kind === "threw" ? { err: { ...outcome.error } } : {};
      return {
        k: outcome.kind === "returned" ? "run.end" : "error",
        ts: at,
        invocation_id: id,
        msg: describeOutcome(outcome),
        outcome: outcome.kind,
        duration_ms: durationMs,
        event_count: eventCount,
        dropped: { ...dropped },
        ...err,
      };
    }
  }
}

export function channelRecord({ sourceId, invocationId, at, name, index, event }: ChannelMessage): EventRecord {
  const id = `${at}-${index}`;
  return { id, indexed_at_ms: at, event, metadata: { emitter_id: sourceId, emit_id: `${invocationId}-${index}`, name, invocation_id: invocationId } };
}

export interface ChannelMessage {
  readonly sourceId: string;
  readonly invocationId: string;
  readonly at: number;
  readonly name: string;
  readonly index: number;
  readonly event: JsonObject;
}
