import type { Command } from "commander";
import { PdError } from "../../domain/errors.ts";
import type { CliContext } from "../context.ts";
import { printLine } from "../reporter.ts";

/** `pd completion bash|zsh|fish`: a script for the shell, made from the commands themselves. */
export function completion(cli: CliContext, shell: string, program: Command): Promise<number> {
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

interface CommandWords {
  readonly name: string;
  readonly about: string;
  readonly flags: readonly string[];
}

function bash(commands: readonly CommandWords[]): string {
  const cases = commands.map(({ name, flags }) => `    ${name}) words="${flags.join(" ")}" ;;`).join("\n");
  return `_pd() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words="${commands.map(({ name }) => name).join(" ")}"; else
    case "\${COMP_WORDS[1]}" in
${cases}
    esac
  fi
  COMPREPLY=( $(compgen -W "$words" -- "$current") )
  if [ "\${#COMPREPLY[@]}" -eq 0 ]; then COMPREPLY=( $(compgen -f -- "$current") ); fi
}
complete -o filenames -F _pd pd`;
}

function fish(commands: readonly CommandWords[]): string {
  return commands
    .flatMap(({ name, about, flags }) => [
      `complete -c pd -n __fish_use_subcommand -a ${name} -d '${about.replaceAll("'", "")}'`,
      ...flags.map((flag) => `complete -c pd -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}`),
    ])
    .join("\n");
}
