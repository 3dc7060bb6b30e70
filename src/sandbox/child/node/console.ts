import { type InspectOptions, format, inspect } from "node:util";
import type { LogLevel } from "../../../domain/run/invocation.ts";

export type LineSink = (level: LogLevel, text: string, rawFrom?: string) => void;

const LEVELS = ["debug", "info", "log", "warn", "error"] as const;
type ConsoleLevel = (typeof LEVELS)[number] | "trace";

/**
 * Only console lines have a position. Output that is not captured goes to its usual destination. `mirror` also receives
 * console values, for example for a debugger.
 */
export function captureOutput(sink: LineSink, isCaptured: () => boolean = () => true, mirror?: Pick<Console, ConsoleLevel>): void {
  let indent = "";
  const own = { ...console };
  const print = (level: ConsoleLevel, values: readonly unknown[]): void => {
    mirror?.[level](...values);
    const text = format(...values);
    sink(level, indent === "" ? text : indent + text.replaceAll("\n", `\n${indent}`), callerLine());
  };
  for (const level of LEVELS) console[level] = (...values: unknown[]) => (isCaptured() ? print(level, values) : own[level](...values));
  console.trace = (...values: unknown[]) => {
    if (!isCaptured()) return own.trace(...values);
    const text = format(...values);
    const stack = textOf(new Error(text).stack) || `Trace: ${text}`;
    print("trace", [
      stack
        .replace(/^Error/, "Trace")
        .split("\n")
        .filter((_line, index) => index !== 1)
        .join("\n"),
    ]);
  };
  console.group = (...values: unknown[]) => {
    if (!isCaptured()) return own.group(...values);
    if (values.length > 0) print("log", values);
    indent += "  ";
  };
  console.groupCollapsed = console.group;
  console.groupEnd = () => {
    if (!isCaptured()) return own.groupEnd();
    indent = indent.slice(2);
  };
  captureStream("stdout", sink, isCaptured);
  captureStream("stderr", sink, isCaptured);
}

/** Node before 24 stores the current call in a promise, where printing would show it. */
const OF_NODE = new Set(["kResourceStore", "async_id_symbol", "trigger_async_id_symbol"]);

export function hideCallsInPromises(): void {
  Reflect.defineProperty(Promise.prototype, inspect.custom, {
    configurable: true,
    writable: true,
    value(this: Promise<unknown>, depth: number, options: InspectOptions): string {
      for (const kept of Object.getOwnPropertySymbols(this)) if (OF_NODE.has(kept.description ?? "")) Reflect.defineProperty(this, kept, { enumerable: false });
      // Otherwise `inspect` calls this function endlessly.
      const isShadowed = Reflect.defineProperty(this, inspect.custom, { value: undefined, configurable: true });
      try {
        return inspect(this, { ...options, depth, ...(isShadowed ? {} : { customInspect: false }) });
      } finally {
        if (isShadowed) Reflect.deleteProperty(this, inspect.custom);
      }
    },
  });
}

function callerLine(): string | undefined {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 4;
  const lines = textOf(new Error("position").stack).split("\n");
  Error.stackTraceLimit = limit;
  return lines[4]?.trim();
}

/** A component's `Error.prepareStackTrace` may return anything. */
function textOf(stack: unknown): string {
  return typeof stack === "string" ? stack : "";
}

/** Patched at first use: opening a stream takes time that most components never need. */
function captureStream(name: "stdout" | "stderr", sink: LineSink, isCaptured: () => boolean): void {
  const original = Object.getOwnPropertyDescriptor(process, name);
  Object.defineProperty(process, name, {
    configurable: true,
    enumerable: true,
    get() {
      if (original !== undefined) Object.defineProperty(process, name, original);
      const stream = process[name];
      const write = stream.write.bind(stream);
      stream.write = (chunk: unknown, ...rest: unknown[]): boolean => {
        if (!isCaptured()) return Reflect.apply(write, undefined, [chunk, ...rest]) === true;
        const text = typeof chunk === "string" ? chunk : chunk instanceof Uint8Array ? Buffer.from(chunk).toString("utf8") : String(chunk);
        sink(name, text.endsWith("\n") ? text.slice(0, -1) : text);
        const done = rest.find((value) => typeof value === "function");
        if (typeof done === "function") queueMicrotask(() => done());
        return true;
      };
      return stream;
    },
  });
}
