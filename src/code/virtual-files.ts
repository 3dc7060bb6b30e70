import { posix } from "node:path";
import type { Loader } from "esbuild";
import { remotePath } from "../domain/remote-imports.ts";
import { GAP } from "../domain/imported-names.ts";
import { ConstantAssignments } from "./constants.ts";
import type { LegacyStep } from "./legacy-step.ts";
import type { ComponentCode } from "../domain/saved-component.ts";

const LOADERS: Readonly<Record<string, Loader>> = {
  ".ts": "ts",
  ".mts": "ts",
  ".cts": "ts",
  ".tsx": "tsx",
  ".jsx": "jsx",
  ".json": "json",
  ".txt": "text",
  ".md": "text",
  ".html": "text",
  ".graphql": "text",
};

/** An import whose path begins in a folder, and goes on as is known when it is run. */
const PUT_TOGETHER = new RegExp(
  String.raw`\b(?:import|require)${GAP}(?:\(${GAP}){1,4}(?=\x60\.{1,2}/[^\x60]*\$\{|"\.{1,2}/[^"]*"${GAP}\+|'\.{1,2}/[^']*'${GAP}\+)`,
  "g",
);

/** The compiler does not know that this is nothing; of what it knows it would keep the path. */
const UNKNOWN_OR = " globalThis.undefined || ";

/** Endings that an import may leave out, in the order in which they are tried (registry.md §5). */
const ENDINGS = ["", ".ts", ".mts", ".js", ".mjs", ".cjs", ".json", "/index.ts", "/index.js", "/index.mjs"];

/** How a file of this name is read. */
export function loaderOf(path: string): Loader {
  return LOADERS[posix.extname(path)] ?? "js";
}

/** Imports whose path is put together stay what they are: the compiler would look through folders of this machine for all that they may mean. */
export function withImportsLeftAlone(text: string): string {
  return text.replaceAll(PUT_TOGETHER, `$&${UNKNOWN_OR}`);
}

/** What the compiler says of such a text, as its author wrote it. */
export function asWritten(text: string): string {
  return text.replaceAll(UNKNOWN_OR, "");
}

/** The component's files by path, as an import finds them. */
export class VirtualFiles {
  readonly #files: Map<string, string>;
  readonly #legacy: string | undefined;
  readonly constants = new ConstantAssignments();
  /** By path: texts between quotes → line in which each comes first. */
  readonly #quoted = new Map<string, ReadonlyMap<string, number>>();

  constructor({ path, text, files }: ComponentCode, legacy?: LegacyStep) {
    this.#files = new Map(Object.entries(files).map(([name, content]) => [posix.normalize(name), content]));
    this.#files.set(posix.normalize(path), legacy?.text ?? text);
    this.#legacy = legacy?.warning;
  }

  text(path: string): string | undefined {
    return this.#files.get(path);
  }

  /** It has no other files than the manifest of its project. */
  isAlone(path: string): boolean {
    return [...this.#files.keys()].every((file) => file === path || posix.basename(file) === "package.json");
  }

  /**
   * As it is compiled. The compiler would look into this machine's files for two things: maps of sources, whose comments
   * are no such comments any more, and imports whose path is put together, which stay what they are until they are run.
   */
  contents(path: string): string | undefined {
    const text = this.#files.get(path)?.replaceAll(/(\/\/|\/\*)[#@](\s*sourceMappingURL\s*=)/gi, "$1 $2");
    return text === undefined ? undefined : this.constants.letThrow(path, withImportsLeftAlone(text));
  }

  /** The file that `specifier` means in `importer`; TypeScript lets `./x.js` mean `./x.ts`. */
  resolve(importer: string, specifier: string): string | undefined {
    if (specifier.startsWith("https://")) return URL.canParse(specifier) && this.#files.has(remotePath(specifier)) ? remotePath(specifier) : undefined;
    const path = posix.normalize(posix.join(posix.dirname(importer), specifier));
    const candidates = [...ENDINGS.map((ending) => path + ending), path.replace(/\.(m|c)?js$/, ".$1ts")];
    return candidates.find((candidate) => this.#files.has(candidate));
  }

  /** What whoever deploys it is told. */
  get warnings(): readonly string[] {
    return [...(this.#legacy === undefined ? [] : [this.#legacy]), ...this.constants.warnings];
  }

  /** `line` (from 1) of the first import of `specifier` in a file; 1 when it is not found as text. */
  lineOfImport(path: string, specifier: string): number {
    const known = this.#quoted.get(path) ?? quotedIn(this.#files.get(path) ?? "");
    this.#quoted.set(path, known);
    return known.get(specifier) ?? 1;
  }
}

/** A file may have thousands of imports: it is gone through once for all of them. */
function quotedIn(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  for (const [index, line] of text.split("\n").entries())
    for (const mark of ['"', "'", "`"]) {
      for (const part of line.split(mark)) if (!lines.has(part)) lines.set(part, index + 1);
    }
  return lines;
}
