const WITH_VALUE = new Set(["--home", "-p", "--profile"]);

/** Global flags may come before the command, as in `pd -p work list`. */
export function commandFirst(words: readonly string[]): readonly string[] {
  const at = indexOfCommand(words);
  const command = words[at];
  return at === 0 || command === undefined || command.startsWith("-") ? words : [command, ...words.slice(0, at), ...words.slice(at + 1)];
}

function indexOfCommand(words: readonly string[]): number {
  let at = 0;
  for (let word = words[0]; word !== undefined && isGlobal(word); word = words[at]) at += WITH_VALUE.has(word) ? 2 : 1;
  return at;
}

function isGlobal(word: string): boolean {
  return WITH_VALUE.has(word) || word === "--json" || /^(--home=|--profile=|-p[^-])/.test(word);
}
