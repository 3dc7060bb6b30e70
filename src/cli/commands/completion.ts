import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { PdError } from "../../domain/errors.ts";
import type { CliContext } from "../context.ts";
import { printLine } from "../reporter.ts";

/** `pd completion bash|zsh|fish`: a script for the shell, made from the commands themselves. */
export function completion(cli: CliContext, shell: string, program: CommandUnknownOpts): Promise<number> {
  const commands = program.commands.map((command) => ({
    name: command.name(),
    about: command.description(),
    flags: command.options.flatMap((option) => (option.long === undefined || option.long === null ? [] : [option.long])),
  }));
  const scripts: Readonly<Record<string, () => string>> = {
    bash: () => bash(commands),
    zsh: () => `autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`,
    fish: () => fish(commands),
  };
  const script = scripts[shell];
  if (script === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot complete for ${JSON.stringify(shell)}: there are bash, zsh and fish`, { fix: "pd completion bash" });
  printLine(cli, script());
  return Promise.resolve(0);
}

/** First words that are one of a few. */
const CHOICES: Readonly<Record<string, string>> = {
  list: "sources components streams",
  db: "get set list delete",
  init: "source action app",
  webhooks: "list show create update delete test rotate",
  subscriptions: "list create delete",
  keys: "list create revoke",
  completion: "bash zsh fish",
};

interface CommandWords {
  readonly name: string;
  readonly about: string;
  readonly flags: readonly string[];
}

function bash(commands: readonly CommandWords[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  const flags = commands.map((command) => `    ${command.name}) words="${command.flags.join(" ")}" ;;`).join("\n");
  const choices = Object.entries({ ...CHOICES, help: names }).map(([name, words]) => `    ${name}) words="${words}" ;;`);
  return `_pd() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words="${names} help"
  elif [ "\${current:0:1}" = "-" ]; then
    case "\${COMP_WORDS[1]}" in
${flags}
    esac
  elif [ "$COMP_CWORD" -eq 2 ]; then
    case "\${COMP_WORDS[1]}" in
${choices.join("\n")}
    esac
  fi
  COMPREPLY=( $(compgen -W "$words" -- "$current") )
  if [ "\${#COMPREPLY[@]}" -eq 0 ] && [ "\${current:0:1}" != "-" ]; then COMPREPLY=( $(compgen -f -- "$current") ); fi
}
complete -o filenames -F _pd pd`;
}

function fish(commands: readonly CommandWords[]): string {
  const choices = Object.entries(CHOICES).map(([name, words]) => `complete -c pd -n '__fish_seen_subcommand_from ${name}' -a '${words}'`);
  const words = commands.flatMap(({ name, about, flags }) => [
    `complete -c pd -n __fish_use_subcommand -a ${name} -d '${about.replaceAll("'", "")}'`,
    ...flags.map((flag) => `complete -c pd -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}`),
  ]);
  return [...words, ...choices].join("\n");
}
