import { PdError } from "../../domain/errors.ts";
import type { CliContext } from "../context.ts";
import { printLine } from "../reporter.ts";

/** `pd completion bash|zsh|fish`: a script for the shell, which asks `pd complete` at each press of Tab. */
export function completion(cli: CliContext, shell: string): Promise<number> {
  const script = SCRIPTS[shell];
  if (script === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot complete for ${JSON.stringify(shell)}: there are bash, zsh and fish`, { fix: "pd completion bash" });
  printLine(cli, script);
  return Promise.resolve(0);
}

/**
 * bash cuts words at = and :, and puts what is chosen in the place of the last piece alone; the whole line tells the
 * words. Names come from others, and bash would take them as code: as names of files they are quoted when they are
 * put in.
 */
const BASH = `_pd() {
  local line current piece files="" value
  COMPREPLY=()
  compopt -o filenames 2>/dev/null
  line="\${COMP_LINE:0:$COMP_POINT}"
  local -a words
  read -r -a words <<< "$line"
  [ "\${line: -1}" = " " ] && words+=("")
  current="\${words[\${#words[@]}-1]}"
  piece="\${current##*[=:]}"
  while IFS=$'\\t' read -r value _; do
    if [ "$value" = ":files" ]; then files=yes; else COMPREPLY+=("\${value#"\${current%"$piece"}"}"); fi
  done < <(pd complete -- "\${words[@]:1}" 2>/dev/null)
  if [ -n "$files" ]; then
    while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "$piece")
  fi
  case "\${COMPREPLY[0]}" in *=) compopt -o nospace 2>/dev/null ;; esac
}
complete -F _pd pd`;

const ZSH = `#compdef pd
_pd() {
  local line value files=""
  local -a found
  while IFS= read -r line; do
    if [[ $line == ":files" ]]; then files=yes
    else
      value="\${line%%$'\\t'*}"
      found+=("\${\${value//\\\\/\\\\\\\\}//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done < <(pd complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe 'pd' found -S ''
  [[ -n $files ]] && _files
}
if [[ $funcstack[1] == _pd ]]; then _pd "$@"; else compdef _pd pd; fi`;

const FISH = `function __pd_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in (pd complete -- $words[2..] 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path (commandline -ct)
    else
      printf '%s\\n' $line
    end
  end
end
complete -c pd -f -a '(__pd_complete)'`;

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
