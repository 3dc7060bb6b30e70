import type { JsonValue } from "../text/json.ts";
import { partsOf } from "./expressions.ts";
import { readExpression } from "../component/javascript.ts";

/** A value, or a string that is one `{{…}}`. */
export type Dependence = { readonly value: JsonValue } | { readonly problem: string };

/** May join expressions to one. */
const JOINED = new Set(["LogicalExpression", "BinaryExpression", "UnaryExpression", "ConditionalExpression", "ParenthesizedExpression"]);
const AROUND = new Set(["steps", "event", "$", "process", ...Object.getOwnPropertyNames(globalThis)]);

/** A boolean or an expression, with braces around all, parts or none of it. Other text would always be true. */
export function readCondition(given: JsonValue): Dependence {
  if (typeof given === "boolean") return { value: given };
  if (typeof given !== "string") return { problem: `if: expected an expression such as {{steps.a.$return_value > 1}}, got ${JSON.stringify(given)}` };
  const whole = wholeExpression(given);
  if (whole !== undefined) return { value: `{{${whole}}}` };
  const joined = joinedExpression(given);
  if (joined !== undefined) return { value: `{{${joined}}}` };
  const reason = given.includes("{{") ? "has text around expressions, so it is always true" : "is text, so it is always true";
  return { problem: `if: ${JSON.stringify(given)} ${reason}; write one expression such as {{steps.a.$return_value > 1}}` };
}

/** One expression or a value. Expressions within text are refused, because the intent is unclear. */
export function readChoice(given: JsonValue): Dependence {
  return given === null ? { problem: "switch: expected an expression such as {{steps.a.$return_value}}" } : oneExpression(given, "switch");
}

/** A list, or one expression that returns one. */
export function readItems(given: JsonValue): Dependence {
  if (Array.isArray(given)) return { value: given };
  if (typeof given === "string") return oneExpression(given, "for_each");
  return { problem: `for_each: expected a list, or an expression that returns one, got ${JSON.stringify(given)}` };
}

function oneExpression(given: JsonValue, what: string): Dependence {
  if (typeof given !== "string") return { value: given };
  const whole = wholeExpression(given) ?? bareExpression(given);
  if (whole !== undefined) return { value: `{{${whole}}}` };
  return { problem: `${what}: ${JSON.stringify(given)} is text, not an expression; write one expression such as {{steps.a.$return_value}}` };
}

function wholeExpression(given: string): string | undefined {
  const [only, ...others] = partsOf(given.trim());
  return only?.kind === "expression" && others.length === 0 ? only.source : undefined;
}

/** Accepts `{{a}} && !{{b}}`, and text without braces. */
function joinedExpression(given: string): string | undefined {
  if (!given.includes("{{")) return bareExpression(given);
  const text = partsOf(given.trim())
    .map((part) => (part.kind === "text" ? part.text : `(${part.source}\n)`))
    .join("");
  return JOINED.has(readExpression(text)?.type ?? "") ? text : undefined;
}

/** Accepts `true`, `false`, and expressions that read results of steps. */
function bareExpression(given: string): string | undefined {
  const text = given.trim();
  const found = text.includes("{{") ? undefined : readExpression(text);
  if (found === undefined) return undefined;
  const isKnown = (found.names.has("steps") || found.names.has("event")) && [...found.names].every((name) => AROUND.has(name));
  return isKnown || found.isBooleanLiteral ? text : undefined;
}
