import type { Dirent, Stats } from "node:fs";
import { readFile, readdir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";

export interface FoundComponent extends ComponentText {
  /** Relative, with `/`. */
  readonly path: string;
}

export type NoComponent = "no component" | "no key" | "no version" | "too large" | "cannot be read";

interface ReadFile {
  readonly mtimeMs: number;
  readonly size: number;
  readonly content: FoundComponent | NoComponent;
}

const CODE = /\.(mjs|cjs|js|mts|ts)$/;
const NO_COMPONENT = /(\.d\.ts|\.(test|spec)\.\w+)$/;
const SKIPPED = new Set(["node_modules", ".git", "dist", "coverage"]);
/** Larger files hold data. */
const MOST_BYTES = 1024 * 1024;
const MOST_OPEN = 32;

export class ComponentFolder {
  readonly #folder: string;
  #read: ReadonlyMap<string, ReadFile> = new Map();
  #looking: Promise<readonly FoundComponent[]> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Sorted by path. Throws file system errors. */
  list(): Promise<readonly FoundComponent[]> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  /** Paths left out of the last list, by reason. */
  get left(): ReadonlyMap<NoComponent, readonly string[]> {
    const left = new Map<NoComponent, string[]>();
    for (const [path, { content }] of this.#read)
      if (typeof content === "string") left.set(content, [...(left.get(content) ?? []), nameIn(this.#folder, path)]);
    return left;
  }

  async #look(): Promise<readonly FoundComponent[]> {
    const paths = await codeFiles(this.#folder, await readdir(this.#folder, { withFileTypes: true }));
    const read = new Map<string, ReadFile>();
    for (let start = 0; start < paths.length; start += MOST_OPEN) {
      const files = await Promise.all(paths.slice(start, start + MOST_OPEN).map(async (path) => [path, await this.#readOne(path)] as const));
      for (const [path, file] of files) if (file !== undefined) read.set(path, file);
    }
    this.#read = read;
    return [...read.values()].flatMap(({ content }) => (typeof content === "string" ? [] : content));
  }

  async #readOne(path: string): Promise<ReadFile | undefined> {
    const { mtimeMs, size }: Pick<Stats, "mtimeMs" | "size"> = await stat(path).catch(() => ({ mtimeMs: 0, size: -1 }));
    if (size < 0) return undefined;
    const known = this.#read.get(path);
    if (known?.mtimeMs === mtimeMs && known.size === size) return known;
    if (size > MOST_BYTES) return { mtimeMs, size, content: "too large" };
    const text = await readFile(path, "utf8").catch(() => undefined);
    return { mtimeMs, size, content: text === undefined ? "cannot be read" : contentOf(text, nameIn(this.#folder, path)) };
  }
}

function contentOf(text: string, path: string): FoundComponent | NoComponent {
  const found = readComponentText(text, path);
  if (typeof found === "object") return { ...found, path };
  // A file with `run` was meant as a component, unlike helper modules.
  const isMeant = /export\s+default|module\.exports|defineComponent/.test(text) && /\brun\s*(\(|:)/.test(text);
  return isMeant ? found : "no component";
}

function nameIn(folder: string, path: string): string {
  return relative(folder, path).split(sep).join("/");
}

async function codeFiles(folder: string, entries: readonly Dirent[]): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !SKIPPED.has(entry.name)) {
      paths.push(...(await codeFiles(path, await readdir(path, { withFileTypes: true }).catch(() => []))));
    } else if (entry.isFile() && CODE.test(entry.name) && !NO_COMPONENT.test(entry.name)) paths.push(path);
  }
  return paths;
}

/** Reads the text, because an index of thousands cannot run components. Loading reads the authoritative values. */

interface ComponentText {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly type: "source" | "action";
}

export function readComponentText(text: string, path: string): ComponentText | "no key" | "no version" {
  const found = /(?:^|[{,])([ \t]*)(?:key|"key"):\s*(["'`])(\w+(?:-+\w+)+)\2/im.exec(text);
  if (found?.[3] === undefined) return "no key";
  const [, indent = "", , key] = found;
  const line = lineAt(text, found.index);
  const member = (name: string): string =>
    literalAt(text, `(?:^|[{,])${indent === "" ? "[ \\t]*" : indent}`, name) ?? literalAt(line, "[{,][ \\t]*", name) ?? "";
  const version = member("version");
  if (version === "") return "no version";
  const type = member("type") || (/(^|\/)actions?\//.test(path) ? "action" : "source");
  return { key, name: member("name") || key, description: member("description"), version, type: type === "action" ? "action" : "source" };
}

/** Other members may share the key's line. */
function lineAt(text: string, index: number): string {
  const start = text.charAt(index) === "\n" ? index + 1 : index;
  const [line = ""] = text.slice(text.lastIndexOf("\n", start - 1) + 1).split("\n", 1);
  return line;
}

/** Requires the key's indentation. Joins parts with `+`. `before` is a pattern. */
function literalAt(text: string, before: string, name: string): string | undefined {
  const start = new RegExp(`${before}(?:${name}|"${name}"):\\s*`, "m").exec(text);
  if (start === null) return undefined;
  const literal = /^(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`)\s*(\+?)\s*/;
  let rest = text.slice(start.index + start[0].length);
  let value = "";
  for (;;) {
    const part = literal.exec(rest);
    if (part === null) return value === "" ? undefined : value;
    value += (part[1] ?? part[2] ?? part[3] ?? "").replaceAll(/\\(.)/g, "$1");
    if (part[4] !== "+") return value;
    rest = rest.slice(part[0].length);
  }
}
