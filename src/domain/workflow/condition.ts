import type { JsonValue } from "../json.ts";
import { partsOf } from "./expressions.ts";
import { readExpression } from "../javascript.ts";

/** What a branch or a loop depends on, as it is evaluated: a value, or a text that is one `{{…}}`. */
export type Dependence = { readonly value: JsonValue } | { readonly problem: string };

/** Operators whose result is what was asked for, so that expressions joined by them are one. */
const JOINED = new Set(["LogicalExpression", "BinaryExpression", "UnaryExpression", "ConditionalExpression", "ParenthesizedExpression"]);
const AROUND = new Set(["steps", "event", "$", "process", ...Object.getOwnPropertyNames(globalThis)]);

/** `if`: true, false or an expression, with braces around all of it, around its parts, or none. Any other text would always be true. */
export function readCondition(given: JsonValue): Dependence {
  if (typeof given === "boolean") return { value: given };
  if (typeof given !== "string") return { problem: `if wants an expression, as {{steps.a.$return_value > 1}}, not ${JSON.stringify(given)}` };
  const whole = wholeExpression(given);
  if (whole !== undefined) return { value: `{{${whole}}}` };
  const joined = joinedExpression(given);
  if (joined !== undefined) return { value: `{{${joined}}}` };
  const reason = given.includes("{{") ? "is text around expressions, which is always true" : "is a text, which is always true";
  return { problem: `if: ${JSON.stringify(given)} ${reason}; write one expression, as {{steps.a.$return_value > 1}}` };
}

/** `switch`: one expression, or a value. Expressions inside a text are refused: nobody can tell whether they mean a text or a sum. */
export function readChoice(given: JsonValue): Dependence {
  return given === null ? { problem: "switch wants an expression, as {{steps.a.$return_value}}" } : oneExpression(given, "switch");
}

/** `for_each`: a list, or one expression that makes one. */
export function readItems(given: JsonValue): Dependence {
  if (Array.isArray(given)) return { value: given };
  if (typeof given === "string") return oneExpression(given, "for_each");
  return { problem: `for_each wants a list, or an expression that makes one, not ${JSON.stringify(given)}` };
}

function oneExpression(given: JsonValue, what: string): Dependence {
  if (typeof given !== "string") return { value: given };
  const whole = wholeExpression(given) ?? bareExpression(given);
  if (whole !== undefined) return { value: `{{${whole}}}` };
  return { problem: `${what}: ${JSON.stringify(given)} is a text and no expression; write one expression, as {{steps.a.$return_value}}` };
}

/** The text is one `{{…}}`, blanks around it aside. */
function wholeExpression(given: string): string | undefined {
  const [only, ...others] = partsOf(given.trim());
  return only?.kind === "expression" && others.length === 0 ? only.source : undefined;
}

/** `{{a}} && !{{b}}`, and what has no braces at all. */
function joinedExpression(given: string): string | undefined {
  if (!given.includes("{{")) return bareExpression(given);
  const text = partsOf(given.trim())
    .map((part) => (part.kind === "text" ? part.text : `(${part.source}\n)`))
    .join("");
  return JOINED.has(readExpression(text)?.type ?? "") ? text : undefined;
}

/** It reads results of steps, or is `true` or `false`. */
function bareExpression(given: string): string | undefined {
  const text = given.trim();
  const found = text.includes("{{") ? undefined : readExpression(text);
  if (found === undefined) return undefined;
  const isKnown = (found.names.has("steps") || found.names.has("event")) && [...found.names].every((name) => AROUND.has(name));
  return isKnown || found.isBooleanLiteral ? text : undefined;
}
