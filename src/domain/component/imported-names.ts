import type { ComponentCode } from "./saved-component.ts";

/** Whitespace and comments. The repetitions are limited so that matching takes linear time. */
export const GAP = String.raw`\s{0,200}(?:(?:/\*[^*]{0,200}\*/|//[^\n]{0,200}\n)\s{0,200}){0,2}`;
/** Matches `from "x"`, `import "x"`, `import("x")`, `require("x")`, `require.resolve("x")`. */
const NAMED = new RegExp(String.raw`\b(?:from|import|require(?:${GAP}\.${GAP}resolve)?)${GAP}(?:\(${GAP})?(["'\x60])((?:\\.|(?!\1)[^\\\n])*)\1`, "g");

/**
 * Everything that may be a module name. While it is unchanged, so are the imported files and packages. The next
 * compilation finds what this misses, such as patterns for a folder.
 */
export function importedNames({ path, text, files }: Pick<ComponentCode, "path" | "text" | "files">): string {
  const all = [[path, text] as const, ...Object.entries(files)];
  return JSON.stringify(all.map(([name, content]) => [name, ...namesIn(content)]));
}

export function namesIn(text: string): readonly string[] {
  return [...text.matchAll(NAMED)].map(([, , imported = ""]) => imported);
}
