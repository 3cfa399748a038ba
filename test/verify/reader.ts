// Follows a Markdown page as its reader would: every `sh` and `console` block in the order of the page, in one shell, with an empty home and
// nothing set. Comments in the source, before a block, say what is special about it:
//   <!-- not run: REASON -->     the block cannot be run here
//   <!-- keeps running -->       the reader leaves it running and opens another terminal
//   <!-- file: NAME -->          the reader saves the block under this name
//   <!-- run by: FILE -->        a test of ours runs the block

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { natterCommand } from '../support/cli.ts'
import { bareEnv } from '../support/natter-bundle.ts'
import { runBlock } from './shell.ts'
import { blocksIn, fits, linesOf } from './transcript.ts'

const root = join(import.meta.dirname, '../..')

export interface PageBlock {
  readonly language: string
  readonly text: string
  /** Number of the line that opens it, from 1. */
  readonly line: number
  readonly mark?: { readonly kind: MarkKind; readonly about: string }
}

type MarkKind = 'not run' | 'keeps running' | 'file' | 'run by'

export function pageBlocks(page: string): PageBlock[] {
  const blocks: PageBlock[] = []
  const lines = page.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const language = /^```(\w+)$/.exec(lines[at]!)?.[1]
    if (language === undefined) continue
    const end = lines.indexOf('```', at + 1)
    if (end < 0) throw new Error(`line ${at + 1}: the code block is not closed`)
    const marked = /^<!-- (not run|keeps running|file|run by)(?:: (.+))? -->$/.exec(lines[at - 1] ?? '')
    blocks.push({
      language,
      text: lines.slice(at + 1, end).join('\n'),
      line: at + 1,
      ...(marked && { mark: { kind: marked[1] as MarkKind, about: marked[2] ?? '' } }),
    })
    at = end
  }
  return blocks
}

interface Part {
  readonly line: number
  readonly command: string
  /** Lines that a console block shows; a block of `sh` may print anything, and must succeed. */
  readonly expected?: readonly string[]
}

/** What went wrong, by line of the page. A block that fails ends the reading. */
export async function followPage(file: string): Promise<string[]> {
  const parts = pageBlocks(readFileSync(file, 'utf8')).flatMap(partsOf)
  if (parts.length === 0) return []
  const home = mkdtempSync(join(tmpdir(), 'natter-reader-'))
  try {
    const outcomes = await runBlock([leaving, ...parts.map(({ command }) => command)], {
      cwd: home,
      env: newHome(home),
      timeout: 120_000,
    })
    return parts.flatMap(({ line, command, expected }, at) => {
      const outcome = outcomes[at + 1]
      if (!outcome) return at > 0 && !outcomes[at] ? [] : [`${file}:${line}: not run`]
      const printed = linesOf(outcome.output, outcome.code)
      if (expected ? fits(expected, printed) : outcome.code === 0) return []
      return [[`${file}:${line}:`, command, ...printed.map(text => `+ ${text}`)].join('\n')]
    })
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** At the end everything that the page started ends: what it left in the background, and a daemon of `natter daemon start`. */
const leaving = `trap 'trap "" TERM; [ ! -e "$HOME/.local/share/natter" ] || natter daemon stop >/dev/null 2>&1; kill 0' EXIT`

function partsOf(block: PageBlock): Part[] {
  const { language, text, line, mark } = block
  if (mark?.kind === 'not run' || mark?.kind === 'run by') return []
  if (mark?.kind === 'file') return [{ line, command: saveCommand(mark.about, text) }]
  if (mark?.kind === 'keeps running') return [{ line, command: backgroundCommand(`terminal-${line}.log`, text) }]
  if (language === 'sh') return [{ line, command: `set -e\n${text}\nset +e` }]
  if (language !== 'console') return []
  const [console] = blocksIn(`\`\`\`console\n${text}\n\`\`\``).blocks
  return console!.steps.map(step => ({ line: line + step.line - 1, command: step.command, expected: step.expected }))
}

function saveCommand(name: string, text: string): string {
  return `mkdir -p '${dirname(name)}' && cat > '${name}' <<'END-OF-FILE'\n${text}\nEND-OF-FILE`
}

/** Waits for its first output: a daemon prints when it is ready. */
function backgroundCommand(log: string, text: string): string {
  return `{ ${text}\n} >${log} 2>&1 &\nuntil [ -s ${log} ]; do sleep 0.05; done; kill -0 $! || { cat ${log}; exit 1; }`
}

/** The environment of a reader who has installed natter: the programs, a project of their own, and no account. */
function newHome(home: string): NodeJS.ProcessEnv {
  const bin = join(home, '.bin')
  mkdirSync(bin)
  const natter = natterCommand.map(word => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const programs = {
    natter: `exec ${natter} "$@"`,
    natterd: `exec ${natter} daemon run "$@"`,
    // The package is installed and built.
    npm: `case "$*" in\n  ci) ;;\n  start) exec natterd --data data/store ;;\n  test) exec natter whoami ;;\n  *) exit 1 ;;\nesac`,
    pytest: 'exec natter whoami',
  }
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  mkdirSync(join(home, 'node_modules'))
  symlinkSync(root, join(home, 'node_modules/natter'))
  return {
    ...bareEnv,
    HOME: home,
    PATH: `${bin}:${process.env.PATH}`,
    TZ: 'UTC',
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    // Readers have port 9991; tests share a machine.
    NATTER_PORT: '0',
  }
}
