import { type LineCounter, type Node, type Pair, type ParsedNode, isMap, isNode, isScalar, isSeq } from "yaml";
import { type FileProblem, type YamlRead, readYaml } from "../text/bounded-yaml.ts";
import { nearestTo } from "../text/did-you-mean.ts";
import { type JsonValue, isJsonValue } from "../text/json.ts";

export interface Value {
  readonly node: ParsedNode | Node | null;
  readonly line: number;
}

/** Its spelling differs from its value, such as `01067`. */
export interface WrittenScalar {
  /** Names and list indices, from the value that was read. */
  readonly path: readonly (string | number)[];
  readonly line: number;
  readonly text: string;
  readonly value: number | boolean;
}

/** Methods return undefined and add a problem for a value of the wrong type. */
export class YamlReader {
  readonly problems: FileProblem[];
  readonly warnings: FileProblem[] = [];
  readonly root: Value;
  readonly #read: YamlRead;

  constructor(text: string) {
    this.#read = readYaml(text);
    this.problems = this.#read.kind === "refused" ? [...this.#read.problems] : [];
    this.root = { node: this.#read.kind === "refused" ? null : this.#read.document.contents, line: 1 };
  }

  wrong(line: number, problem: string): undefined {
    this.problems.push({ line, problem });
    return undefined;
  }

  members(value: Value, what: string): ReadonlyMap<string, Value> | undefined {
    const { node, line } = value;
    if (!isMap(node)) return this.wrong(line, `${what}: expected names with values, as in name: value`);
    return new Map(node.items.map((pair) => [this.#nameOf(pair), this.#valueOf(pair, line)]));
  }

  list(value: Value, what: string): readonly Value[] | undefined {
    const { node, line } = value;
    if (!isSeq(node)) return this.wrong(line, `${what}: expected a list`);
    return node.items.map((item) => ({ node: isNode(item) ? item : null, line: isNode(item) ? this.#lineOf(item, line) : line }));
  }

  text(value: Value, what: string): string | undefined {
    const found = isScalar(value.node) ? value.node.value : undefined;
    return typeof found === "string" && found !== "" ? found : this.wrong(value.line, `${what}: expected a string`);
  }

  truth(value: Value, what: string): boolean | undefined {
    const found = isScalar(value.node) ? value.node.value : undefined;
    return typeof found === "boolean" ? found : this.wrong(value.line, `${what}: expected true or false`);
  }

  isNothing({ node }: Value): boolean {
    return node === null || (isScalar(node) && node.value === null);
  }

  isFalse({ node }: Value): boolean {
    return isScalar(node) && node.value === false;
  }

  whole(value: Value, what: string, { least, most }: { least: number; most: number }): number | undefined {
    const found = isScalar(value.node) ? value.node.value : undefined;
    const isFine = typeof found === "number" && Number.isInteger(found) && found >= least && found <= most;
    return isFine ? found : this.wrong(value.line, `${what}: expected a whole number from ${least} to ${most}`);
  }

  json({ node, line }: Value, what: string): JsonValue | undefined {
    const found: unknown = node === null || this.#read.kind === "refused" ? null : node.toJS(this.#read.document);
    return isJsonValue(found) ? found : this.wrong(line, `${what}: expected a JSON value`);
  }

  warn(line: number, problem: string): void {
    this.warnings.push({ line, problem });
  }

  /** Members that are not known, with the nearest known key that is not given. */
  others(members: ReadonlyMap<string, Value>, known: readonly string[]): readonly { readonly name: string; readonly line: number; readonly nearest: string }[] {
    const others = [...members].filter(([name]) => !known.includes(name));
    const nearest = nearestTo(
      others.map(([name]) => name),
      known.filter((name) => !members.has(name)),
    );
    return others.map(([name, { line }], index) => ({ name, line, nearest: nearest[index] ?? "" }));
  }

  /** Numbers and booleans that JSON spells differently: `3.10`, `01067`, `True`. */
  writtenOtherwise({ node, line }: Value): readonly WrittenScalar[] {
    const found: WrittenScalar[] = [];
    const look = (inner: unknown, path: readonly (string | number)[], before: number): void => {
      const at = isNode(inner) ? this.#lineOf(inner, before) : before;
      if (isMap(inner)) for (const { key, value } of inner.items) look(value, [...path, String(isScalar(key) ? key.value : key)], at);
      if (isSeq(inner)) for (const [index, item] of inner.items.entries()) look(item, [...path, index], at);
      if (!isScalar(inner) || inner.source === undefined || (typeof inner.value !== "number" && typeof inner.value !== "boolean")) return;
      if (String(inner.value) !== inner.source) found.push({ path, line: at, text: inner.source, value: inner.value });
    };
    look(node, [], line);
    return found;
  }

  #nameOf({ key }: Pair<unknown, unknown>): string {
    return isScalar(key) ? String(key.value) : String(key);
  }

  #valueOf({ key, value }: Pair<unknown, unknown>, before: number): Value {
    const line = isNode(key) ? this.#lineOf(key, before) : before;
    return { node: isNode(value) ? value : null, line };
  }

  #lineOf(node: Node, otherwise: number): number {
    const lines: LineCounter | undefined = this.#read.kind === "read" ? this.#read.lines : undefined;
    return node.range == null || lines === undefined ? otherwise : lines.linePos(node.range[0]).line;
  }
}
