import { Cron } from "croner";

/** How the day of the month and the weekday go together where both are restricted. */
export type DaysRule = "both" | "either";

/** Throws what is wrong with it. `0/5` means from 0 on every 5. */
export function openCron(expression: string, timezone?: string): Cron {
  const zone = timezone === undefined ? {} : { timezone };
  return new Cron(expression, { ...zone, paused: true, sloppyRanges: true, domAndDow: daysRule(expression) === "both" });
}

/**
 * As vixie's cron has it: a day has to fit both where one of the two begins with `*`, and else either.
 * `undefined`: at most one of them says something.
 */
export function daysRule(expression: string): DaysRule | undefined {
  const parts = expression.trim().split(/\s+/);
  if (parts.length < 5) return undefined;
  const [month, weekday] = [parts.length === 5 ? parts[2] : parts[3], parts.length === 5 ? parts[4] : parts[5]];
  if (month === undefined || weekday === undefined || [month, weekday].some((part) => part === "*" || part === "?")) return undefined;
  return month.startsWith("*") || weekday.startsWith("*") ? "both" : "either";
}
