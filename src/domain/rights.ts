/**
 * Something that a source or workflow may do or see beside its own computing. Plans list the rights that they would
 * grant, because who wrote the code, or runs the server that it comes from, may be a stranger.
 */
export interface Right {
  readonly kind: RightKind;
  /** Names what the right is about, such as a variable. Empty for `programs` and `addons`. */
  readonly what: string;
}

/**
 * `programs`: it may start programs of the machine. `addons`: it may load native code. `imports`: this file is loaded before its own code. `env`: it gets
 * this environment variable, with the value that comes along. `variable`: it gets the value of a variable of the person
 * who applies the plan. `account`: it may use this account. `hears`: it gets the events of this source or workflow.
 */
export type RightKind = "programs" | "addons" | "imports" | "env" | "variable" | "account" | "hears";

/** Rights that are not among those it has already. */
export function newRights(before: readonly Right[], after: readonly Right[]): readonly Right[] {
  const held = new Set(before.map(keyOf));
  return after.filter((right) => !held.has(keyOf(right)));
}

function keyOf({ kind, what }: Right): string {
  return `${kind} ${what}`;
}

const IN_WORDS: Readonly<Record<RightKind, (what: string) => string>> = {
  programs: () => "may start programs of the machine",
  addons: () => "may load native code of packages, which no permission model holds",
  imports: (what) => `loads ${what} before its own code`,
  env: (what) => `gets the environment variable ${what}`,
  variable: (what) => `reads your variable ${what}`,
  account: (what) => `uses the account ${what}`,
  hears: (what) => `gets the events of ${what}`,
};

/** A line of a plan for each. */
export function rightLines(rights: readonly Right[]): readonly string[] {
  return rights.map(({ kind, what }) => `! ${IN_WORDS[kind](what)}`);
}
