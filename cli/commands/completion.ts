// `natter completion SHELL`: a script for the shell, which asks `natter __complete` at each press of the tab key.

import { usage } from '../base/failure.ts'
import type { ExtraSubcommand } from './index.ts'

const scripts: Readonly<Record<string, string>> = {
  // Bash cuts words at some characters, @ and : among them: they are put together again, and what stands before the last
  // piece is taken off the answers.
  bash: `# natter completion for bash: add to ~/.bashrc
#   source <(natter completion bash)
_natter() {
  local IFS=$'\\n' line=\${COMP_LINE:0:COMP_POINT} words=() last=-1 i part item
  for ((i = 0; i <= COMP_CWORD; i++)); do
    part=\${COMP_WORDS[i]}
    if ((i > 0)) && [[ $line != [[:space:]]* ]]; then words[last]+=$part; else words[++last]=$part; fi
    line=\${line#"\${line%%[![:space:]]*}"}
    line=\${line#"$part"}
  done
  local before=\${words[last]%"$part"}
  [[ -n $part && -z \${part//[@:=]/} ]] && before=\${words[last]}
  # What readline puts an answer in place of begins with the @.
  before=\${before%@}
  local quotes=$'["\\'\\\\\\\\]'
  words=("\${words[@]//$quotes/}")
  COMPREPLY=()
  for item in $(natter __complete -- "\${words[@]:1}" 2>/dev/null | cut -f1); do
    item=$(printf '%q' "$item")
    COMPREPLY+=("\${item#"$before"}")
  done
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "$part"))
}
complete -o nosort -F _natter natter 2>/dev/null || complete -F _natter natter
`,
  zsh: `#compdef natter
# natter completion for zsh: add to ~/.zshrc
#   source <(natter completion zsh)
_natter() {
  local -a found
  local line
  for line in "\${(@f)$(natter __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#found} )); then _describe natter found; else _files; fi
}
compdef _natter natter
`,
  fish: `# natter completion for fish: save as ~/.config/fish/completions/natter.fish
#   natter completion fish > ~/.config/fish/completions/natter.fish
function __natter_complete
  set -l words (commandline -opc) (commandline -ct)
  natter __complete -- $words[2..-1] 2>/dev/null
end
complete -c natter -f -a '(__natter_complete)'
`,
}

export const completion: readonly ExtraSubcommand[] = [
  {
    name: 'completion',
    about: 'Print a completion script for bash, zsh or fish; it knows channels, topics and people too',
    args: [{ name: 'shell', about: 'bash, zsh or fish' }],
    globals: ['quiet'],
    examples: ['source <(natter completion bash)', 'natter completion fish > ~/.config/fish/completions/natter.fish'],
    async run({ args }) {
      const script = Object.hasOwn(scripts, args[0]!) ? scripts[args[0]!] : undefined
      if (!script) throw usage(`<shell>: "${args[0]}" is not bash, zsh or fish`)
      process.stdout.write(script)
    },
  },
]

/** Candidates, one per line, a tab before what is said of them. The last word is the one being written. */
export const complete: readonly ExtraSubcommand[] = [
  {
    name: '__complete',
    about: 'What could stand here, for completion scripts',
    passes: '-- [words]',
    globals: [],
    hidden: true,
    examples: ['natter __complete -- sn', 'natter __complete -- snippets '],
    async run({ rest = [] }) {
      const { candidates } = await import('./candidates.ts')
      for (const { text, about } of await candidates(rest))
        process.stdout.write(about ? `${text}\t${about}\n` : `${text}\n`)
    },
  },
]
