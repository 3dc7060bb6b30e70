import { Cron } from "croner";

export type DaysRule = "both" | "either";

/** Throws for an invalid expression. `0/5` means every 5, starting at 0. */
export function openCron(expression: string, timezone?: string): Cron {
  const zone = timezone === undefined ? {} : { timezone };
  return new Cron(expression, { ...zone, paused: true, sloppyRanges: true, domAndDow: daysRule(expression) === "both" });
}

/** As in vixie cron, a day must match both parts when one starts with `*`, otherwise either. Undefined unless both are restricted. */
export function daysRule(expression: string): DaysRule | undefined {
  const parts = expression.trim().split(/\s+/);
  if (parts.length < 5) return undefined;
  const [month, weekday] = [parts.length === 5 ? parts[2] : parts[3], parts.length === 5 ? parts[4] : parts[5]];
  if (month === undefined || weekday === undefined || [month, weekday].some((part) => part === "*" || part === "?")) return undefined;
  return month.startsWith("*") || weekday.startsWith("*") ? "both" : "either";
}
