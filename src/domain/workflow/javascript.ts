import { type Node, type Options, parseExpressionAt } from "acorn";
import { isRecord } from "../json.ts";

/** With parentheses as nodes, as an expression may end with one. */
const OPTIONS: Options = { ecmaVersion: "latest", preserveParens: true };

/** Blanks and comments behind an expression. A comment to the end of its line may have the braces that end the expression in it. */
const REST = /(?:\s|\/\*[^]*?\*\/|\/\/[^\n]*?(?:\n|(?=\}\})))*/y;

export type ExpressionEnd =
  /** Index behind the expression and the comments that follow it. */
  { readonly end: number } | { readonly problem: string };

/** Where the JavaScript expression ends that begins at an index of a text, as JavaScript itself reads it. */
export function endOfExpression(text: string, from: number): ExpressionEnd {
  try {
    // With an index the library would count the lines before it each time.
    const end = from + parseExpressionAt(text.slice(from), 0, OPTIONS).end;
    REST.lastIndex = end;
    return { end: end + (REST.exec(text)?.[0].length ?? 0) };
  } catch (error) {
    // The library counts from the beginning of the text, which nobody sees.
    return { problem: error instanceof RangeError ? "it is nested too deeply" : withoutPlace(error) };
  }
}

/** What an expression as a whole is; `undefined`: the text is no single expression. */
export function readExpression(text: string): ExpressionFacts | undefined {
  const found = endOfExpression(text, 0);
  if ("problem" in found || found.end < text.length) return undefined;
  const node = parseExpressionAt(text, 0, OPTIONS);
  return { type: node.type, isBooleanLiteral: "value" in node && typeof node.value === "boolean", names: freeNames(node) };
}

export interface ExpressionFacts {
  /** Of the node at the top, as ESTree has it: `LogicalExpression`, `Identifier`. */
  readonly type: string;
  readonly isBooleanLiteral: boolean;
  /** Names that it reads from what is around it. */
  readonly names: ReadonlySet<string>;
}

function withoutPlace(error: unknown): string {
  return error instanceof Error ? error.message.replace(/ \(\d+:\d+\)$/, "") : String(error);
}

/** Names that occur as values, but for those that some function, class or variable inside binds. */
function freeNames(root: Node): ReadonlySet<string> {
  const used = new Set<string>();
  const bound = new Set<string>(["undefined", "arguments"]);
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (Array.isArray(node)) waiting.push(...node);
    if (!isRecord(node) || typeof node["type"] !== "string") continue;
    const { type, computed } = node;
    if (type === "Identifier") used.add(String(node["name"]));
    if (/Function|Class/.test(type)) for (const part of [node["params"], node["id"]]) noteNames(part, bound);
    if (type === "VariableDeclarator") noteNames(node["id"], bound);
    if (type === "CatchClause") noteNames(node["param"], bound);
    for (const [name, part] of Object.entries(node)) {
      const isName = computed !== true && ((type === "MemberExpression" && name === "property") || (/Property|Method/.test(type) && name === "key"));
      if (!isName && typeof part === "object") waiting.push(part);
    }
  }
  return new Set([...used].filter((name) => !bound.has(name)));
}

function noteNames(pattern: unknown, names: Set<string>): void {
  if (Array.isArray(pattern)) for (const part of pattern) noteNames(part, names);
  if (!isRecord(pattern)) return;
  if (pattern["type"] === "Identifier") names.add(String(pattern["name"]));
  for (const part of ["elements", "properties", "value", "left", "argument"]) noteNames(pattern[part], names);
}
