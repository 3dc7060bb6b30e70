import type { HookName } from "../component/component.ts";
import type { RunId } from "../ids.ts";
import type { JsonObject, JsonValue } from "../text/json.ts";
import type { Schedule } from "../timer/schedule.ts";

/** The component's process parses the body. */
export interface HttpTrigger {
  readonly kind: "http";
  readonly method: string;
  readonly path: string;
  /** Without `?`. */
  readonly query: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly clientIp: string;
  /** Text, or base64 when the bytes are not UTF-8. */
  readonly body: string;
  readonly encoding: "utf8" | "base64";
  /** `run` gets the event inside the body. */
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

/** `run` gets the payload. */
export interface EventTrigger {
  readonly kind: "event";
  readonly emitterId: string;
  readonly channel: string;
  readonly messageId: string;
  readonly event: JsonValue;
}

/** Emits the component's sample event, without a run. */
export interface SampleTrigger {
  readonly kind: "sample";
}

export interface StepTrigger {
  readonly kind: "step";
  readonly runId: RunId;
  readonly path: string;
  readonly namespace: string;
  /** From 1. Increases with each retry. */
  readonly attempt: number;
  /** Its run has not failed. */
  readonly isRetried?: true;
}

export type Trigger = HttpTrigger | TimerTrigger | ManualTrigger | HookTrigger | EventTrigger | SampleTrigger | StepTrigger;

/** The argument of `run`. */
export function timerEvent({ plannedAt, schedule }: Pick<TimerTrigger, "plannedAt" | "schedule">): JsonObject {
  const timestamp = Math.floor(plannedAt / 1000);
  return schedule.kind === "interval"
    ? { timestamp, interval_seconds: schedule.seconds }
    : { timestamp, cron: schedule.expression, timezone: schedule.timezone };
}

/** Adds the time in the schedule's zone and in UTC, for workflows. */
export function withTimezones(event: JsonObject): JsonObject {
  const { timestamp, timezone = "UTC" } = event;
  const isOfSchedule = event["cron"] !== undefined || event["interval_seconds"] !== undefined;
  if (!isOfSchedule || typeof timestamp !== "number" || typeof timezone !== "string") return event;
  const [configured, utc] = [timezone, "UTC"].map((zone) => ({ iso8601: isoInZone(timestamp * 1000, zone), timezone: zone }));
  return { ...event, timezone_configured: configured ?? {}, timezone_utc: utc ?? {} };
}

/** `nameOf` turns the id of an emitter into its name. */
export function describeTrigger(trigger: Trigger, nameOf: (id: string) => string | undefined = () => undefined): string {
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
      return `event of ${nameOf(trigger.emitterId) ?? trigger.emitterId}${trigger.channel === "" ? "" : ` on ${trigger.channel}`}`;
    case "step":
      return `step ${trigger.namespace}${trigger.attempt === 1 ? "" : `, attempt ${trigger.attempt}`}`;
  }
}

interface LocalTime {
  /** `2026-01-31` */
  readonly date: string;
  /** `09:00:00+01:00` */
  readonly time: string;
  /** `2026-01-31T09:00:00+01:00` */
  readonly timestamp: string;
}

/** `at` is in epoch ms. `timeZone` is an IANA name. */
export function isoInZone(at: number, timeZone: string): LocalTime & JsonObject {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "longOffset",
  }).formatToParts(at);
  const of = Object.fromEntries(parts.map(({ type, value }) => [type, value]));
  const offset = (of["timeZoneName"] ?? "").replace("GMT", "");
  const date = `${of["year"]}-${of["month"]}-${of["day"]}`;
  const time = `${of["hour"]}:${of["minute"]}:${of["second"]}${offset === "" || offset === "+00:00" ? "Z" : offset}`;
  return { date, time, timestamp: `${date}T${time}` };
}
