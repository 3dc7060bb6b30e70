import type { CommandUnknownOpts, Option } from "@commander-js/extra-typings";

/** Where the cursor stands in a command line, as its words before it say. */
export interface Place {
  /** The command that is meant so far; the program itself when none is named yet. */
  readonly command: CommandUnknownOpts;
  /** Names of the command and of what it belongs to, such as `db get`. */
  readonly path: string;
  /** Words before the cursor that are neither commands nor flags nor their values. */
  readonly given: readonly string[];
  /** The flag whose value comes next. */
  readonly flag: Option | undefined;
  /** Values of the flags before the cursor, by long name. */
  readonly values: ReadonlyMap<string, string>;
  /** What is written of the word at the cursor. */
  readonly current: string;
}

/** `words`: those behind `pd`; the last is the one at the cursor, and may be empty. */
export function placeIn(program: CommandUnknownOpts, words: readonly string[]): Place {
  const current = words.at(-1) ?? "";
  let command = program;
  const path: string[] = [];
  const given: string[] = [];
  const values = new Map<string, string>();
  let flag: Option | undefined;
  for (const word of words.slice(0, -1)) {
    const group = given.length === 0 ? command.commands.find((one) => one.name() === word || one.aliases().includes(word)) : undefined;
    if (flag !== undefined) {
      values.set(flag.long ?? "", word);
      flag = undefined;
    } else if (word.startsWith("-")) flag = flagOf(command, word, values);
    else if (group !== undefined) {
      command = group;
      path.push(group.name());
    } else given.push(word);
  }
  return { command, path: path.join(" "), given, flag, values, current };
}

/** Flags of a command, and of what it belongs to; before a command is named, also what every one takes. */
export function flagsOf(command: CommandUnknownOpts): readonly Option[] {
  return [...flagsUpFrom(command), ...(command.parent === null ? commonFlags(command.commands) : [])].filter(({ hidden }) => !hidden);
}

function flagsUpFrom({ options, parent }: CommandUnknownOpts): readonly Option[] {
  return [...options, ...(parent === null ? [] : flagsUpFrom(parent))];
}

function commonFlags([first, ...others]: readonly CommandUnknownOpts[]): readonly Option[] {
  return (first?.options ?? []).filter(({ long }) => others.every(({ options }) => options.some((option) => option.long === long)));
}

/** The flag that is named, when its value comes next; one that brings its own is noted. */
function flagOf(command: CommandUnknownOpts, word: string, values: Map<string, string>): Option | undefined {
  const mark = word.indexOf("=");
  const name = mark < 0 ? word : word.slice(0, mark);
  const flag = flagsOf(command).find(({ long, short }) => long === name || short === name);
  if (flag === undefined) return undefined;
  if (mark >= 0) values.set(flag.long ?? "", word.slice(mark + 1));
  return mark < 0 && (flag.required || flag.optional) ? flag : undefined;
}
