// `natter levels diff A B`: what a client has to change between two feature levels.

import type { News } from '../../../daemon/api/levels/news.ts'
import { usage } from '../../base/failure.ts'
import { formatFlags, type Globals } from '../../base/globals.ts'
import { givenLevel } from '../../base/levels.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { print } from '../../base/writer.ts'
import { printFormatted } from '../../print/output.ts'
import { callControlPlane } from '../../transport/control.ts'
import { concerns, goneFields, type Uses, usesIn } from './level-uses.ts'
import { readRecording } from './replay/recording.ts'

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'levels diff',
    about: 'Say what changed between two feature levels, and what of it a client has to change',
    args: [
      { name: 'from', about: 'the level or release that the client works with: 417, 11.0' },
      { name: 'to', about: 'the level or release that it is to work with: 498, 12.0, latest' },
      { name: 'recording', about: 'only what concerns the calls and events of this recording', optional: true },
    ],
    flags: [
      {
        name: 'used',
        about: 'only what concerns the calls and events in the logs of the daemon, which needs its control plane',
      },
    ],
    globals: [...formatFlags, 'quiet', 'site', 'profile', 'ready-file', 'control-token', 'timeout'],
    more: `natter record FILE writes a recording of what a client does. Without a recording and without --used, everything that changed is
listed. What a client has to change comes first; with a recording, each field that the client got and newer levels do not send is named.`,
    examples: [
      'natter levels diff 417 498',
      'natter levels diff 11.0 12.0 bot.ndjson',
      'natter levels diff 421 latest --used --json',
    ],
    async run({ args, flags, globals }) {
      const [from, to] = [givenLevel(args[0], '<from>'), givenLevel(args[1], '<to>')]
      if (from > to) throw usage('<from> is newer than <to>', `natter levels diff ${args[1]} ${args[0]}`)
      const recording = args[2]
      if (recording !== undefined && flags.used === true) throw usage('a recording and --used cannot be combined')
      const used =
        recording !== undefined
          ? usesIn(readRecording(recording).calls)
          : flags.used === true
            ? await loggedUses(globals)
            : undefined
      const { levelNews } = await import('../../../daemon/api/levels/news.ts')
      const between = (await levelNews()).filter(({ level }) => level > from && level <= to)
      const news = used ? between.filter(one => concerns(one, used)) : between
      const rows = news.map(one => ({
        level: one.level,
        breaks: one.breaks,
        about: one.about,
        gone: goneFields(one, used),
      }))
      if (await printFormatted({ changes: rows }, globals)) return
      print(renderRows(rows, used))
    },
  },
]

/** The log of calls has no whole answers, so which fields a client got of a reply is not known. */
async function loggedUses(globals: Globals): Promise<Uses> {
  const read = (log: string) =>
    callControlPlane(
      globals,
      { method: 'GET', path: `/control/v1/${log}?limit=100000` },
      { timeout: globals.timeout },
    ) as Promise<Record<string, any>>
  const [{ requests }, { events }] = await Promise.all([read('requests'), read('events')])
  return usesIn(
    requests,
    events.flatMap(({ queues, event }: { queues: unknown[]; event: object }) => (queues.length > 0 ? [event] : [])),
  )
}

interface Row extends Pick<News, 'level' | 'breaks' | 'about'> {
  readonly gone: readonly string[]
}

function renderRows(rows: readonly Row[], used: Uses | undefined): string {
  if (rows.length === 0) return `Nothing changed${used ? ' that concerns this client' : ''}.\n`
  const lines = ({ level, breaks, about, gone }: Row) => [
    `  ${level}  ${about}`,
    ...(used && breaks && gone.length > 0 ? [`       Your client gets ${goneText(gone)} gone since ${level}.`] : []),
  ]
  const [breaking, other] = [rows.filter(({ breaks }) => breaks), rows.filter(({ breaks }) => !breaks)]
  return [
    ...(breaking.length > 0 ? ['To change:', ...breaking.flatMap(lines)] : []),
    ...(breaking.length > 0 && other.length > 0 ? [''] : []),
    ...(other.length > 0 ? ['New:', ...other.flatMap(lines)] : []),
    '',
  ].join('\n')
}

/** The first few, because some levels have removed whole sections of the state. */
function goneText(gone: readonly string[]): string {
  const shown = gone.slice(0, mostGone)
  const more = gone.length - shown.length
  const list = more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
  return `${list}, which ${gone.length === 1 ? 'is' : 'are'}`
}

const mostGone = 5
