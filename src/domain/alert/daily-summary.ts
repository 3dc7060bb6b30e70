import type { Tally } from "../trend/tally.ts";
import type { AlertMessage } from "./group.ts";

/** Local hour of the server. */
const HOUR = 8;

export interface Summed {
  readonly name: string;
  readonly tally: Tally;
}

/** The next 08:00, in epoch ms. */
export function nextSummaryAt(now: number): number {
  const at = new Date(now);
  at.setHours(HOUR, 0, 0, 0);
  if (at.getTime() <= now) at.setDate(at.getDate() + 1);
  return at.getTime();
}

/** `parts`: each source or workflow. Those with failures come first. */
export function summaryOf(total: Tally, parts: readonly Summed[], now: number): AlertMessage {
  const busy = parts.filter(({ tally }) => tally.runs > 0).toSorted((a, b) => b.tally.failures - a.tally.failures || b.tally.runs - a.tally.runs);
  const subject = `The last 24 hours: ${figuresOf(total)}`;
  const lines = busy.map(({ name, tally }) => `${name}: ${figuresOf(tally)}`);
  return {
    subject,
    text: [subject, ...(lines.length === 0 ? ["Nothing ran."] : lines)].join("\n\n"),
    payload: {
      type: "daily_summary",
      subject,
      at_ms: now,
      total: recordOf(total),
      parts: busy.map(({ name, tally }) => ({ name, ...recordOf(tally) })),
    },
  };
}

function figuresOf({ runs, failures, events, undelivered }: Tally): string {
  const count = (number: number, one: string, many: string): string => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
  const given = undelivered === 0 ? "" : `, ${count(undelivered, "delivery", "deliveries")} given up`;
  return `${count(runs, "run", "runs")}, ${failures.toLocaleString("en")} failed, ${count(events, "event", "events")}${given}`;
}

function recordOf({ runs, failures, events, delivered, undelivered }: Tally) {
  return { runs, failures, events, delivered, undelivered };
}
