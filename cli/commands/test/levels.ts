// `natter levels diff A B`: what a client has to change between two feature levels.

import type { News } from '../../../daemon/api/levels/news.ts'
import { usage } from '../../base/failure.ts'
import { formatFlags, type Globals } from '../../base/globals.ts'
import { givenLevel } from '../../base/levels.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { print } from '../../base/writer.ts'
import { printFormatted } from '../../print/output.ts'
import { callControlPlane } from '../../transport/control.ts'
import { type RecordedCall, readRecording } from './replay/recording.ts'

export const levels: readonly ExtraSubcommand[] = [
  {
    name: 'levels diff',
    about: 'Say what changed between two feature levels, and what of it a client has to change',
    args: [
      { name: 'from', about: 'the level or release that the client works with: 417, 11.0' },
      { name: 'to', about: 'the level or release that it is to work with: 498, 12.0, latest' },
    ],
    flags: [
      { name: 'recording', value: 'FILE', about: 'only what concerns the calls and events of this recording' },
      { name: 'used', about: 'only what concerns the calls in the log of the daemon, which needs its control plane' },
    ],
    globals: [...formatFlags, 'quiet', 'site', 'profile', 'ready-file', 'control-token', 'timeout'],
    more: `natter record FILE writes a recording of what a client does. Without --recording and --used, everything that changed is listed.`,
    examples: [
      'natter levels diff 417 498',
      'natter levels diff 11.0 12.0 --recording bot.ndjson',
      'natter levels diff 421 latest --used --json',
    ],
    async run({ args, flags, globals }) {
      const [from, to] = [givenLevel(args[0], '<from>'), givenLevel(args[1], '<to>')]
      if (from > to) throw usage('<from> is newer than <to>', `natter levels diff ${args[1]} ${args[0]}`)
      const { recording } = flags as { recording?: string }
      if (recording !== undefined && flags.used === true) throw usage('--recording and --used cannot be combined')
      const used =
        recording !== undefined
          ? usesOf(readRecording(recording).calls)
          : flags.used === true
            ? usesOf(await loggedCalls(globals))
            : undefined
      const { levelNews } = await import('../../../daemon/api/levels/news.ts')
      const between = (await levelNews()).filter(({ level }) => level > from && level <= to)
      const news = used ? between.filter(one => concerns(one, used)) : between
      const rows = news.map(({ level, breaks, about, gone }) => ({ level, breaks, about, gone: [...gone] }))
      if (await printFormatted({ changes: rows }, globals)) return
      print(textOf(news, used))
    },
  },
]

interface Uses {
  readonly endpoints: ReadonlySet<string>
  readonly events: ReadonlySet<string>
}

type Call = Pick<RecordedCall, 'endpoint' | 'answer'>

/** Events are in the answers of polls. */
function usesOf(calls: readonly Call[]): Uses {
  const endpoints = new Set<string>()
  const events = new Set<string>()
  for (const { endpoint, answer } of calls) {
    if (endpoint !== null) endpoints.add(endpoint)
    const list = (answer as { events?: unknown } | null)?.events
    if (Array.isArray(list)) for (const event of list) if (typeof event?.type === 'string') events.add(event.type)
  }
  return { endpoints, events }
}

async function loggedCalls(globals: Globals): Promise<Call[]> {
  const reply = await callControlPlane(
    globals,
    { method: 'GET', path: '/control/v1/requests' },
    { timeout: globals.timeout },
  )
  return (reply.requests as unknown as { endpoint: string | null; answer?: unknown }[]).map(({ endpoint, answer }) => ({
    endpoint,
    answer: answer ?? null,
  }))
}

/** What is about nothing in particular concerns everyone. */
function concerns({ endpoints, events }: News, used: Uses): boolean {
  if (endpoints.length + events.length === 0) return true
  return endpoints.some(id => used.endpoints.has(id)) || events.some(type => used.events.has(type))
}

function textOf(news: readonly News[], used: Uses | undefined): string {
  if (news.length === 0) return 'Nothing changed that concerns this client.\n'
  const breaking = news.filter(({ breaks }) => breaks)
  const other = news.filter(({ breaks }) => !breaks)
  const line = ({ level, about }: News) => `  ${level}  ${about}`
  const gone = breaking.flatMap(({ level, gone: fields }) =>
    fields.map(
      field => `  ${used ? 'Your client may read' : 'A client may read'} ${field}, which is gone since ${level}.`,
    ),
  )
  return [
    ...(breaking.length > 0 ? ['To change:', ...breaking.map(line), ...gone] : []),
    ...(other.length > 0 ? [...(breaking.length > 0 ? [''] : []), 'New:', ...other.map(line)] : []),
    '',
  ].join('\n')
}
