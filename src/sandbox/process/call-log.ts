import type { LogLevel, LogLine } from "../../domain/run/invocation.ts";

export interface PrintedAmount {
  lines: number;
  /** Characters. */
  size: number;
}

const MAX_LINES = 10_000;
const MAX_SIZE = 1_000_000;

/** Undefined when the call has printed too much. The last line says so. */
export function keepLine(printed: PrintedAmount, line: LogLine): LogLine | undefined {
  if (printed.lines > MAX_LINES || printed.size > MAX_SIZE) return undefined;
  printed.lines += 1;
  printed.size += line.text.length;
  const isLast = printed.lines > MAX_LINES || printed.size > MAX_SIZE;
  const level: LogLevel = "system";
  return isLast ? { at: line.at, level, text: "Further output of this call is dropped: it printed too much" } : line;
}
