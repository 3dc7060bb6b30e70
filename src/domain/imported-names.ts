import type { ComponentCode } from "./saved-component.ts";

/**
 * Blanks and comments, which may stand between any two words: as much of them as people write, so that no text takes
 * longer to look through than it is long.
 */
export const GAP = String.raw`\s{0,200}(?:(?:/\*[^*]{0,200}\*/|//[^\n]{0,200}\n)\s{0,200}){0,2}`;
/** What stands where a module is named: `from "x"`, `import "x"`, `import("x")`, `require("x")`, `require.resolve("x")`. */
const NAMED = new RegExp(String.raw`\b(?:from|import|require(?:${GAP}\.${GAP}resolve)?)${GAP}(?:\(${GAP})?(["'\x60])((?:\\.|(?!\1)[^\\\n])*)\1`, "g");

/**
 * All that may be the name of a module in the files of a component, as one text: while it is the same, the same files
 * and packages are imported. It may also hold what is none, as in a text. What it does not see, such as the files of a
 * folder that a pattern names, the compiler finds in the look after.
 */
export function importedNames({ path, text, files }: Pick<ComponentCode, "path" | "text" | "files">): string {
  const all = [[path, text] as const, ...Object.entries(files)];
  return JSON.stringify(all.map(([name, content]) => [name, ...namesIn(content)]));
}

/** All that may be the name of a module in a text. */
export function namesIn(text: string): readonly string[] {
  return [...text.matchAll(NAMED)].map(([, , imported = ""]) => imported);
}
