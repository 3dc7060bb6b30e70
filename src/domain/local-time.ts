import type { JsonObject } from "./json.ts";

export interface LocalTime {
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
