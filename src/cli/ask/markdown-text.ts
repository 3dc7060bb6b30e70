import type { Colours } from "../colours.ts";

/** Descriptions of components are Markdown. Terminals get their words, with emphasis, and the addresses of links. */
export function markdownText(markdown: string, colours: Pick<Colours, "bold" | "cyan">): string {
  return markdown
    .trim()
    .split("\n")
    .map((line) => lineText(line, colours))
    .join("\n");
}

function lineText(line: string, { bold, cyan }: Pick<Colours, "bold" | "cyan">): string {
  const heading = /^#{1,6}\s+(.*)$/.exec(line)?.[1];
  if (heading !== undefined) return bold(heading);
  return line
    .replace(/^(\s*)[*+-]\s+/, "$1• ")
    .replaceAll(/!?\[([^\]]*)\]\((\S+?)(?:\s+"[^"]*")?\)/g, (_link, text: string, address: string) =>
      text === "" || text === address ? address : `${text} (${address})`,
    )
    .replaceAll(/<(https?:\/\/[^>\s]+)>/g, "$1")
    .replaceAll(/\*\*([^*]+)\*\*|__([^_]+)__/g, (_bold, stars: string | undefined, lines: string | undefined) => bold(stars ?? lines ?? ""))
    .replaceAll(/`([^`]+)`/g, (_code, code: string) => cyan(code));
}
