import { Chalk, type ChalkInstance } from "chalk";
import type { CliContext } from "./context.ts";

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "magenta" | "cyan";

/** One function per style. Each returns its text in that style, or unchanged when colours are off. */
export type Colours = Readonly<Record<Style, (text: string) => string>>;

/** Colours are on when the stream is a terminal. NO_COLOR turns them off, FORCE_COLOR turns them on. */
export function coloursFor(stream: NodeJS.WriteStream, { environment }: Pick<CliContext, "environment">): Colours {
  const isRefused = (environment["NO_COLOR"] ?? "") !== "";
  const isForced = (environment["FORCE_COLOR"] ?? "0") !== "0";
  return colours(!isRefused && (isForced || (stream.isTTY === true && environment["TERM"] !== "dumb")));
}

/** The 16 colours that every terminal has, or none. */
export function colours(isWanted: boolean): ChalkInstance {
  return new Chalk({ level: isWanted ? 1 : 0 });
}
