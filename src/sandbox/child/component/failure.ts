import { isUtf8 } from "node:buffer";
import { inspect } from "node:util";
import type { Outcome } from "../../../domain/run/invocation.ts";
import { isRecord } from "../../../domain/text/json.ts";

const [MOST_NAME, MOST_MESSAGE, MOST_STACK, MOST_CAUSE] = [200, 10_000, 50_000, 500];
const MOST_CAUSES = 6;
const MOST_MEMBERS = 500;

/** Does not throw: a component may throw a proxy or an object with throwing getters. */
export function threw(thrown: unknown): Outcome {
  try {
    return toldOf(thrown);
  } catch {
    const message = "a value that cannot be shown";
    return { kind: "threw", error: { name: "Error", message, stack: `Thrown: ${message}` } };
  }
}

function toldOf(thrown: unknown): Outcome {
  const message = textOf(thrown, "message");
  const causes = causesOf(thrown);
  const told = causes.length === 0 ? {} : { causes: causes.map(({ text }) => text) };
  if (message === undefined) {
    const shown = shownValue(thrown, MOST_MESSAGE);
    return { kind: "threw", error: { name: "Error", message: shown, stack: `Thrown: ${shown}`, ...told } };
  }
  const [name, whole] = [cut(textOf(thrown, "name") ?? "Error", MOST_NAME), cut(message, MOST_MESSAGE) + whatWasDenied(thrown)];
  const stack = cut(textOf(thrown, "stack") ?? `${name}: ${whole}`, MOST_STACK);
  return { kind: "threw", error: { name, message: whole, stack: [stack, ...causes.map((cause) => `Caused by: ${cause.stack}`)].join("\n"), ...told } };
}

interface Cause {
  readonly text: string;
  readonly stack: string;
}

/** Follows `cause`, the errors of an AggregateError, and responses of third parties. */
function causesOf(thrown: unknown): readonly Cause[] {
  const seen = new Set<unknown>([thrown]);
  const found: Cause[] = [];
  const follow = (error: unknown): void => {
    const answer = answerOf(error);
    if (answer !== undefined) found.push({ text: answer, stack: answer });
    const errors = read(error, "errors");
    const places = isList(errors) ? Array.from({ length: MOST_CAUSES }, (_, place) => read(errors, String(place))) : [];
    for (const one of [read(error, "cause"), ...places]) {
      if (one === undefined || one === null || seen.has(one) || found.length >= MOST_CAUSES) continue;
      seen.add(one);
      const cause = causeOf(one);
      if (cause !== undefined) found.push(cause);
      follow(one);
    }
  };
  follow(thrown);
  return found.slice(0, MOST_CAUSES);
}

/** Undefined when the message is empty, as in an AggregateError. */
function causeOf(cause: unknown): Cause | undefined {
  const message = textOf(cause, "message");
  if (message === undefined) {
    const text = shownValue(cause, MOST_CAUSE);
    return { text, stack: text };
  }
  if (message === "") return undefined;
  const text = cut(`${textOf(cause, "name") ?? "Error"}: ${message.replaceAll(/\s+/g, " ")}`, MOST_CAUSE);
  return { text, stack: cut(textOf(cause, "stack") ?? text, MOST_STACK / 10) };
}

/** axios sets `response.status` and `data`, got sets `response.statusCode` and `body`. */
function answerOf(error: unknown): string | undefined {
  const response = read(error, "response");
  const [status, body] = [read(response, "status") ?? read(response, "statusCode"), read(response, "data") ?? read(response, "body")];
  if (typeof status !== "number") return undefined;
  const text = body instanceof Uint8Array && isUtf8(body) ? Buffer.from(body.subarray(0, 4 * MOST_CAUSE)).toString() : body;
  const shown = text === undefined || text === null || text === "" || isStream(text) ? "" : `: ${shownValue(text, MOST_CAUSE)}`;
  return `the answer was ${status}${shown}`;
}

function isStream(value: unknown): boolean {
  return ["pipe", "getReader"].some((name) => typeof read(value, name) === "function");
}

function isList(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

function read(value: unknown, name: string): unknown {
  try {
    return (typeof value === "object" && value !== null) || typeof value === "function" ? Reflect.get(value, name) : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown, name: string): string | undefined {
  const text = read(value, name);
  return typeof text === "string" ? text : undefined;
}

/** Does not run the value's custom inspect functions. */
function shownValue(value: unknown, most: number): string {
  if (typeof value === "string") return cut(value, most);
  try {
    const members = isRecord(value) ? Object.keys(value).length : 0;
    if (members > MOST_MEMBERS) return `an object with ${members} members`;
    // `inspect` does not limit the members of nested objects.
    const isLarge = isRecord(value) && Object.keys(value).some((name) => isLargeInside(read(value, name)));
    if (isLarge)
      return cut(inspect(value, { depth: 0, customInspect: false, maxArrayLength: 20, maxStringLength: most, breakLength: Number.POSITIVE_INFINITY }), most);
    return cut(inspect(value, { depth: 2, customInspect: false, maxArrayLength: 20, maxStringLength: most, breakLength: Number.POSITIVE_INFINITY }), most);
  } catch {
    return "a value that cannot be shown";
  }
}

function isLargeInside(value: unknown, levels = 2): boolean {
  if (!isRecord(value) || ArrayBuffer.isView(value)) return false;
  const names = Object.keys(value);
  return names.length > MOST_MEMBERS || (levels > 1 && names.some((name) => isLargeInside(read(value, name), levels - 1)));
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} more characters)`;
}

/** Node puts what was denied only into members of the error. */
function whatWasDenied(thrown: unknown): string {
  const [permission, resource] = [textOf(thrown, "permission"), textOf(thrown, "resource")];
  if (read(thrown, "code") !== "ERR_ACCESS_DENIED" || permission === undefined) return "";
  const rule = RULES[permission] ?? permission;
  return ` (${rule}${resource === undefined || resource === "" ? "" : `: ${resource}`})`;
}

const RULES: Readonly<Record<string, string>> = {
  ChildProcess: "components may not start programs. --allow-run true allows it inside the wall: pd update <source or workflow>, or pd run-action",
  WorkerThreads: "components may not start worker threads",
  FileSystemRead: "components may read only their own folder and packages",
  FileSystemWrite: "components may write only to their own folder",
  Addons: "components may not load native code unless the server is started with --allow-addons true",
  Inspector: "components may not open a debugger",
  WASI: "components may not use WASI",
};
