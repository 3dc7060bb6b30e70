import type { LogLevel, LogLine } from "../domain/invocation.ts";

/** What one call has printed. */
export interface CallLog {
  readonly logs: LogLine[];
  /** Characters. */
  logSize: number;
}

/** Output beyond this is dropped, with a line that says so. */
const MAX_LINES = 10_000;
const MAX_SIZE = 1_000_000;

/** The line as it is kept; `undefined` when it is too much. The last one that is kept says so. */
export function keepLine(log: CallLog, line: LogLine): LogLine | undefined {
  if (log.logs.length > MAX_LINES || log.logSize > MAX_SIZE) return undefined;
  log.logSize += line.text.length;
  const isLast = log.logs.length === MAX_LINES || log.logSize > MAX_SIZE;
  const level: LogLevel = "system";
  const kept = isLast ? { at: line.at, level, text: "Further output of this call is dropped: it printed too much" } : line;
  log.logs.push(kept);
  return kept;
}
