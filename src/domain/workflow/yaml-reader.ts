import { type Document, LineCounter, type Node, type Pair, type ParsedNode, isAlias, isMap, isNode, isScalar, isSeq, parseDocument } from "yaml";
import { type JsonValue, isJsonValue } from "../json.ts";

/** Something that is wrong, or that has no effect, at a line of a file, from 1. */
export interface FileProblem {
  readonly line: number;
  readonly problem: string;
}

/** Aliases may make a small file large. */
const MOST_ALIASES = 100;

/** A value of a YAML file that knows where it stands. */
export interface Value {
  readonly node: ParsedNode | Node | null;
  readonly line: number;
}

/** Reads values of a YAML file, and collects what is wrong with them. */
export class YamlReader {
  readonly problems: FileProblem[] = [];
  /** What is said and does nothing. */
  readonly warnings: FileProblem[] = [];
  readonly root: Value;
  readonly #lines = new LineCounter();
  readonly #document: Document.Parsed;

  constructor(text: string) {
    const document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false, strict: true });
    for (const { message, pos } of document.errors) this.problems.push({ line: this.#lines.linePos(pos[0]).line, problem: message });
    this.root = { node: document.errors.length > 0 ? null : document.contents, line: 1 };
    this.#document = document;
    if (this.problems.length === 0) {
      try {
        // Aliases may make it huge, or a part of itself.
        JSON.stringify(document.toJS({ maxAliasCount: MOST_ALIASES }));
      } catch (error) {
        this.problems.push({ line: 1, problem: error instanceof Error ? error.message : String(error) });
      }
    }
  }

  wrong(line: number, problem: string): undefined {
    this.problems.push({ line, problem });
    return undefined;
  }

  /** Members by name; `undefined`, with a problem, for what has none. */
  members(value: Value, what: string): ReadonlyMap<string, Value> | undefined {
    const { node, line } = value;
    if (!isMap(node)) return this.wrong(line, `${what} wants names with values, as in name: value`);
    return new Map(node.items.map((pair) => [this.#nameOf(pair), this.#valueOf(pair, line)]));
  }

  /** `undefined`, with a problem, for what is no list. */
  list(value: Value, what: string): readonly Value[] | undefined {
    const { node, line } = value;
    if (!isSeq(node)) return this.wrong(line, `${what} wants a list`);
    return node.items.map((item) => ({ node: this.#meant(item), line: isNode(item) ? this.#lineOf(item, line) : line }));
  }

  text(value: Value, what: string): string | undefined {
    const found = isScalar(value.node) ? value.node.value : undefined;
    return typeof found === "string" && found !== "" ? found : this.wrong(value.line, `${what} wants a text`);
  }

  truth(value: Value, what: string): boolean | undefined {
    const found = isScalar(value.node) ? value.node.value : undefined;
    return typeof found === "boolean" ? found : this.wrong(value.line, `${what} wants true or false`);
  }

  isFalse({ node }: Value): boolean {
    return isScalar(node) && node.value === false;
  }

  whole(value: Value, what: string, { least, most }: { least: number; most: number }): number | undefined {
    const found = isScalar(value.node) ? value.node.value : undefined;
    const isFine = typeof found === "number" && Number.isInteger(found) && found >= least && found <= most;
    return isFine ? found : this.wrong(value.line, `${what} wants a whole number from ${least} to ${most}`);
  }

  /** Anything that JSON can say. */
  json({ node, line }: Value, what: string): JsonValue | undefined {
    const found: unknown = node === null ? null : node.toJS(this.#document, { maxAliasCount: MOST_ALIASES });
    return isJsonValue(found) ? found : this.wrong(line, `${what} wants a value that JSON can say`);
  }

  warn(line: number, problem: string): void {
    this.warnings.push({ line, problem });
  }

  /** Members that nobody has asked for do nothing, and that is said. */
  warnOfOthers(members: ReadonlyMap<string, Value>, known: readonly string[], what: string): void {
    for (const [name, { line }] of members) if (!known.includes(name)) this.warnings.push({ line, problem: `${what} has no ${name}: it does nothing` });
  }

  #nameOf({ key }: Pair<unknown, unknown>): string {
    return isScalar(key) ? String(key.value) : String(key);
  }

  #valueOf({ key, value }: Pair<unknown, unknown>, before: number): Value {
    const line = isNode(key) ? this.#lineOf(key, before) : before;
    return { node: this.#meant(value), line };
  }

  /** What an alias stands for. */
  #meant(item: unknown): Value["node"] {
    if (isAlias(item)) return item.resolve(this.#document) ?? null;
    return isNode(item) ? item : null;
  }

  #lineOf(node: Node, otherwise: number): number {
    return node.range == null ? otherwise : this.#lines.linePos(node.range[0]).line;
  }
}
