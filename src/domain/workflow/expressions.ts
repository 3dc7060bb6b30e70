import { PdError } from "../errors.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { LIMITS } from "../limits.ts";

/** `{{…}}` in texts of a workflow: JavaScript, in which `steps` are the results so far (workflows.md §1). */
type TextPart = { readonly kind: "text"; readonly text: string } | { readonly kind: "expression"; readonly source: string };

/** What an expression has come to; absent: `undefined`, which JSON cannot say. */
export interface ExpressionValue {
  readonly value?: JsonValue;
}

const [BEGIN, END] = ["{{", "}}"];
const PAIRS: Readonly<Record<string, string>> = { "{": "}", "(": ")", "[": "]" };

/** Expressions and what stands between them. One that does not end is text. */
export function partsOf(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (let begin = text.indexOf(BEGIN); begin >= 0; begin = text.indexOf(BEGIN, from)) {
    const end = endOfExpression(text, begin + BEGIN.length);
    if (end === undefined) break;
    if (begin > from) parts.push({ kind: "text", text: text.slice(from, begin) });
    parts.push({ kind: "expression", source: text.slice(begin + BEGIN.length, end).trim() });
    from = end + END.length;
  }
  if (from < text.length) parts.push({ kind: "text", text: text.slice(from) });
  return parts;
}

/** Where the braces are that end it: not those of an object, and not those in a text of its own. */
function endOfExpression(text: string, from: number): number | undefined {
  const open: string[] = [];
  for (let at = from; at < text.length; at++) {
    const sign = text[at] ?? "";
    if (open.length === 0 && text.startsWith(END, at)) return at;
    if (sign === '"' || sign === "'" || sign === "`") {
      const end = endOfText(text, at);
      if (end === undefined) return undefined;
      at = end;
    } else if (PAIRS[sign] !== undefined) open.push(PAIRS[sign]);
    else if (sign === open.at(-1)) open.pop();
  }
  return undefined;
}

function endOfText(text: string, begin: number): number | undefined {
  for (let at = begin + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === text[begin]) return at;
  }
  return undefined;
}

/** Every expression of a value, once each. */
export function expressionsIn(value: JsonValue): readonly string[] {
  const found = new Set<string>();
  const waiting: JsonValue[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === "string") for (const part of partsOf(next)) if (part.kind === "expression") found.add(part.source);
    if (typeof next === "object" && next !== null) waiting.push(...Object.values(next).filter((inner) => inner !== undefined));
  }
  return [...found];
}

/**
 * The value with what its expressions have come to. A text that is one expression becomes what that is, of any type, and
 * is left out where it is `undefined`. In a longer text it is written out: objects as JSON, `undefined` as nothing.
 */
export function withExpressions(value: JsonValue, results: ReadonlyMap<string, ExpressionValue>): JsonValue | undefined {
  if (typeof value === "string") return filledText(value, results);
  if (Array.isArray(value)) return value.map((entry: JsonValue) => withExpressions(entry, results) ?? null);
  if (typeof value !== "object" || value === null) return value;
  // A member may be called __proto__, which an assignment would lose.
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
      throw new PdError("PD_BAD_INPUT", `Cannot fill in a text with expressions: it comes to more than ${LIMITS.value} characters`, {
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

/**
 * What an expression has come to that only walks through results, as most do. `undefined`: it has to be run to know, or
 * to know why it comes to nothing.
 */
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
