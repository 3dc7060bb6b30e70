import type { Command } from "commander";
import type { CliContext } from "../context.ts";

export interface Given {
  /** Positional words, in the order of the declaration. */
  readonly words: readonly unknown[];
  readonly flags: Record<string, never>;
  readonly program: Command;
}

export type Work = (cli: CliContext, given: Given) => Promise<number>;
export type Bind = (work: Work) => (...given: unknown[]) => Promise<void>;

export function word(value: unknown): string {
  return String(value);
}

export function maybe(value: unknown): string | undefined {
  return value === undefined ? undefined : String(value);
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Of a flag that is given several times. */
export function list(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
