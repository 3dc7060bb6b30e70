import type * as z from "zod";
import { nearestTo } from "../domain/text/did-you-mean.ts";

type Issue = Parameters<z.core.$ZodErrorMap>[0];

/** Values under such names may be secret and are not quoted. */
const SECRET = /credential|secret|token|password|key|env|props|header|code|files|fields|state|url/i;
const MOST_QUOTED = 80;
const MOST_NAMES = 10;

/** Used where the schema does not define a message. */
function wantedWords(issue: Issue): string {
  if (issue.code === "unrecognized_keys") return unknownMembers(issue.keys, knownMembers(issue));
  if (issue.code === "invalid_key") return issue.issues.map(({ message }) => message).join("; ");
  return wanted(issue);
}

export const IN_WORDS = { error: wantedWords } as const;

export interface Problem {
  readonly path: readonly PropertyKey[];
  /** `component_imports[0].code: is missing` */
  readonly text: string;
}

/** `whole` is the name of the value itself. */
export function problemsOf({ issues }: z.ZodError, { whole, given }: { whole: string; given: unknown }, most = Number.POSITIVE_INFINITY): Problem[] {
  return issues.slice(0, most).map((issue) => ({ path: issue.path, text: `${placeOf(issue.path) || whole}: ${textOf(issue, valueAt(given, issue.path))}` }));
}

/** Quotes the given value. The schema may have checked a transformed one. */
function textOf({ code, message, path }: z.core.$ZodIssue, given: unknown): string {
  if (given === undefined && code !== "custom" && code !== "unrecognized_keys" && code !== "invalid_key") return "is missing";
  const isTold = given === undefined || code === "unrecognized_keys" || code === "invalid_key" || message.includes(", got ");
  if (isTold || path.some((part) => SECRET.test(String(part)))) return message;
  return `${message}, got ${shortOf(given)}`;
}

/** Objects and lists may contain secrets. */
function shortOf(given: unknown): string {
  if (Array.isArray(given)) return "a list";
  if (typeof given === "object" && given !== null) return "an object";
  const text = JSON.stringify(given) ?? String(given);
  return text.length <= MOST_QUOTED ? text : `${text.slice(0, MOST_QUOTED)}…`;
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  let value = given;
  for (const part of path) value = typeof value === "object" && value !== null && Object.hasOwn(value, part) ? Reflect.get(value, part) : undefined;
  return value;
}

function placeOf(path: readonly PropertyKey[]): string {
  return path.map((part, index) => (typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${String(part)}`)).join("");
}

function wanted(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return `expected ${typeWords(issue.expected)}`;
    case "invalid_value":
      return `expected ${oneOf(issue.values)}`;
    case "too_small":
      return issue.origin === "string" ? `expected at least ${issue.minimum} characters` : `expected ${sizeWords("at least", issue.minimum, issue.origin)}`;
    case "too_big":
      return issue.origin === "string" ? `expected at most ${issue.maximum} characters` : `expected ${sizeWords("at most", issue.maximum, issue.origin)}`;
    case "invalid_union":
      return unionWords(issue.errors);
    case "invalid_format":
      return issue.format === "url" ? "expected an address such as https://example.com/" : `expected a string in the format ${issue.format}`;
    case "not_multiple_of":
      return "expected a whole number";
    default:
      return "expected another value";
  }
}

function typeWords(expected: string): string {
  const words: Readonly<Record<string, string>> = {
    string: "a string",
    number: "a number",
    int: "a whole number",
    boolean: "true or false",
    array: "a list",
    object: "an object",
    record: "an object",
    null: "null",
  };
  return words[expected] ?? `a value of type ${expected}`;
}

function sizeWords(bound: string, size: number | bigint, origin: string): string {
  return origin === "array" || origin === "set" ? `${bound} ${size} entries` : `${bound} ${size}`;
}

function oneOf(values: readonly unknown[]): string {
  const shown = values.map((value) => JSON.stringify(value));
  return shown.length === 1 ? String(shown[0]) : `one of ${shown.join(", ")}`;
}

function unionWords(errors: readonly (readonly z.core.$ZodIssue[])[]): string {
  const words = errors.flatMap(([first]) => (first === undefined ? [] : [first.message.replace(/^expected /, "")]));
  return `expected ${[...new Set(words)].join(", or ")}`;
}

function unknownMembers(names: readonly string[], known: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => name.slice(0, MOST_QUOTED));
  const nearest = nearestTo(shown, known);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : "";
  return `unknown name ${shown.map((name, index) => `${JSON.stringify(name)}${nearest[index] ?? ""}`).join(", ")}${more}`;
}

function knownMembers({ inst }: Issue): readonly string[] {
  const definition: object | undefined = inst?._zod.def;
  return definition !== undefined && "shape" in definition && typeof definition.shape === "object" ? Object.keys(definition.shape ?? {}) : [];
}
