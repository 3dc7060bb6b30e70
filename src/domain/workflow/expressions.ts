import { PdError } from "../errors.ts";
import type { JsonObject, JsonValue } from "../text/json.ts";
import { LIMITS } from "../limits.ts";
import { type ExpressionEnd, endOfExpression } from "../component/javascript.ts";

/** `{{…}}` in a text is JavaScript, in which `steps` has the results so far. */
type TextPart = { readonly kind: "text"; readonly text: string } | { readonly kind: "expression"; readonly source: string };

/** Without `value`, the result is `undefined`. */
export interface ExpressionValue {
  readonly value?: JsonValue;
}

const [BEGIN, END] = ["{{", "}}"];

/**
 * JavaScript decides where an expression ends, so braces in its strings, regular expressions and comments do not end
 * it. Invalid expressions stay text.
 */
export function partsOf(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (let begin = text.indexOf(BEGIN); begin >= 0; begin = text.indexOf(BEGIN, from)) {
    const found = expressionAt(text, begin);
    if ("problem" in found) break;
    if (begin > from) parts.push({ kind: "text", text: text.slice(from, begin) });
    parts.push({ kind: "expression", source: text.slice(begin + BEGIN.length, found.end).trim() });
    from = found.end + END.length;
  }
  if (from < text.length) parts.push({ kind: "text", text: text.slice(from) });
  return parts;
}

export function expressionProblem(text: string): string | undefined {
  for (let begin = text.indexOf(BEGIN); begin >= 0;) {
    const found = expressionAt(text, begin);
    if ("problem" in found) return `${JSON.stringify(excerpt(text, begin))} is not an expression that ends with }}: ${found.problem}`;
    begin = text.indexOf(BEGIN, found.end + END.length);
  }
  return undefined;
}

/** Most expressions are such paths and need no parser. */
const PLAIN_PATH = /\s*steps(?:\.[A-Za-z_$][\w$]*|\[\d{1,9}\])+\s*(?=\}\})/y;

function expressionAt(text: string, begin: number): ExpressionEnd {
  PLAIN_PATH.lastIndex = begin + BEGIN.length;
  const plain = PLAIN_PATH.exec(text);
  if (plain !== null) return { end: PLAIN_PATH.lastIndex };
  const found = endOfExpression(text, begin + BEGIN.length);
  if ("problem" in found || text.startsWith(END, found.end)) return found;
  return { problem: found.end === text.length ? "}} is missing" : `${JSON.stringify(excerpt(text, found.end))} follows it` };
}

function excerpt(text: string, from: number): string {
  return text.length > from + 80 ? `${text.slice(from, from + 80)}…` : text.slice(from);
}

/** Without duplicates. */
export function expressionsIn(value: JsonValue): readonly string[] {
  const found = new Set<string>();
  for (const text of textsIn(value)) for (const part of partsOf(text)) if (part.kind === "expression") found.add(part.source);
  return [...found];
}

/** Names of members are not included. */
export function* textsIn(value: JsonValue): Generator<string> {
  const waiting: JsonValue[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === "string") yield next;
    if (typeof next === "object" && next !== null) waiting.push(...Object.values(next).filter((inner) => inner !== undefined));
  }
}

/**
 * A text that is one expression becomes its result, and is left out when that is `undefined`. In a longer text, objects
 * become JSON and `undefined` becomes empty.
 */
export function withExpressions(value: JsonValue, results: ReadonlyMap<string, ExpressionValue>): JsonValue | undefined {
  if (typeof value === "string") return filledText(value, results);
  if (Array.isArray(value)) return value.map((entry: JsonValue) => withExpressions(entry, results) ?? null);
  if (typeof value !== "object" || value === null) return value;
  // An assignment would lose a member named `__proto__`.
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member = null]): [string, JsonValue][] => {
      const made = withExpressions(member, results);
      return made === undefined ? [] : [[name, made]];
    }),
  );
}

function filledText(text: string, results: ReadonlyMap<string, ExpressionValue>): JsonValue | undefined {
  const parts = partsOf(text);
  const [only] = parts;
  if (parts.length === 1 && only?.kind === "expression") return results.get(only.source)?.value;
  const written = new Map<string, string>();
  let filled = "";
  for (const part of parts) {
    if (part.kind === "text") filled += part.text;
    else {
      const found = written.get(part.source) ?? writtenOut(results.get(part.source)?.value);
      written.set(part.source, found);
      filled += found;
    }
    if (filled.length > LIMITS.value)
      throw new PdError("PD_BAD_INPUT", `Cannot fill in a text with expressions: the result has more than ${LIMITS.value} characters`, {
        details: { text: text.slice(0, 200) },
      });
  }
  return filled;
}

function writtenOut(value: JsonValue | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

const PATH = /^steps((?:\.[A-Za-z_$][\w$]*|\[\d{1,9}\]|\["[^"\\]*"\]|\['[^'\\]*'\])+)$/;
const PART = /\.([A-Za-z_$][\w$]*)|\[(\d+)\]|\["([^"\\]*)"\]|\['([^'\\]*)'\]/g;

/** When undefined, the expression must run, also to report why it fails. */
export function valueOfPath(expression: string, steps: JsonObject): ExpressionValue | undefined {
  const path = PATH.exec(expression)?.[1];
  if (path === undefined) return undefined;
  let value: JsonValue | undefined = steps;
  for (const [, member, index, doubled, single] of path.matchAll(PART)) {
    const name: string = member ?? index ?? doubled ?? single ?? "";
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Array.isArray(value) ? value[Number(name)] : value[name];
  }
  return value === undefined ? undefined : { value };
}
