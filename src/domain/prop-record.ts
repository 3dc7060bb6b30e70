import type { JsonObject, JsonValue } from "./json.ts";
import type { InputProp, PropDeclaration, TimerProp } from "./prop.ts";
import type { Schedule } from "./schedule.ts";

/** What is told of a prop: type always explicit, functions as facts (platform.md §4.3). */
export interface PropFacts {
  readonly name: string;
  readonly type: string;
  readonly label?: string | undefined;
  readonly description?: string | undefined;
  readonly optional?: true | undefined;
  readonly hidden?: true | undefined;
  readonly disabled?: true | undefined;
  readonly reloadProps?: true | undefined;
  /** Has no value, and is only shown. */
  readonly readOnly?: true | undefined;
  readonly secret?: true | undefined;
  readonly default?: JsonValue | undefined;
  readonly static?: JsonObject | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly options?: { label: string; value: JsonValue }[] | undefined;
  readonly remoteOptions?: true | undefined;
  readonly useQuery?: true | undefined;
  readonly withLabel?: true | undefined;
  readonly app?: string | undefined;
  readonly auth?: { app: string } | undefined;
  readonly customResponse?: true | undefined;
  readonly eventNames?: string[] | undefined;
  readonly alertType?: string | undefined;
  readonly content?: string | undefined;
  readonly accessMode?: string | undefined;
  readonly sync?: boolean | undefined;
}

/** One entry of `configurable_props`. */
export function propRecord(prop: PropDeclaration): PropFacts {
  switch (prop.kind) {
    case "http":
      return { name: prop.name, type: "$.interface.http", ...(prop.customResponse ? { customResponse: true } : {}) };
    case "app-hook":
      return { name: prop.name, type: "$.interface.apphook", ...(prop.eventNames === undefined ? {} : { eventNames: [...prop.eventNames] }) };
    case "timer":
      return {
        name: prop.name,
        type: "$.interface.timer",
        ...(prop.isStatic ? { static: timerInput(prop) } : { default: timerInput(prop) }),
      };
    case "db":
      return { name: prop.name, type: "$.service.db" };
    case "alert":
      return { name: prop.name, type: "alert", alertType: prop.alertType, content: prop.content, hidden: prop.hidden, readOnly: true };
    case "dir":
      return { name: prop.name, type: "dir", accessMode: prop.accessMode, sync: prop.sync, readOnly: true };
    case "app":
      return { ...inputMembers(prop), type: "app", app: prop.app };
    case "data-store":
      return { ...inputMembers(prop), type: "data_store" };
    case "http-request":
      return { ...inputMembers(prop), type: "http_request", default: prop.default };
    case "sql":
      return { ...inputMembers(prop), type: "sql", auth: prop.app === undefined ? undefined : { app: prop.app } };
    case "user": {
      const { type, min, max, options, useQuery, withLabel } = prop;
      const facts = { secret: prop.secret || undefined, remoteOptions: prop.remoteOptions || undefined, useQuery, withLabel };
      return { ...inputMembers(prop), type, min, max, default: prop.default, options: options?.map((option) => ({ ...option })), ...facts };
    }
  }
}

function inputMembers({ name, label, description, optional, hidden, disabled, reloadProps }: InputProp): Omit<PropFacts, "type"> {
  return { name, label, description, optional: optional || undefined, hidden, disabled, reloadProps };
}

function timerInput({ default: schedule, catchUp }: TimerProp): JsonObject {
  return { ...scheduleInput(schedule), ...(catchUp === undefined ? {} : { catchUp }) };
}

/** As a timer's schedule is given. */
export function scheduleInput(schedule: Schedule): { intervalSeconds?: number; cron?: string; timezone?: string } {
  return schedule.kind === "interval" ? { intervalSeconds: schedule.seconds } : { cron: schedule.expression, timezone: schedule.timezone };
}
