import { PdError } from "../../../domain/errors.ts";
import type { CliContext } from "../../context.ts";
import { printLine } from "../../reporter.ts";

export function completion(cli: CliContext, shell: string): Promise<number> {
  const script = SCRIPTS[shell];
  if (script === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot complete for ${JSON.stringify(shell)}: expected bash, zsh or fish`, { fix: "pd completion bash" });
  printLine(cli, script);
  return Promise.resolve(0);
}

/**
 * bash splits words at = and : and replaces only the last piece, so the script splits the line itself. bash also runs
 * candidates as code and quotes file names incompletely. Names come from others, so the script quotes each candidate.
 */
const BASH = `_pd() {
  local line current piece files="" value
  COMPREPLY=()
  line="\${COMP_LINE:0:$COMP_POINT}"
  local -a words
  read -r -a words <<< "$line"
  [ "\${line: -1}" = " " ] && words+=("")
  current="\${words[\${#words[@]}-1]}"
  piece="\${current##*[=:]}"
  while IFS=$'\\t' read -r value _; do
    if [ "$value" = ":files" ]; then files=yes; else _pd_add "" "\${value#"\${current%"$piece"}"}"; fi
  done < <(pd complete -- "\${words[@]:1}" 2>/dev/null)
  if [ -n "$files" ]; then
    while IFS= read -r value; do
      # A typed ~ means the home folder, and is kept.
      case "$value" in
        "~/"*) [ -d "$HOME/\${value#*/}" ] && value="$value/"; _pd_add "~/" "\${value#*/}" ;;
        *) [ -d "$value" ] && value="$value/"; _pd_add "" "$value" ;;
      esac
    done < <(compgen -f -- "$piece")
  fi
  case "\${#COMPREPLY[@]}:\${COMPREPLY[0]}" in *= | 1:*/) compopt -o nospace 2>/dev/null ;; esac
}
_pd_add() {
  local quoted=""
  [ -n "$2" ] && printf -v quoted %q "$2"
  COMPREPLY+=("$1$quoted")
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
