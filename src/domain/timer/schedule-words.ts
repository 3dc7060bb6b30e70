/** Schedules for people. Imports no cron library, so that the web page can use it. */

interface WrittenSchedule {
  readonly cron?: string | undefined;
  readonly timezone?: string | undefined;
  readonly intervalSeconds?: number | undefined;
}

const UNITS = [
  { name: "day", seconds: 86_400 },
  { name: "hour", seconds: 3600 },
  { name: "minute", seconds: 60 },
  { name: "second", seconds: 1 },
] as const;

/** `every 5 minutes`. */
export function intervalWords(seconds: number): string {
  const unit = UNITS.find((one) => seconds % one.seconds === 0);
  return unit === undefined ? `every ${seconds} seconds` : everyWords(seconds / unit.seconds, unit.name);
}

/** `Mondays at 09:00, Europe/Berlin`. An expression that has no short words stays as it is. */
export function scheduleWords({ cron, timezone = "UTC", intervalSeconds }: WrittenSchedule): string {
  if (cron !== undefined) return `${cronWords(cron) ?? cron}, ${timezone}`;
  return intervalSeconds === undefined ? "" : intervalWords(intervalSeconds);
}

function cronWords(cron: string): string | undefined {
  const fields = cron.trim().split(/\s+/);
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  if (fields.length !== 5 || month !== "*") return undefined;
  if (day === "*" && weekday === "*" && hour === "*") return withinHour(minute);
  if (day === "*" && weekday === "*" && minute === "0" && /^\*\/\d+$/.test(hour) && 24 % Number(hour.slice(2)) === 0)
    return everyWords(Number(hour.slice(2)), "hour");
  const at = timesOf(minute, hour);
  if (at === undefined) return undefined;
  if (day === "*" && weekday === "*") return `every day at ${at}`;
  if (day === "*") return daysWords(weekday, at);
  return weekday === "*" && isNumber(day, 31) ? `on day ${Number(day)} of every month at ${at}` : undefined;
}

function withinHour(minute: string): string | undefined {
  if (minute === "*") return "every minute";
  if (/^\*\/\d+$/.test(minute)) return 60 % Number(minute.slice(2)) === 0 ? everyWords(Number(minute.slice(2)), "minute") : undefined;
  if (!isNumber(minute, 59)) return undefined;
  return Number(minute) === 0 ? "every hour" : `every hour at :${two(minute)}`;
}

function everyWords(count: number, unit: string): string {
  return count === 1 ? `every ${unit}` : `every ${count} ${unit}s`;
}

const DAYS = ["Sundays", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays"];
const SHORT = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

function daysWords(weekday: string, at: string): string | undefined {
  if (/^(1-5|mon-fri)$/i.test(weekday)) return `Mondays to Fridays at ${at}`;
  const days = weekday.split(",").map((one) => (isNumber(one, 7) ? Number(one) % 7 : SHORT.indexOf(one.toLowerCase())));
  return days.every((one) => one >= 0) ? `${days.map((one) => DAYS[one] ?? "").join(", ")} at ${at}` : undefined;
}

/** Also of several hours or minutes, but not of both. */
function timesOf(minute: string, hour: string): string | undefined {
  const [minutes, hours] = [minute.split(","), hour.split(",")];
  if (minutes.length > 1 && hours.length > 1) return undefined;
  if (!minutes.every((one) => isNumber(one, 59)) || !hours.every((one) => isNumber(one, 23))) return undefined;
  return hours.flatMap((h) => minutes.map((m) => `${two(h)}:${two(m)}`)).join(", ");
}

function isNumber(text: string, most: number): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) <= most;
}

function two(text: string): string {
  return text.padStart(2, "0");
}
