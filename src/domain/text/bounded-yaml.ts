import { type Document, Composer, LineCounter, type Node, Parser, Lexer, isAlias, isCollection, isMap, isPair, isScalar, isSeq } from "yaml";

/** An error, or an entry without effect. Lines count from 1. */
export interface FileProblem {
  readonly line: number;
  readonly problem: string;
}

export type YamlRead =
  | { readonly kind: "read"; readonly document: Document.Parsed; readonly lines: LineCounter }
  | { readonly kind: "refused"; readonly problems: readonly FileProblem[] };

/** Chosen so that reading blocks the event loop for at most about 200 ms (measured). A workflow of 800 steps fits. */
const BOUNDS = { characters: 262_144, tokens: 40_000, depth: 100, aliases: 100, nodes: 100_000, problems: 20 };

class Stop extends Error {}

/**
 * Reads YAML from an untrusted author in linear time. Refuses texts beyond the limits, keys that are not plain scalars
 * (`? `, `[a]: b`), tags, directives, a second document, duplicate keys, and aliases that contain themselves or expand
 * beyond the limits.
 */
export function readYaml(text: string): YamlRead {
  const lines = new LineCounter();
  const problems: FileProblem[] = [];
  const wrong = (offset: number, problem: string): void => {
    if (problems.length < BOUNDS.problems) problems.push({ line: lines.linePos(offset).line, problem });
    // The library catches this error at each nesting level and reports it again.
    if (problems.length >= BOUNDS.problems) throw new Stop();
  };
  try {
    const document = composed(text, { lines, wrong });
    if (problems.length === 0) checkNames(document, wrong);
    if (problems.length === 0) countNodes(document, wrong);
    if (problems.length === 0) mergeMaps(document, wrong);
    return problems.length === 0 ? { kind: "read", document, lines } : { kind: "refused", problems };
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    return { kind: "refused", problems };
  }
}

interface Reading {
  readonly lines: LineCounter;
  readonly wrong: (offset: number, problem: string) => void;
}

function composed(text: string, reading: Reading): Document.Parsed {
  const { lines, wrong } = reading;
  lines.addNewLine(0);
  const stop = (offset: number, problem: string): never => {
    wrong(offset, problem);
    throw new Stop();
  };
  if (text.length > BOUNDS.characters) stop(0, `the file has more than ${BOUNDS.characters} characters`);
  const tokens = [...tokensOf(text, reading, stop)];
  const composer = new BoundedComposer(wrong);
  const [document] = composer.compose(tokens, true, text.length);
  return document ?? stop(0, "the file is empty");
}

function* tokensOf(text: string, { lines, wrong }: Reading, stop: (offset: number, problem: string) => never) {
  const parser = new BoundedParser(lines.addNewLine);
  let [count, aliases, documents, hasFailed] = [0, 0, 0, false];
  const parts = function* () {
    for (const lexeme of new Lexer().lex(text)) {
      if (++count > BOUNDS.tokens) stop(parser.offset, `the file has more than ${BOUNDS.tokens} tokens`);
      yield* parser.next(lexeme);
      if (parser.stack.length > BOUNDS.depth) stop(parser.offset, `lists and maps are nested deeper than ${BOUNDS.depth} levels`);
      if (parser.kind === "tag" || parser.kind === "explicit-key-ind")
        stop(parser.offset, `${JSON.stringify(lexeme)} is not supported: write names and values directly`);
      if (parser.kind === "alias" && lexeme.startsWith("*") && ++aliases > BOUNDS.aliases)
        stop(parser.offset, `the file has more than ${BOUNDS.aliases} aliases`);
    }
    yield* parser.end();
  };
  for (const token of parts()) {
    if (token.type === "directive") stop(token.offset, `the directive ${JSON.stringify(token.source)} is not supported`);
    if (token.type === "document" && ++documents > 1) stop(token.offset, "the file has more than one document");
    if (token.type === "error") {
      hasFailed = true;
      wrong(token.offset, token.message);
    }
    yield token;
  }
  if (hasFailed) throw new Stop();
}

/** Exposes the type of the current token, which is private in the library. */
class BoundedParser extends Parser {
  get kind(): unknown {
    return Reflect.get(this, "type");
  }
}

