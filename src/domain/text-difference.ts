import { structuredPatch } from "diff";

/** What became of one file. */
export interface FileChange {
  readonly path: string;
  readonly kind: "added" | "removed" | "changed";
  /** Each begins with its sign: `+`, `-`, a blank for what stayed, `\` for a note. Parts that lie apart are parted by a line with their place. */
  readonly lines: readonly string[];
}

/** Lines around a change that are shown with it. */
const CONTEXT = 2;

/** How texts differ by path; what stayed is left out. */
export function differenceOf(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): FileChange[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return paths.flatMap((path): FileChange[] => {
    const [old, next] = [before[path], after[path]];
    if (old === next) return [];
    const { hunks } = structuredPatch(path, path, old ?? "", next ?? "", "", "", { context: CONTEXT });
    const lines = hunks.flatMap((hunk, index) => [...(index === 0 ? [] : [`@@ ${hunk.newStart}`]), ...hunk.lines]);
    return [{ path, kind: old === undefined ? "added" : next === undefined ? "removed" : "changed", lines }];
  });
}
