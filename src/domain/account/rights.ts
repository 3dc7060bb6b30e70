/** Listed in plans, because the code or its server may not be trusted. */
export interface Right {
  readonly kind: RightKind;
  /** The subject, such as a variable. Empty for `programs` and `addons`. */
  readonly what: string;
}

/** The value for `env` comes with the plan, that for `variable` from the person who applies it. */
export type RightKind = "programs" | "addons" | "imports" | "env" | "variable" | "account" | "hears";

export function newRights(before: readonly Right[], after: readonly Right[]): readonly Right[] {
  const held = new Set(before.map(keyOf));
  return after.filter((right) => !held.has(keyOf(right)));
}

function keyOf({ kind, what }: Right): string {
  return `${kind} ${what}`;
}

const IN_WORDS: Readonly<Record<RightKind, (what: string) => string>> = {
  programs: () => "may start programs of the machine",
  addons: () => "may load native code of packages, which the permission model does not restrict",
  imports: (what) => `loads ${what} before its own code`,
  env: (what) => `gets the environment variable ${what}`,
  variable: (what) => `reads your variable ${what}`,
  account: (what) => `uses the account ${what}`,
  hears: (what) => `receives the events of ${what}`,
};

export function rightLines(rights: readonly Right[]): readonly string[] {
  return rights.map(({ kind, what }) => `! ${IN_WORDS[kind](what)}`);
}
