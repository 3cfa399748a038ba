// Help that is made from tables: every noun, and the flags that every subcommand takes.

import { controlPages } from '../../../daemon/api/control.ts'
import type { Page } from '../../../daemon/api/define.ts'
import { catalogue } from '../../../daemon/api/index.ts'
import { fill, helpColumns } from '../../base/fill.ts'
import { batchFlags, type GlobalFlag, globalFlags } from '../../base/globals.ts'
import type { SubcommandTable } from '../../base/subcommand.ts'

export function everyNoun(table: SubcommandTable): string {
  const explain = ({ words, about }: Page) => [words.join(', '), about] as const
  const pages = Object.values<Page>(catalogue)
  // What the control plane adds to a noun of the API is explained there.
  const known = new Set(pages.flatMap(({ words }) => words))
  const control = Object.values<Page>(controlPages).filter(({ words }) => !words.some(word => known.has(word)))
  const others = Object.entries(table).filter(([, { about }]) => about !== '')
  const help = [
    'help',
    'show help for a subcommand or a topic; --level N shows it at a feature level, --man prints the man page',
  ] as const
  return `Tools:
${columns([...others.map(([word, { about }]) => [word, about] as const), help])}

The API:
${columns(pages.map(explain))}

The control plane, for testing other programs:
${columns(control.map(explain))}

natter help NOUN lists the verbs of a noun, natter commands those of all.
`
}

export function everyFlag(): string {
  return `Flags of most subcommands; the help of each lists those it accepts:
${columns([...globalFlags.map(describeFlag), ['-h, --help', 'show help'], ['-V, --version', 'show the version']])}

Flags of subcommands that call the API:
${columns(batchFlags.map(describeFlag))}
`
}

function describeFlag({ name, short, value, about }: GlobalFlag): readonly [string, string] {
  return [`${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`, about]
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length))
  const room = Math.max(20, helpColumns() - width - 4)
  const wrapped = (text: string) => fill(text.split(' '), room).join(`\n${' '.repeat(width + 4)}`)
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${wrapped(right)}`).join('\n')
}
