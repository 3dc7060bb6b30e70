import { type Node, type Options, type Program, parse, parseExpressionAt } from "acorn";
import { isRecord } from "../text/json.ts";

/** An expression may end with a parenthesis. */
const OPTIONS: Options = { ecmaVersion: "latest", preserveParens: true };

/** Whitespace and comments. A line comment ends before `}}`, which ends the expression. */
const REST = /(?:\s|\/\*[^]*?\*\/|\/\/[^\n]*?(?:\n|(?=\}\})))*/y;

export type ExpressionEnd =
  /** Index after the expression and the comments behind it. */
  { readonly end: number } | { readonly problem: string };

export function endOfExpression(text: string, from: number): ExpressionEnd {
  try {
    // With an index, the library counts all preceding lines.
    const end = from + parseExpressionAt(text.slice(from), 0, OPTIONS).end;
    REST.lastIndex = end;
    return { end: end + (REST.exec(text)?.[0].length ?? 0) };
  } catch (error) {
    // The library's position refers to the slice.
    return { problem: error instanceof RangeError ? "it is nested too deeply" : withoutPlace(error) };
  }
}

export function readExpression(text: string): ExpressionFacts | undefined {
  const found = endOfExpression(text, 0);
  if ("problem" in found || found.end < text.length) return undefined;
  const node = parseExpressionAt(text, 0, OPTIONS);
  return { type: node.type, isBooleanLiteral: "value" in node && typeof node.value === "boolean", names: freeNames(node) };
}

export interface ExpressionFacts {
  /** ESTree type of the top node, such as `Identifier`. */
  readonly type: string;
  readonly isBooleanLiteral: boolean;
  /** Free names. */
  readonly names: ReadonlySet<string>;
}

/** `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A file without exports. */
export interface Script {
  readonly imports: readonly Span[];
  /** Set when the file has imports and this function only. */
  readonly onlyFunction: Span | undefined;
  /** Members read from an object: `slack` in `auths.slack`. */
  membersOf(name: string): readonly string[];
}

/** Undefined when the file has exports or does not parse. */
export function readScript(text: string): Script | undefined {
  const program = programOf(text);
  if (program === undefined || program.body.some(({ type }) => type.startsWith("Export")) || assignsExports(program)) return undefined;
  const imports = program.body.filter(({ type }) => type === "ImportDeclaration");
  const [only, ...others] = program.body.filter(({ type }) => type !== "ImportDeclaration" && type !== "EmptyStatement");
  const value = others.length > 0 ? undefined : only?.type === "ExpressionStatement" ? only.expression : only;
  return { imports, onlyFunction: value !== undefined && /Function/.test(value.type) ? value : undefined, membersOf: (name) => membersOf(program, name) };
}

/** Code that is not a module is read as a script. The compiler reports errors. */
function programOf(text: string): Program | undefined {
  for (const sourceType of ["module", "script"] as const) {
    try {
      return parse(text, { ecmaVersion: "latest", sourceType, allowReturnOutsideFunction: true, allowAwaitOutsideFunction: true, allowHashBang: true });
    } catch {
      continue;
    }
  }
  return undefined;
}

function assignsExports(program: Program): boolean {
  for (const node of nodesOf(program)) {
    const object = node["type"] === "MemberExpression" && isRecord(node["object"]) ? node["object"] : {};
    const property = isRecord(node["property"]) ? node["property"]["name"] : undefined;
    if (object["type"] === "Identifier" && (object["name"] === "exports" || (object["name"] === "module" && property === "exports"))) return true;
  }
  return false;
}

function membersOf(program: Program, name: string): readonly string[] {
  const found = new Set<string>();
  const isNamed = (node: unknown): boolean => isRecord(node) && node["type"] === "Identifier" && node["name"] === name;
  const note = (key: unknown, isComputed: boolean): void => {
    const member = isRecord(key) ? (isComputed || key["type"] === "Literal" ? key["value"] : key["name"]) : undefined;
    if (typeof member === "string") found.add(member);
  };
  for (const node of nodesOf(program)) {
    if (node["type"] === "MemberExpression" && isNamed(node["object"])) note(node["property"], node["computed"] === true);
    // const { slack } = auths
    const pattern = node["type"] === "VariableDeclarator" && isNamed(node["init"]) && isRecord(node["id"]) ? node["id"]["properties"] : [];
    for (const property of Array.isArray(pattern) ? pattern.filter(isRecord) : []) note(property["key"], property["computed"] === true);
  }
  return [...found];
}

function* nodesOf(root: Node): Generator<Record<string, unknown>> {
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (Array.isArray(node)) waiting.push(...node);
    if (!isRecord(node) || typeof node["type"] !== "string") continue;
    yield node;
    waiting.push(...Object.values(node).filter((part) => typeof part === "object"));
  }
}

function withoutPlace(error: unknown): string {
  return error instanceof Error ? error.message.replace(/ \(\d+:\d+\)$/, "") : String(error);
}

/** Ignores scopes: a name bound anywhere inside is not free. */
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
