import { Chalk, type ChalkInstance } from "chalk";
import type { CliContext } from "./context.ts";

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "magenta" | "cyan";

export type Colours = Readonly<Record<Style, (text: string) => string>>;

/** Terminals get colours. NO_COLOR and FORCE_COLOR override that. */
export function coloursFor(stream: NodeJS.WriteStream, { environment }: Pick<CliContext, "environment">): Colours {
  const isRefused = (environment["NO_COLOR"] ?? "") !== "";
  const isForced = (environment["FORCE_COLOR"] ?? "0") !== "0";
  return colours(!isRefused && (isForced || (stream.isTTY === true && environment["TERM"] !== "dumb")));
}

/** The 16 colours of every terminal, or none. */
export function colours(isWanted: boolean): ChalkInstance {
  return new Chalk({ level: isWanted ? 1 : 0 });
}
