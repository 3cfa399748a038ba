// `natter completion SHELL`: a script for the shell that runs `natter __complete` each time you press tab.

import { usage } from '../../base/failure.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { print } from '../../base/writer.ts'

const scripts: Readonly<Record<string, string>> = {
  // Bash splits words at some characters, @ and : among them: the script joins them again and removes what comes before
  // the last piece from the candidates.
  bash: `# natter completion for bash: add to ~/.bashrc
#   source <(natter completion bash)
_natter() {
  local line=\${COMP_LINE:0:COMP_POINT} words=() last=-1 i part item
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
  # Inside quotes, readline puts an answer after the quote as it is. They may begin within the word.
  local quote= start word=\${words[last]}
  for ((i = 0; i < \${#word}; i++)); do
    case $quote\${word:i:1} in
      \\'\\' | \\"\\") quote= ;;
      \\\\ | \\"\\\\) ((i++)) ;;
      \\' | \\") quote=\${word:i:1} start=$i ;;
    esac
  done
  [[ $quote ]] && before=\${word:0:start}
  local quotes=$'["\\'\\\\\\\\]'
  words=("\${words[@]//$quotes/}")
  COMPREPLY=()
  # Read line by line: a loop over words would expand a channel called *.
  while IFS= read -r item; do
    # Nothing shields a ! from the history within double quotes.
    [[ $quote == \\" && $item == *!* ]] && continue
    case $quote in
      \\') item=\${item//\\'/\\'\\\\\\'\\'} ;;
      \\") item=$(printf '%s' "$item" | sed 's/[\\\\$\`"]/\\\\&/g') ;;
      *) item=$(printf '%q' "$item") ;;
    esac
    COMPREPLY+=("\${item#"$before"}")
  done < <(natter __complete -- "\${words[@]:1}" 2>/dev/null | cut -f1)
}
# By default, bash offers files, and quotes their names itself.
complete -o default -o nosort -F _natter natter 2>/dev/null || complete -o default -F _natter natter
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
  // Older versions pass '""' to a program as an empty word, newer ones as it is; an empty word itself would be dropped.
  powershell: `# natter completion for PowerShell: add to $PROFILE
#   natter completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName natter -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
    ForEach-Object { $_.ToString().Trim('"', "'") })
  if ($wordToComplete -eq '') { $words += '""' }
  natter __complete -- @words 2>$null | ForEach-Object {
    $text, $about = $_ -split "\`t", 2
    # PowerShell ends a quoted word at typographic quotes too; a bare @ or comma would make it a variable or a list.
    $shown = if ($text -match '^[\\w.:/-][\\w@.:/-]*$') { $text }
      else { "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($text) + "'" }
    if (-not $about) { $about = $text }
    [System.Management.Automation.CompletionResult]::new($shown, $text, 'ParameterValue', $about)
  }
}
`,
}

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'completion',
    about: 'Print a completion script for your shell; it also completes channels, topics, users and emoji',
    args: [{ name: 'shell', about: 'bash, zsh, fish or powershell' }],
    globals: ['quiet'],
    more: 'Add the line for bash to ~/.bashrc, that for zsh to ~/.zshrc, and that for PowerShell to $PROFILE.',
    examples: [
      'source <(natter completion bash)',
      'source <(natter completion zsh)',
      'natter completion fish > ~/.config/fish/completions/natter.fish',
      'natter completion powershell | Out-String | Invoke-Expression',
    ],
    async run({ args }) {
      const script = Object.hasOwn(scripts, args[0]!) ? scripts[args[0]!] : undefined
      if (!script) throw usage(`<shell>: "${args[0]}" is not bash, zsh, fish or powershell`)
      print(script)
    },
  },
  /** Candidates, one per line, with a tab before their description. The last word is the one being completed. */
  {
    name: '__complete',
    about: 'Print completion candidates, for completion scripts',
    passes: '-- [words]',
    globals: [],
    hidden: true,
    examples: ['natter __complete -- sn', 'natter __complete -- snippets '],
    async run({ rest = [], table }) {
      const { candidates } = await import('./candidates.ts')
      const words = rest.at(-1) === '""' ? [...rest.slice(0, -1), ''] : rest
      for (const { text, about } of await candidates(words, table)) print(about ? `${text}\t${about}\n` : `${text}\n`)
    },
  },
]
