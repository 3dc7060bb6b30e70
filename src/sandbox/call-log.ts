import type { LogLevel, LogLine } from "../domain/invocation.ts";

/** How much a call has printed. */
export interface PrintedAmount {
  lines: number;
  /** Characters. */
  size: number;
}

/** Output beyond this is dropped, with a line that says so. */
const MAX_LINES = 10_000;
const MAX_SIZE = 1_000_000;

/** The line as it is kept; `undefined` when it is too much. The last one that is kept says so. */
export function keepLine(printed: PrintedAmount, line: LogLine): LogLine | undefined {
  if (printed.lines > MAX_LINES || printed.size > MAX_SIZE) return undefined;
  printed.lines += 1;
  printed.size += line.text.length;
  const isLast = printed.lines > MAX_LINES || printed.size > MAX_SIZE;
  const level: LogLevel = "system";
  return isLast ? { at: line.at, level, text: "Further output of this call is dropped: it printed too much" } : line;
}
