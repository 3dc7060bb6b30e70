import { structuredPatch } from "diff";

export interface FileChange {
  readonly path: string;
  readonly kind: "added" | "removed" | "changed";
  /** Each starts with `+`, `-`, a space (unchanged), or `\` (note). A line with the position separates parts. */
  readonly lines: readonly string[];
}

const CONTEXT = 2;

/** Comparing takes time proportional to edits times lines. */
const MOST_EDITS = 1000;
const MOST_LINES = 50_000;

export function differenceOf(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): FileChange[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return paths.flatMap((path): FileChange[] => {
    const [old, next] = [before[path], after[path]];
    if (old === next) return [];
    return [{ path, kind: old === undefined ? "added" : next === undefined ? "removed" : "changed", lines: changedLines(path, old ?? "", next ?? "") }];
  });
}

function changedLines(path: string, old: string, next: string): readonly string[] {
  const [removed, added] = [linesIn(old), linesIn(next)];
  const isOneSided = removed === 0 || added === 0;
  const isLarge = removed + added > MOST_LINES;
  const patch = isLarge
    ? undefined
    : structuredPatch(path, path, old, next, "", "", { context: CONTEXT, ...(isOneSided ? {} : { maxEditLength: MOST_EDITS }) });
  if (patch === undefined) return [`\\ too many changes to show: ${removed} lines before, ${added} after`];
  return patch.hunks.flatMap((hunk, index) => [...(index === 0 ? [] : [`@@ ${hunk.newStart}`]), ...hunk.lines]);
}

function linesIn(text: string): number {
  let count = 0;
  for (let at = text.length === 0 ? -1 : 0; at >= 0; at = nextLine(text, at)) count++;
  return count;
}

function nextLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 || end + 1 >= text.length ? -1 : end + 1;
}
