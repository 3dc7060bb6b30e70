import type { HookName } from "./component.ts";
import type { RunId } from "./ids.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { isoInZone } from "./local-time.ts";
import type { Schedule } from "./schedule.ts";

/** An HTTP request to the component's endpoint; the body stays as it came until the component's process parses it. */
export interface HttpTrigger {
  readonly kind: "http";
  readonly method: string;
  readonly path: string;
  /** Query text without `?`. */
  readonly query: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly clientIp: string;
  /** Text of the body, or its bytes in base64 when they are not UTF-8. */
  readonly body: string;
  readonly encoding: "utf8" | "base64";
  /** It came to an app hook: `run` gets the event inside it. */
  readonly isAppHook?: true;
}

export interface TimerTrigger {
  readonly kind: "timer";
  readonly prop: string;
  /** Epoch ms. */
  readonly plannedAt: number;
  readonly schedule: Schedule;
}

export interface ManualTrigger {
  readonly kind: "manual";
  readonly event: JsonValue;
}

export interface HookTrigger {
  readonly kind: "hook";
  readonly hook: HookName;
}

/** Another emitter that the source has subscribed to; `run` gets the payload itself (platform.md §5). */
export interface EventTrigger {
  readonly kind: "event";
  readonly emitterId: string;
  readonly channel: string;
  readonly messageId: string;
  readonly event: JsonValue;
}

/** The component's own example of an event is emitted in place of a run (platform.md §4.1, sampleEmit). */
export interface SampleTrigger {
  readonly kind: "sample";
}

/** A step of a workflow is due. */
export interface StepTrigger {
  readonly kind: "step";
  readonly runId: RunId;
  /** Its place in the run. */
  readonly path: string;
  readonly namespace: string;
  /** From 1; it counts on when the step failed and is tried again. */
  readonly attempt: number;
  /** It failed and is tried again: its run has not failed. */
  readonly isRetried?: true;
}

/** Why an invocation happens. */
export type Trigger = HttpTrigger | TimerTrigger | ManualTrigger | HookTrigger | EventTrigger | SampleTrigger | StepTrigger;

/** What `run(event)` is called with for a timer (components.md, Timer interface; platform.md §4.6 for cron). */
export function timerEvent({ plannedAt, schedule }: Pick<TimerTrigger, "plannedAt" | "schedule">): JsonObject {
  const timestamp = Math.floor(plannedAt / 1000);
  return schedule.kind === "interval"
    ? { timestamp, interval_seconds: schedule.seconds }
    : { timestamp, cron: schedule.expression, timezone: schedule.timezone };
}

/** The same as workflows get it (platform.md §4.6): with the instant as it is written where the schedule belongs, and in UTC. */
export function withTimezones(event: JsonObject): JsonObject {
  const { timestamp, timezone = "UTC" } = event;
  const isOfSchedule = event["cron"] !== undefined || event["interval_seconds"] !== undefined;
  if (!isOfSchedule || typeof timestamp !== "number" || typeof timezone !== "string") return event;
  const [configured, utc] = [timezone, "UTC"].map((zone) => ({ iso8601: isoInZone(timestamp * 1000, zone), timezone: zone }));
  return { ...event, timezone_configured: configured ?? {}, timezone_utc: utc ?? {} };
}

/** Name of the trigger in lists: `POST /orders`, `timer`, `hook deploy`. */
export function describeTrigger(trigger: Trigger): string {
  switch (trigger.kind) {
    case "http":
      return `${trigger.method} ${trigger.path}${trigger.query === "" ? "" : `?${trigger.query}`}`;
    case "timer":
      return trigger.schedule.kind === "interval" ? `timer every ${trigger.schedule.seconds} s` : `timer ${trigger.schedule.expression}`;
    case "manual":
      return "run by hand";
    case "hook":
      return `hook ${trigger.hook}`;
    case "sample":
      return "sample event";
    case "event":
      return `event of ${trigger.emitterId}${trigger.channel === "" ? "" : ` on ${trigger.channel}`}`;
    case "step":
      return `step ${trigger.namespace}${trigger.attempt === 1 ? "" : `, attempt ${trigger.attempt}`}`;
  }
}
