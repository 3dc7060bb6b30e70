import { type JsonObject, type JsonValue, isJsonObject, isSameJson, parseJson, textAsJson } from "../text/json.ts";
import { type CatchUp, HOURLY, type Schedule, type TimerSettings, parseGivenTimer, parseTimer, scheduleInput } from "../timer/schedule.ts";
import { type CheckedProp, type PropFacts, type PropKind, type Reading } from "./prop-kind.ts";

export interface TimerProp {
  readonly kind: "timer";
  readonly name: string;
  readonly default: Schedule;
  /** The component's policy for missed instants. */
  readonly catchUp?: CatchUp;
  /** The default is unusable, so the user must give a value. */
  readonly defaultProblem?: string;
  /** The user cannot change a `static` schedule. */
  readonly isStatic: boolean;
}

export const timerKind: PropKind<TimerProp> = {
  kind: "timer",
  types: ["$.interface.timer"],
  read,
  facts,
  check,
  shown: (value) => (isJsonObject(value) ? bothMembers(value) : undefined),
  asking: { form: () => "seconds, or a cron expression", read: timerAnswer, isAskedAgain: true },
};

function read(name: string, { raw, problems }: Reading): TimerProp {
  const isStatic = raw["static"] !== undefined && raw["static"] !== null;
  const given = isStatic ? raw["static"] : raw["default"];
  const parsed: TimerSettings | string = given === undefined || given === null ? { schedule: HOURLY } : parseTimer(given);
  if (typeof parsed === "string") {
    if (isStatic) problems.push(`prop ${name}: ${parsed}`);
    return { kind: "timer", name, default: HOURLY, isStatic, defaultProblem: parsed };
  }
  return { kind: "timer", name, default: parsed.schedule, isStatic, ...(parsed.catchUp === undefined ? {} : { catchUp: parsed.catchUp }) };
}

function facts(prop: TimerProp): PropFacts {
  const own = settingsValue(ownSettings(prop));
  if (prop.defaultProblem !== undefined) return { name: prop.name, type: "$.interface.timer" };
  return { name: prop.name, type: "$.interface.timer", ...(prop.isStatic ? { static: own } : { default: own }) };
}

function check(prop: TimerProp, given: JsonValue | undefined): CheckedProp {
  const own = ownSettings(prop);
  if (given === undefined || given === null)
    return prop.defaultProblem === undefined
      ? { value: settingsValue(own) }
      : { problem: `has an unusable default: ${prop.defaultProblem}; give a value instead` };
  const readable = typeof given === "string" ? textAsJson(given) : given;
  const parsed = parseGivenTimer(readable);
  if (typeof parsed === "string") return { problem: `cannot be used as a schedule: ${parsed}` };
  if (prop.isStatic && !isSameJson(scheduleInput(parsed.schedule), scheduleInput(prop.default)))
    return { problem: `is fixed by the component at ${JSON.stringify(settingsValue(own))}: omit it, got ${JSON.stringify(given)}` };
  return { value: settingsValue({ ...own, ...parsed }) };
}

function ownSettings({ default: schedule, catchUp }: TimerProp): TimerSettings {
  return { schedule, ...(catchUp === undefined ? {} : { catchUp }) };
}

function settingsValue({ schedule, catchUp }: TimerSettings): JsonObject {
  return { ...scheduleInput(schedule), ...(catchUp === undefined ? {} : { catchUp }) };
}

/** A displayed schedule has both members, and one of them is `null`. */
function bothMembers(value: JsonObject): JsonObject {
  return {
    cron: value["cron"] ?? null,
    interval_seconds: value["intervalSeconds"] ?? null,
    ...(value["timezone"] === undefined ? {} : { timezone: value["timezone"] }),
    ...(value["catchUp"] === undefined ? {} : { catch_up: value["catchUp"] }),
  };
}

/** `900` means every 900 s. Other text is JSON or a cron expression. */
function timerAnswer(answer: string): JsonObject | undefined {
  if (answer.trim() === "") return undefined;
  const given = parseJson(answer);
  if (isJsonObject(given)) return given;
  return typeof given === "number" ? { intervalSeconds: given } : { cron: answer.trim() };
}