/** Replaces the library's error handler, which creates a stack trace for each problem. */
class BoundedComposer extends Composer {
  constructor(wrong: Reading["wrong"]) {
    super({ strict: true, uniqueKeys: false, stringKeys: true, prettyErrors: false, logLevel: "silent", version: "1.2", schema: "core" });
    const onError = (...[source, , message, isWarning = false]: [source: unknown, code: string, message: string, isWarning?: boolean]): void => {
      if (!isWarning) wrong(offsetOf(source), message);
    };
    Object.assign(this, { onError });
  }
}

function offsetOf(source: unknown): number {
  if (typeof source === "number") return source;
  if (Array.isArray(source)) return Number(source[0]);
  return typeof source === "object" && source !== null && "offset" in source ? Number(source.offset) : 0;
}

/** The library's own check compares each key of a map with all others. */
function checkNames({ contents }: Document.Parsed, wrong: Reading["wrong"]): void {
  const rest: unknown[] = [contents];
  while (rest.length > 0) {
    const node = rest.pop();
    if (!isCollection(node)) continue;
    const names = new Set<string>();
    for (const item of node.items) {
      if (!isPair(item)) {
        rest.push(item);
        continue;
      }
      const { key } = item;
      const name = nameOf(key);
      if (isMap(node) && names.has(name)) wrong(isScalar(key) ? (key.range?.[0] ?? 0) : 0, `duplicate name ${JSON.stringify(name)}`);
      names.add(name);
      rest.push(item.value);
    }
  }
}

/** Replaces aliases with their targets, and counts each copy. */
function countNodes(document: Document.Parsed, wrong: Reading["wrong"]): void {
  const anchors = new Map<string, Node>();
  const sizes = new Map<Node, number>();
  const open = new Set<Node>();
  const meant = (given: unknown): unknown => {
    if (!isAlias(given)) return given;
    const target = anchors.get(given.source);
    if (target !== undefined && !open.has(target)) return target;
    wrong(given.range?.[0] ?? 0, target === undefined ? `the alias *${given.source} has no anchor` : `the alias *${given.source} contains itself`);
    throw new Stop();
  };
  // Recursion is safe because the depth is limited.
  const sizeOf = (node: unknown): number => {
    if (!isCollection(node) && !isScalar(node)) return 1;
    const known = sizes.get(node);
    if (known !== undefined) return known;
    if (node.anchor !== undefined) anchors.set(node.anchor, node);
    let size = 1;
    if (isCollection(node)) {
      open.add(node);
      for (const [index, item] of node.items.entries()) {
        if (isPair(item)) size += sizeOf((item.value = meant(item.value)));
        else size += sizeOf((node.items[index] = meant(item)));
      }
      open.delete(node);
    }
    if (size > BOUNDS.nodes) {
      wrong(node.range?.[0] ?? 0, `aliases expand this to more than ${BOUNDS.nodes} values`);
      throw new Stop();
    }
    sizes.set(node, size);
    return size;
  };
  sizeOf(document.contents);
}

/** The map's own members win over those from `<<`. */
function mergeMaps(document: Document.Parsed, wrong: Reading["wrong"]): void {
  const done = new Set<unknown>();
  let merged = 0;
  const merge = (node: unknown): void => {
    if (!isCollection(node) || done.has(node)) return;
    done.add(node);
    for (const item of node.items) merge(isPair(item) ? item.value : item);
    if (!isMap(node)) return;
    const at = node.items.findIndex(({ key }) => isScalar(key) && key.value === "<<" && key.type === "PLAIN");
    if (at < 0) return;
    const [pair] = node.items.splice(at, 1);
    const given: readonly unknown[] = isSeq(pair?.value) ? pair.value.items : [pair?.value];
    const names = new Set(node.items.map(({ key }) => nameOf(key)));
    for (const source of given) {
      if (!isMap(source)) {
        wrong(node.range?.[0] ?? 0, "<<: expected a map or a list of maps, as in <<: *other");
        throw new Stop();
      }
      for (const one of source.items) {
        if (names.has(nameOf(one.key))) continue;
        if (++merged > BOUNDS.nodes) {
          wrong(node.range?.[0] ?? 0, `merged maps have more than ${BOUNDS.nodes} values`);
          throw new Stop();
        }
        names.add(nameOf(one.key));
        node.items.push(one);
      }
    }
  };
  merge(document.contents);
}

function nameOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}
