import { styleText } from "node:util";
import type { CliContext } from "./context.ts";

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "magenta" | "cyan";

/** Each takes a text and gives it in that style. */
export type Colours = Readonly<Record<Style, (text: string) => string>>;

/** Colours where the stream is a terminal and NO_COLOR is not set. */
export function coloursFor(stream: NodeJS.WriteStream, { environment }: Pick<CliContext, "environment">): Colours {
  const isRefused = (environment["NO_COLOR"] ?? "") !== "";
  const isForced = (environment["FORCE_COLOR"] ?? "0") !== "0";
  return colours(!isRefused && (isForced || (stream.isTTY === true && environment["TERM"] !== "dumb")));
}

/** With or without any. */
export function colours(isWanted: boolean): Colours {
  const styled = (style: Style) => (text: string) => (isWanted && text !== "" ? inStyle(style, text) : text);
  return {
    bold: styled("bold"),
    dim: styled("dim"),
    red: styled("red"),
    green: styled("green"),
    yellow: styled("yellow"),
    magenta: styled("magenta"),
    cyan: styled("cyan"),
  };
}

/** Each line for itself: whoever shows one of them alone shows it so, too. */
function inStyle(style: Style, text: string): string {
  return text
    .split("\n")
    .map((line) => styleText(style, line, { validateStream: false }))
    .join("\n");
}
