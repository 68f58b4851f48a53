/** The completion scripts of bash, zsh and fish: each asks the program for candidates. Pure. */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** A word of a shell in single quotes. */
const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/**
 * The script of a shell. It needs no package of the shell, and may be read several times. `command`: the words that start this program;
 * they are in the script, so that it works beside an alias.
 */
export const completionScript = (shell: Shell, command: readonly string[]): string =>
  SCRIPTS[shell](command.map(quoted).join(' '));

const SCRIPTS: Readonly<Record<Shell, (command: string) => string>> = {
  bash: (command) => `# completion of simbatch for bash: source <(simbatch completion bash)
_simbatch_complete() {
  local cur line value piece rest=\${COMP_LINE:0:COMP_POINT} before= i
  local -a texts=() words=()
  # Bash parts words at colons, which ids of runners and addresses have: pieces without a blank between them are one word.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece=\${COMP_WORDS[i]}
    if ((i > 0)) && [[ $rest != [[:blank:]]* && ( $piece == :* || \${words[\${#words[@]}-1]} == *: ) ]]; then
      words[\${#words[@]}-1]+=$piece
    else
      words+=("$piece")
    fi
    rest=\${rest#"\${rest%%[![:blank:]]*}"}
    rest=\${rest#"$piece"}
  done
  cur=\${words[\${#words[@]}-1]}
  [[ $cur == = ]] && cur=
  # Only the part after the last colon is replaced.
  [[ $COMP_WORDBREAKS == *:* ]] && before=\${cur%"\${cur##*:}"}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o filenames; while IFS= read -r value; do COMPREPLY+=("\${value#"$before"}"); done < <(compgen -f -- "$cur") ;;
      :dirs) compopt -o filenames; while IFS= read -r value; do COMPREPLY+=("\${value#"$before"}"); done < <(compgen -d -- "$cur") ;;
      :nospace) compopt -o nospace ;;
      *)
        value=\${line%%$'\\t'*}
        if [[ $value == "$cur"* ]]; then
          COMPREPLY+=("\${value#"$before"}")
          texts+=("$value  (\${line#*$'\\t'})")
        fi ;;
    esac
  done < <(${command} complete -- "\${words[@]:1}" 2>/dev/null)
  # The list after a second tab has descriptions; they are not inserted.
  if [[ $COMP_TYPE == 63 && \${#texts[@]} -gt 1 && \${#texts[@]} == \${#COMPREPLY[@]} ]]; then
    COMPREPLY=("\${texts[@]}")
  fi
}
complete -F _simbatch_complete simbatch
`,
  zsh: (command) => `#compdef simbatch
# completion of simbatch for zsh: source <(simbatch completion zsh)
_simbatch_complete() {
  local line
  local -a found nospace
  while IFS= read -r line; do
    case $line in
      :files) _files ;;
      :dirs) _files -/ ;;
      :nospace) nospace=(-S '') ;;
      *) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done < <(${command} complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#found )) && _describe -V simbatch found $nospace
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
compdef _simbatch_complete simbatch
`,
  fish: (command) => `# completion of simbatch for fish: simbatch completion fish | source
function __simbatch_complete
  set -l words (commandline -opc)
  set -e words[1]
  set -l current (commandline -ct)
  ${command} complete -- $words "$current" 2>/dev/null | while read -l line
    switch $line
      case ':files'
        __fish_complete_path "$current"
      case ':dirs'
        __fish_complete_directories "$current"
      case ':*'
      case '*'
        echo $line
    end
  end
end
complete -c simbatch -e
complete -c simbatch -f -a '(__simbatch_complete)'
`,
};
