import type { Log } from "../ports/log.ts";

/** In the log of a server that starts on the database of an earlier version: it may take long. */
export const MIGRATING = "the database is brought to a newer schema";

/** One line each on stderr, for people and for log collectors: `time level message key=value`. */
export function streamLog(stream: { write(text: string): unknown }): Log {
  const write = (level: string, message: string, fields: Record<string, unknown> = {}): void => {
    const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
    stream.write(`${new Date().toISOString()} ${level} ${message}${rest.join("")}\n`);
  };
  return {
    info: (message, fields) => write("info", message, fields),
    warn: (message, fields) => write("warn", message, fields),
    error: (message, fields) => write("error", message, fields),
  };
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
