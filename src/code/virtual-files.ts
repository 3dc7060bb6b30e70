import { posix } from "node:path";
import type { Loader } from "esbuild";
import { remotePath } from "../domain/component/remote-imports.ts";
import { GAP } from "../domain/component/imported-names.ts";
import { ConstantAssignments } from "./constants.ts";
import type { LegacyStep } from "./legacy-step.ts";
import type { ComponentCode } from "../domain/component/saved-component.ts";

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

/** The path starts with a folder, and its rest is computed. */
const PUT_TOGETHER = new RegExp(
  String.raw`\b(?:import|require)${GAP}(?:\(${GAP}){1,4}(?=\x60\.{1,2}/[^\x60]*\$\{|"\.{1,2}/[^"]*"${GAP}\+|'\.{1,2}/[^']*'${GAP}\+)`,
  "g",
);

/** esbuild cannot evaluate this. It drops an operand that it can evaluate, and keeps only the path. */
const UNKNOWN_OR = " globalThis.undefined || ";

/** In order of precedence. */
const ENDINGS = ["", ".ts", ".mts", ".js", ".mjs", ".cjs", ".json", "/index.ts", "/index.js", "/index.mjs"];

export function loaderOf(path: string): Loader {
  return LOADERS[posix.extname(path)] ?? "js";
}

/** esbuild would search folders of this machine for computed paths. */
export function withImportsLeftAlone(text: string): string {
  return text.replaceAll(PUT_TOGETHER, `$&${UNKNOWN_OR}`);
}

export function asWritten(text: string): string {
  return text.replaceAll(UNKNOWN_OR, "");
}

export class VirtualFiles {
  readonly #files: Map<string, string>;
  readonly #legacy: string | undefined;
  readonly constants = new ConstantAssignments();
  /** Path → quoted text → its first line. */
  readonly #quoted = new Map<string, ReadonlyMap<string, number>>();

  constructor({ path, text, files }: ComponentCode, legacy?: LegacyStep) {
    this.#files = new Map(Object.entries(files).map(([name, content]) => [posix.normalize(name), content]));
    this.#files.set(posix.normalize(path), legacy?.text ?? text);
    this.#legacy = legacy?.warning;
  }

  text(path: string): string | undefined {
    return this.#files.get(path);
  }

  isAlone(path: string): boolean {
    return [...this.#files.keys()].every((file) => file === path || posix.basename(file) === "package.json");
  }

  /** Without source map comments and computed imports: esbuild would read files of this machine for them. */
  contents(path: string): string | undefined {
    const text = this.#files.get(path)?.replaceAll(/(\/\/|\/\*)[#@](\s*sourceMappingURL\s*=)/gi, "$1 $2");
    return text === undefined ? undefined : this.constants.letThrow(path, withImportsLeftAlone(text));
  }

  resolve(importer: string, specifier: string): string | undefined {
    if (specifier.startsWith("https://")) return URL.canParse(specifier) && this.#files.has(remotePath(specifier)) ? remotePath(specifier) : undefined;
    const path = posix.normalize(posix.join(posix.dirname(importer), specifier));
    const candidates = [...ENDINGS.map((ending) => path + ending), path.replace(/\.(m|c)?js$/, ".$1ts")];
    return candidates.find((candidate) => this.#files.has(candidate));
  }

  get warnings(): readonly string[] {
    return [...(this.#legacy === undefined ? [] : [this.#legacy]), ...this.constants.warnings];
  }

  /** Lines count from 1. Returns 1 when not found. */
  lineOfImport(path: string, specifier: string): number {
    const known = this.#quoted.get(path) ?? quotedIn(this.#files.get(path) ?? "");
    this.#quoted.set(path, known);
    return known.get(specifier) ?? 1;
  }
}

/** One pass for thousands of imports. */
function quotedIn(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  for (const [index, line] of text.split("\n").entries())
    for (const mark of ['"', "'", "`"]) {
      for (const part of line.split(mark)) if (!lines.has(part)) lines.set(part, index + 1);
    }
  return lines;
}
