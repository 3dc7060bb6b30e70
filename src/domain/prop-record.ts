import { type JsonObject, type JsonValue, isJsonValue } from "./json.ts";
import type { InputProp, PropDeclaration } from "./prop.ts";
import type { Schedule } from "./schedule.ts";

/** One entry of `configurable_props`: type always explicit, functions told as facts. */
export function propRecord(prop: PropDeclaration): JsonObject {
  switch (prop.kind) {
    case "http":
      return { name: prop.name, type: "$.interface.http", ...(prop.customResponse ? { customResponse: true } : {}) };
    case "app-hook":
      return { name: prop.name, type: "$.interface.apphook", ...(prop.eventNames === undefined ? {} : { eventNames: [...prop.eventNames] }) };
    case "timer":
      return {
        name: prop.name,
        type: "$.interface.timer",
        [prop.isStatic ? "static" : "default"]: { ...scheduleInput(prop.default), ...(prop.catchUp === undefined ? {} : { catchUp: prop.catchUp }) },
      };
    case "db":
      return { name: prop.name, type: "$.service.db" };
    case "alert":
      return present({ name: prop.name, type: "alert", alertType: prop.alertType, content: prop.content, hidden: prop.hidden, readOnly: true });
    case "dir":
      return present({ name: prop.name, type: "dir", accessMode: prop.accessMode, sync: prop.sync, readOnly: true });
    case "app":
      return present({ ...inputMembers(prop), type: "app", app: prop.app });
    case "data-store":
      return present({ ...inputMembers(prop), type: "data_store" });
    case "http-request":
      return present({ ...inputMembers(prop), type: "http_request", default: prop.default });
    case "sql":
      return present({ ...inputMembers(prop), type: "sql", auth: prop.app === undefined ? undefined : { app: prop.app } });
    case "user": {
      const { type, min, max, options, useQuery, withLabel } = prop;
      const facts = { secret: prop.secret || undefined, remoteOptions: prop.remoteOptions || undefined, useQuery, withLabel };
      return present({ ...inputMembers(prop), type, min, max, default: prop.default, options: options?.map((option) => ({ ...option })), ...facts });
    }
  }
}

function inputMembers({ name, label, description, optional, hidden, disabled, reloadProps }: InputProp): Record<string, unknown> {
  return { name, label, description, optional: optional || undefined, hidden, disabled, reloadProps };
}

/** As a timer's schedule is given. */
export function scheduleInput(schedule: Schedule): JsonObject {
  return schedule.kind === "interval" ? { intervalSeconds: schedule.seconds } : { cron: schedule.expression, timezone: schedule.timezone };
}

function present(members: Record<string, unknown>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter((entry): entry is [string, JsonValue] => isJsonValue(entry[1])));
}
