// The scripts by which a shell asks `clew` what may stand where the cursor is.

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type ShellName = (typeof SHELLS)[number];

/** Bash 3.2, as macOS has it, is enough. What stands before a colon is a word of its own there. */
const BASH = `# Completion of clew for bash. In ~/.bashrc: source <(clew completion bash)
_clew() {
  local line="\${COMP_LINE:0:COMP_POINT}" word current before
  local -a words
  read -ra words <<< "$line"
  case "$line" in *[[:space:]]) words+=("") ;; esac
  # What stands before the command, such as "time", is not ours.
  while [ "\${#words[@]}" -gt 2 ] && [ "\${words[0]}" != "$1" ]; do words=("\${words[@]:1}"); done
  current="\${words[\${#words[@]}-1]}"
  before="\${current%"\${current##*[:=]}"}"
  COMPREPLY=()
  while IFS= read -r word; do
    if [ "$word" = ":files" ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("\${word#"$before"}")
    fi
  done < <("\${words[0]}" complete-words -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _clew clew
`;

const ZSH = `#compdef clew
# Completion of clew for zsh. In ~/.zshrc, behind compinit: source <(clew completion zsh)
_clew() {
  local -a found
  found=("\${(@f)$("\${words[1]}" complete-words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if (( \${found[(Ie):files]} )); then
    found=("\${(@)found:#:files}")
    _files
  fi
  compadd -- "\${(@)found:#}"
}
compdef _clew clew
`;

const FISH = `# Completion of clew for fish. Once: clew completion fish > ~/.config/fish/completions/clew.fish
function __clew_words
  set -l typed (commandline -opc) (commandline -ct)
  for word in ($typed[1] complete-words -- $typed[2..] 2>/dev/null)
    if test "$word" = ":files"
      __fish_complete_path (commandline -ct)
    else
      echo $word
    end
  end
end
complete -c clew -f -a '(__clew_words)'
`;

export const SCRIPTS: Readonly<Record<ShellName, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
