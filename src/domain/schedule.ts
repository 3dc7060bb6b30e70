import { type DaysRule, daysRule, openCron } from "./cron.ts";
import { cronProblem } from "./cron-problem.ts";
import { didYouMean } from "./did-you-mean.ts";
import { isRecord } from "./json.ts";

/** What to do with instants that passed while the server was down or the last run still went on. */
export type CatchUp = "latest" | "skip" | "all";

/** When a timer fires. */
export type Schedule =
  | { readonly kind: "interval"; readonly seconds: number }
  | { readonly kind: "cron"; readonly expression: string; readonly timezone: string };

export interface TimerSettings {
  readonly schedule: Schedule;
  readonly catchUp?: CatchUp;
}

/** Three hundred years, in seconds. */
const LONGEST_INTERVAL = 1e10;

/** Without a configured schedule a timer runs every hour (components.md, Timer interface). */
export const HOURLY: Schedule = { kind: "interval", seconds: 3600 };

/**
 * Reads `{ intervalSeconds }` or `{ cron, timezone? }`, in either spelling of the keys.
 * Returns the reason as text when it is neither.
 */
export function parseTimer(value: unknown): TimerSettings | string {
  if (!isRecord(value)) return `wants { intervalSeconds } or { cron, timezone? }, not ${JSON.stringify(value)}`;
  const catchUp = parseCatchUp(value["catchUp"] ?? value["catch_up"]);
  if (catchUp === false) return `catchUp wants "latest", "skip" or "all", not ${JSON.stringify(value["catchUp"] ?? value["catch_up"])}`;
  const schedule = parseSchedule(value);
  if (typeof schedule === "string") return schedule;
  return catchUp === undefined ? { schedule } : { schedule, catchUp };
}

/** As `parseTimer`, and strict with what somebody gives: what is misspelt, or given twice, would be left out without a word. What components declare is taken as it is. */
export function parseGivenTimer(value: unknown): TimerSettings | string {
  const parsed = parseTimer(value);
  if (typeof parsed === "string" || !isRecord(value)) return parsed;
  // What is shown has both, and one of them is `null`.
  const [cron, seconds] = [value["cron"] ?? "", value["intervalSeconds"] ?? value["interval_seconds"] ?? ""];
  if (cron !== "" && seconds !== "") return `wants intervalSeconds or cron, and not both: ${JSON.stringify(value)}`;
  const unknown = Object.keys(value).find((key) => !MEMBERS.includes(key));
  if (unknown === undefined) return parsed;
  const problem = `has no member ${JSON.stringify(unknown)}${didYouMean(unknown, MEMBERS)}`;
  return `${problem}; it takes intervalSeconds, or cron with timezone, and catchUp, not ${JSON.stringify(value)}`;
}

/** Chosen: every minute of an hour, written out, has 170. */
const MOST_OF_CRON = 250;
const MEMBERS = ["intervalSeconds", "interval_seconds", "cron", "timezone", "catchUp", "catch_up"];

function parseSchedule(value: Record<string, unknown>): Schedule | string {
  const cron = value["cron"];
  if (cron !== undefined && cron !== null && cron !== "") {
    const timezone = value["timezone"] ?? "UTC";
    if (String(cron).length > MOST_OF_CRON || String(timezone).length > MOST_OF_CRON) return `cron and timezone want at most ${MOST_OF_CRON} characters`;
    if (typeof cron !== "string" || typeof timezone !== "string") return `cron and timezone want text, not ${JSON.stringify(cron)}`;
    return isTimezone(timezone)
      ? checkCron(cron, timezone)
      : `timezone ${JSON.stringify(timezone)} is not known${didYouMean(timezone, Intl.supportedValuesOf("timeZone"))}; it wants a name such as "Europe/Berlin"`;
  }
  const given = value["intervalSeconds"] ?? value["interval_seconds"];
  if (given === undefined || given === null) return HOURLY;
  const seconds = typeof given === "number" || typeof given === "string" ? Number(given) : Number.NaN;
  if (!Number.isFinite(seconds) || seconds < 1) return `intervalSeconds wants a number of at least 1, not ${JSON.stringify(given)}`;
  if (seconds > LONGEST_INTERVAL) return `intervalSeconds wants at most ${LONGEST_INTERVAL}, not ${JSON.stringify(given)}`;
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

/**
 * The first planned instant after `after` (both epoch ms). Intervals count from `anchorAt`,
 * never from the last run, so they do not drift. `undefined` when a cron never fires again.
 */
export function nextInstant(schedule: Schedule, anchorAt: number, after: number): number | undefined {
  if (schedule.kind === "interval") {
    const step = Math.round(schedule.seconds * 1000);
    return anchorAt + Math.max(1, Math.floor((after - anchorAt) / step) + 1) * step;
  }
  const cron = openCron(schedule.expression, schedule.timezone);
  return cron.nextRun(new Date(after))?.getTime();
}

/** What is wrong with a timer that has no next instant. */
export function overProblem(schedule: Schedule): string {
  return `fires no more: there is nothing left of ${describeSchedule(schedule)}`;
}

export interface MissedInstants {
  readonly count: number;
  readonly first: number;
  /** The last but one; absent when there is only one. */
  readonly beforeLast?: number;
  readonly last: number;
  /** False: there are more, which another call counts from there. */
  readonly isAll: boolean;
}

/** Finding the next instant of a cron takes a tenth of a millisecond; nobody is to wait for many of them. */
const MOST_COUNTED = 200;

/** Planned instants in `[from, until]`, counted; `from` is itself planned. Of crons a few hundred at a time. */
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

/** As a timer's schedule is given. */
export function scheduleInput(schedule: Schedule): { intervalSeconds?: number; cron?: string; timezone?: string } {
  return schedule.kind === "interval" ? { intervalSeconds: schedule.seconds } : { cron: schedule.expression, timezone: schedule.timezone };
}

const UNITS = [
  { name: "day", seconds: 86_400 },
  { name: "hour", seconds: 3600 },
  { name: "minute", seconds: 60 },
  { name: "second", seconds: 1 },
] as const;

const DAYS: Readonly<Record<DaysRule, string>> = {
  both: ", on days that fit both the day of the month and the weekday",
  either: ", on days that fit the day of the month or the weekday",
};

/** `every hour`, `every 15 minutes`, `cron 0 9 * * 1 (Europe/Berlin)`. */
export function describeSchedule(schedule: Schedule): string {
  if (schedule.kind === "cron") {
    const rule = daysRule(schedule.expression);
    return `cron ${schedule.expression} (${schedule.timezone})${rule === undefined ? "" : DAYS[rule]}`;
  }
  const { seconds } = schedule;
  const unit = UNITS.find((one) => seconds % one.seconds === 0);
  if (unit === undefined) return `every ${seconds} seconds`;
  const count = seconds / unit.seconds;
  return count === 1 ? `every ${unit.name}` : `every ${count} ${unit.name}s`;
}
