import type { CommandUnknownOpts, Option } from "@commander-js/extra-typings";

export interface Place {
  /** Innermost command before the cursor, or the program. */
  readonly command: CommandUnknownOpts;
  /** Such as `db get`. */
  readonly path: string;
  readonly given: readonly string[];
  /** Flag whose value is at the cursor. */
  readonly flag: Option | undefined;
  /** By long name. */
  readonly values: ReadonlyMap<string, string>;
  /** Part of the word before the cursor. */
  readonly current: string;
}

/** The last word is at the cursor and may be empty. */
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

/** With flags of parents. The program has those that all commands share. */
export function flagsOf(command: CommandUnknownOpts): readonly Option[] {
  return [...flagsUpFrom(command), ...(command.parent === null ? commonFlags(command.commands) : [])].filter(({ hidden }) => !hidden);
}

function flagsUpFrom({ options, parent }: CommandUnknownOpts): readonly Option[] {
  return [...options, ...(parent === null ? [] : flagsUpFrom(parent))];
}

function commonFlags([first, ...others]: readonly CommandUnknownOpts[]): readonly Option[] {
  return (first?.options ?? []).filter(({ long }) => others.every(({ options }) => options.some((option) => option.long === long)));
}

/** Returns the flag when its value is the next word, and stores `--flag=value`. */
function flagOf(command: CommandUnknownOpts, word: string, values: Map<string, string>): Option | undefined {
  const mark = word.indexOf("=");
  const name = mark < 0 ? word : word.slice(0, mark);
  const flag = flagsOf(command).find(({ long, short }) => long === name || short === name);
  if (flag === undefined) return undefined;
  if (mark >= 0) values.set(flag.long ?? "", word.slice(mark + 1));
  return mark < 0 && (flag.required || flag.optional) ? flag : undefined;
}
