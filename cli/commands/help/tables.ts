// Help that is made from tables: every noun, the flags that every subcommand takes, and what asks before it destroys something.

import { controlPages } from '../../../daemon/api/control.ts'
import type { Endpoint, Page } from '../../../daemon/api/define.ts'
import { catalogue } from '../../../daemon/api/index.ts'
import { batchFlags, type GlobalFlag, globalFlags } from '../../base/globals.ts'
import type { SubcommandTable } from '../../base/subcommand.ts'
import { fill, helpColumns } from '../../base/text-layout.ts'
import { allPages } from '../../catalogue/words.ts'

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

export async function forScripts(): Promise<string> {
  const pages = await Promise.all(allPages().map(page => page.load()))
  const destroying = pages.flatMap(page => Object.values<Endpoint>(page)).filter(({ cli }) => cli.destroys)
  const names = (when: 'typed' | 'kept' | undefined) =>
    destroying
      .filter(({ cli }) => cli.destroys!.when === when)
      .map(({ cli }) => cli.name)
      .join(', ')
  return `What a script can rely on:
${columns([
  [
    'stdout',
    'has results only: a subcommand that creates something prints its ID; bots create prints all fields of the bot, uploads create the path of the file, subscribe what it did',
  ],
  ['stderr', 'has notes and errors; --quiet leaves out the notes'],
  [
    '--batch',
    'prints one line of JSON for each call on stdout; that of a failed call has its error, which stderr has for the first one; the exit code is then 1',
  ],
  ['formats', 'tables are for people and can change; read --json, --ndjson, --fields or --jq'],
  ['jq', '`--jq` sees no variables of the shell, in `$ENV` either: put their values into the expression'],
  [
    'stdin',
    'replaces the content of a message, draft or snippet that is `-`, and that of a message to send or a draft if there is none; an edit needs the `-`',
  ],
  [
    'times',
    'such as `scheduled create --at "tomorrow 9:00"` and --since 2030-01-31 are in the time zone of the machine, or of TZ, as those in tables are; 2030-01-31T09:00Z names its own',
  ],
  ['prompts', 'appear only at a terminal; passwords come from NATTER_PASSWORD or stdin'],
  ['colors', 'appear only at a terminal, and not if NO_COLOR is set'],
  ['exit codes', 'say what went wrong; see natter help exit-codes'],
])}

At a terminal, these subcommands ask before they destroy something. A script:
${columns([
  ['needs --yes', names(undefined)],
  ['needs --yes', `if the daemon keeps its store on disk: ${names('kept')}`],
  ['needs nothing', `${names('typed')}; but --yes for a --batch of them`],
])}

Without the --yes that it needs, nothing is changed, and the exit code is 2. So
it is if a subcommand would replace a file, unless its help says that it does:
--yes lets it.
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
