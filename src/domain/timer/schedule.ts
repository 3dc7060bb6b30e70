import { type DaysRule, daysRule, openCron } from "./cron.ts";
import { cronProblem } from "./cron-problem.ts";
import { didYouMean } from "../text/did-you-mean.ts";
import { isRecord } from "../text/json.ts";
import { intervalWords } from "./schedule-words.ts";

/** For instants that passed while the server was down or the last run was active. */
export type CatchUp = "latest" | "skip" | "all";

export type Schedule =
  | { readonly kind: "interval"; readonly seconds: number }
  | { readonly kind: "cron"; readonly expression: string; readonly timezone: string };

export interface TimerSettings {
  readonly schedule: Schedule;
  readonly catchUp?: CatchUp;
}

/** Three hundred years. */
const LONGEST_INTERVAL = 1e10;

export const HOURLY: Schedule = { kind: "interval", seconds: 3600 };

/** Reads `{ intervalSeconds }` or `{ cron, timezone? }`, also in snake case. Returns the problem as text. */
export function parseTimer(value: unknown): TimerSettings | string {
  if (!isRecord(value)) return `expected { intervalSeconds } or { cron, timezone? }, got ${JSON.stringify(value)}`;
  const catchUp = parseCatchUp(value["catchUp"] ?? value["catch_up"]);
  if (catchUp === false) return `expected a catchUp of "latest", "skip" or "all", got ${JSON.stringify(value["catchUp"] ?? value["catch_up"])}`;
  const schedule = parseSchedule(value);
  if (typeof schedule === "string") return schedule;
  return catchUp === undefined ? { schedule } : { schedule, catchUp };
}

/** Also rejects unknown members and contradictions. */
export function parseGivenTimer(value: unknown): TimerSettings | string {
  const parsed = parseTimer(value);
  if (typeof parsed === "string" || !isRecord(value)) return parsed;
  const [cron, seconds] = [value["cron"] ?? "", value["intervalSeconds"] ?? value["interval_seconds"] ?? ""];
  if (cron !== "" && seconds !== "") return `expected intervalSeconds or cron, got both: ${JSON.stringify(value)}`;
  const unknown = Object.keys(value).find((key) => !MEMBERS.includes(key));
  if (unknown === undefined) return parsed;
  const problem = `unknown name ${JSON.stringify(unknown)}${didYouMean(unknown, MEMBERS)}`;
  return `${problem}; expected intervalSeconds, or cron and timezone, and catchUp, got ${JSON.stringify(value)}`;
}

/** Chosen: a list of every minute has 170 characters. */
const MOST_OF_CRON = 250;
const MEMBERS = ["intervalSeconds", "interval_seconds", "cron", "timezone", "catchUp", "catch_up"];

function parseSchedule(value: Record<string, unknown>): Schedule | string {
  const cron = value["cron"];
  if (cron !== undefined && cron !== null && cron !== "") {
    const timezone = value["timezone"] ?? "UTC";
    if (String(cron).length > MOST_OF_CRON || String(timezone).length > MOST_OF_CRON)
      return `expected a cron and timezone of at most ${MOST_OF_CRON} characters`;
    if (typeof cron !== "string" || typeof timezone !== "string") return `expected strings as cron and timezone, got ${JSON.stringify(cron)}`;
    return isTimezone(timezone)
      ? checkCron(cron, timezone)
      : `unknown timezone ${JSON.stringify(timezone)}${didYouMean(timezone, Intl.supportedValuesOf("timeZone"))}; expected a name such as "Europe/Berlin"`;
  }
  const given = value["intervalSeconds"] ?? value["interval_seconds"];
  if (given === undefined || given === null) return HOURLY;
  const seconds = typeof given === "number" || typeof given === "string" ? Number(given) : Number.NaN;
  if (!Number.isFinite(seconds) || seconds < 1) return `expected intervalSeconds of at least 1, got ${JSON.stringify(given)}`;
  if (seconds > LONGEST_INTERVAL) return `expected intervalSeconds of at most ${LONGEST_INTERVAL}, got ${JSON.stringify(given)}`;
  return { kind: "interval", seconds: Math.round(seconds * 1000) / 1000 };
}

function parseCatchUp(value: unknown): CatchUp | undefined | false {
  if (value === undefined) return undefined;
  return value === "latest" || value === "skip" || value === "all" ? value : false;
}

function checkCron(expression: string, timezone: string): Schedule | string {
  const problem = cronProblem(expression);
  if (problem !== undefined) return problem;
  const next = openCron(expression, timezone).nextRun(new Date(0));
  return next === null ? `cron ${JSON.stringify(expression)} never fires` : { kind: "cron", expression, timezone };
}

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name }).format();
    return true;
  } catch {
    return false;
  }
}

/** First instant after `after`, epoch ms. Intervals count from `anchorAt`, so they do not drift. Undefined when a cron never fires again. */
export function nextInstant(schedule: Schedule, anchorAt: number, after: number): number | undefined {
  if (schedule.kind === "interval") {
    const step = Math.round(schedule.seconds * 1000);
    return anchorAt + Math.max(1, Math.floor((after - anchorAt) / step) + 1) * step;
  }
  const cron = openCron(schedule.expression, schedule.timezone);
  return cron.nextRun(new Date(after))?.getTime();
}

export function overProblem(schedule: Schedule): string {
  return `never fires again: ${describeSchedule(schedule)} is over`;
}

export interface MissedInstants {
  readonly count: number;
  readonly first: number;
  /** Omitted when there is only one. */
  readonly beforeLast?: number;
  readonly last: number;
  /** False when another call must count the rest. */
  readonly isAll: boolean;
}

/** Finding an instant of a cron takes a tenth of a millisecond. */
const MOST_COUNTED = 200;

/** `from` must be an instant. `until` is inclusive. */
export function countInstants(schedule: Schedule, from: number, until: number): MissedInstants {
  if (schedule.kind === "interval") {
    const step = Math.round(schedule.seconds * 1000);
    const steps = Math.floor((until - from) / step);
    return { count: steps + 1, first: from, last: from + steps * step, isAll: true, ...(steps > 0 ? { beforeLast: from + (steps - 1) * step } : {}) };
  }
  const cron = openCron(schedule.expression, schedule.timezone);
  const instants = [from];
  for (let last = from; instants.length <= MOST_COUNTED;) {
    const next = cron.nextRun(new Date(last))?.getTime();
    if (next === undefined || next > until) return { ...spanOf(instants), isAll: true };
    instants.push(next);
    last = next;
  }
  return { ...spanOf(instants.slice(0, MOST_COUNTED)), isAll: false };
}

function spanOf(instants: readonly number[]): Omit<MissedInstants, "isAll"> {
  const [first = 0] = instants;
  const beforeLast = instants.at(-2);
  return { count: instants.length, first, last: instants.at(-1) ?? first, ...(beforeLast === undefined ? {} : { beforeLast }) };
}

export function scheduleInput(schedule: Schedule): { intervalSeconds?: number; cron?: string; timezone?: string } {
  return schedule.kind === "interval" ? { intervalSeconds: schedule.seconds } : { cron: schedule.expression, timezone: schedule.timezone };
}

const DAYS: Readonly<Record<DaysRule, string>> = {
  both: ", on days that match both the day of the month and the weekday",
  either: ", on days that match the day of the month or the weekday",
};

export function describeSchedule(schedule: Schedule): string {
  if (schedule.kind === "cron") {
    const rule = daysRule(schedule.expression);
    return `cron ${schedule.expression} (${schedule.timezone})${rule === undefined ? "" : DAYS[rule]}`;
  }
  return intervalWords(schedule.seconds);
}
