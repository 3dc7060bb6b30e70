import type { Log } from "../ports/log.ts";

export const MIGRATING = "migrating the database to a newer schema";

/** `time level message key=value` */
export function streamLog(stream: { write(text: string): unknown }): Log {
  const write = (level: string, message: string, fields: Record<string, unknown> = {}): void => {
    const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
    stream.write(`${new Date().toISOString()} ${level} ${inOneLine(message + rest.join(""))}\n`);
  };
  return {
    info: (message, fields) => write("info", message, fields),
    warn: (message, fields) => write("warn", message, fields),
    error: (message, fields) => write("error", message, fields),
  };
}

/** Security: text of components must not fake log lines or control the terminal. */
function inOneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (one) =>
    one === "\n" ? "\\n" : `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
