// Entries of the logs of the control plane as lines for people: a call or an event is one line, cut to the screen; with
// `--full` a call is a block of lines.

import type { Finding } from '../../daemon/local/findings.ts'
import { harmless } from '../../daemon/local/harmless.ts'
import { type ChatEvent, placeOfMessage } from '../base/chat-event.ts'
import type { Globals } from '../base/globals.ts'
import type { Reply } from '../base/reply.ts'
import { columnWidth } from '../base/text-layout.ts'
import { showClock, showTime } from '../base/times.ts'
import { cutToWidth, padToWidth } from './table.ts'
import { measureWidth, type Terminal, terminalFor } from './terminal.ts'

/** Columns of a line that is not on a screen. */
const usualColumns = 80
const shownRecipients = 2
/** Columns. */
const widestRecipients = 18

export async function logLines(
  of: 'calls' | 'events',
  entries: readonly Reply[],
  full: boolean,
  emails: ReadonlyMap<number, string>,
  globals: Globals,
): Promise<string[]> {
  const terminal = await terminalFor(globals)
  if (of === 'calls' && full) return entries.flatMap(call => callBlock(call, terminal))
  const cells = entries.map(of === 'calls' ? callCells : entry => eventCells(entry, emails))
  if (of === 'events') await addSummaries(entries, cells)
  // What an event is about follows its type, which can be long.
  const columns = of === 'calls' ? [0, 1, 2, 3] : [0, 1, 2]
  const widths = columns.map(index => columnWidth(cells.map(row => measureWidth(row[index]!))))
  return cells.map((row, index) => {
    const head = widths.map((width, at) => (at === 0 ? row[0].padStart(width) : padToWidth(row[at]!, width)))
    const line = harmless([...head, ...row.slice(widths.length)].join('  ').trimEnd()).replaceAll('\n', ' ')
    const shown = cutToWidth(line, terminal.columns ?? usualColumns)
    return hasFailed(entries[index]!) && terminal.colors ? terminal.colors.red(shown) : shown
  })
}

type Cells = [id: string, time: string, first: string, second: string, rest: string]

/** `12  16:40:03  200  amy  POST /messages  type=channel to=general` */
function callCells(call: Reply): Cells {
  const { id, time, method, path, code, fault, sent } = call
  const notes = [code, fault && `fault: ${fault}`, ...describeFindings(call)].filter(Boolean).join(', ')
  const params = Object.entries(sent as Reply).map(([name, value]) => `${name}=${valueText(value)}`)
  const shortPath = String(path).replace(/^\/api\/v1(?=\/)/, '')
  const rest = [`${method} ${shortPath}`, notes, params.join(' ')].filter(part => part !== '')
  return [String(id), clockText(time), outcomeOf(call), localPart(call.user), rest.join('  ')]
}

/** `12  16:40:03  amy, bob +3  message  #general > lunch  Amy: Pizza?` */
function eventCells({ id, time, to, event }: Reply, emails: ReadonlyMap<number, string>): Cells {
  const ids = to as number[]
  // Last, because the bots of the system have no address to show.
  const known = [...ids.filter(user => emails.has(user)), ...ids.filter(user => !emails.has(user))]
  const names = known.slice(0, shownRecipients).map(user => localPart(emails.get(user) ?? `user ${user}`))
  const more = ids.length > names.length ? ` +${ids.length - names.length}` : ''
  const { type, op } = event as ChatEvent
  const recipients = `${cutToWidth(names.join(', '), widestRecipients - more.length)}${more}`
  return [String(id), clockText(time), recipients, op ? `${type} ${op}` : type, '']
}

async function addSummaries(entries: readonly Reply[], cells: readonly Cells[]): Promise<void> {
  const { renderHead } = await import('./message-lines.ts')
  const { summarize } = await import('./event-summaries.ts')
  for (const [index, { event }] of entries.entries()) {
    const happened = event as ChatEvent
    const { message } = happened
    const label = cells[index]![3]
    cells[index]![4] = message
      ? `${renderHead(happened, placeOfMessage(message)).trim()} ${message.content ?? ''}`
      : summarize(happened).replace(label, '').trim()
  }
}

function callBlock(call: Reply, { colors }: Terminal): string[] {
  const { id, time, method, path, user, user_id, user_agent, endpoint, code, fault, duration_ms, answer } = call
  const took = typeof duration_ms === 'number' ? ` in ${duration_ms} ms` : ''
  const title = `${id}  ${showTime(Number(time) / 1000, 'second')}  ${method} ${path}  ${outcomeOf(call)}${took}`
  const facts: [string, unknown][] = [
    ['account', user ? `${user} (${user_id})` : 'none'],
    ['user agent', user_agent ?? 'none'],
    ['endpoint', endpoint ?? 'none'],
    ['code', code],
    ['fault', fault],
    ...describeFindings(call).map((finding): [string, unknown] => ['strict', finding]),
  ]
  const sent = Object.entries(call.sent as Reply).map(([name, value]): [string, unknown] => [
    `  ${name}`,
    valueText(value),
  ])
  if (sent.length > 0) facts.push(['sent', ''], ...sent)
  facts.push(['answer', answer ?? 'none'])
  const rows = facts.filter(([, value]) => value !== null && value !== undefined)
  const width = columnWidth(rows.map(([name]) => measureWidth(name)))
  const lines = rows.map(([name, value]) => {
    const title = colors ? colors.cyan(padToWidth(harmless(name), width)) : padToWidth(harmless(name), width)
    const text = harmless(String(value)).replaceAll('\n', `\n${' '.repeat(width + 4)}`)
    return `  ${title}  ${text}`.trimEnd()
  })
  const heading = harmless(title)
  return [colors ? colors.bold(heading) : heading, ...lines]
}

/** A status, or why there is none. */
function outcomeOf({ status, parked, lost }: Reply): string {
  if (lost === true) return 'lost'
  return typeof status === 'number' ? String(status) : parked === true ? 'poll' : '...'
}

/** What `--strict` says about it. */
function describeFindings({ strict = [] }: Reply): string[] {
  return (strict as Finding[]).map(({ kind, says }) => `${kind}: ${says}`)
}

function hasFailed({ status, lost }: Reply): boolean {
  return lost === true || Number(status) >= 400
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return value
  const { filename, size } = value as Reply
  return `${filename} (${size} bytes)`
}

function localPart(email: unknown): string {
  return typeof email === 'string' ? email.split('@', 1)[0]! : '-'
}

function clockText(time: unknown): string {
  return showClock(Number(time) / 1000, new Date(), 'second')
}
