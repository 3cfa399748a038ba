// Prints replies: text for people by default, JSON when asked. stdout carries data only, whatever it is connected to.

import type { Param } from '../../daemon/api/define.ts'
import { harmless, harmlessJson } from '../../daemon/local/harmless.ts'
import { isRecord } from '../../daemon/local/json.ts'
import type { Globals } from '../base/globals.ts'
import { note } from '../base/note.ts'
import { type Reply, timeOf } from '../base/reply.ts'
import { columnWidth } from '../base/text-layout.ts'
import { showDistance, showTime } from '../base/times.ts'
import { print, printColored, printUnchanged } from '../base/writer.ts'

type Shape = Param['shape']

export interface View {
  /** The reply field to show. */
  readonly shows?: string | undefined
  /** The fields of each item of a list, of a record, or of the reply itself; all if absent. */
  readonly columns?: readonly string[] | undefined
  readonly shapes?: Readonly<Record<string, Shape>>
  /** Full names by user ID; asked for only if users are shown. */
  readonly names?: () => Promise<Names>
  /** The rows of a table as people should see them. */
  readonly forPeople?: (rows: readonly Reply[]) => Promise<readonly Reply[]>
  /** The note on success if the reply has nothing to print; on a terminal it takes the place of what it has. */
  readonly done?: string
  /** The note if the field to show is null. */
  readonly none?: string | undefined
  /** Your address: a direct conversation is shown without you. */
  readonly self?: string | undefined
  /** Lines that are ready for the terminal, to print instead of the reply. */
  readonly lines?: (reply: Reply) => Promise<string[]>
  /** Lines to print instead of the reply; none if there is nothing to add. */
  readonly says?: (reply: Reply) => Promise<string[]> | string[]
}

type Names = ReadonlyMap<number, string>

/** How to print, from the global flags. */
type Format = Pick<Globals, 'json' | 'ndjson' | 'fields' | 'jq' | 'color'> & Partial<Pick<Globals, 'quiet'>>

/** How to print for people. */
interface Manner extends Format {
  /** What distances in time are measured from. */
  readonly now: Date
  readonly self?: string | undefined
}

/** Protocol fields, which are not part of the answer. */
const envelope = new Set(['result', 'msg', 'ignored_parameters_unsupported'])

export async function printReply(reply: Reply, view: View, format: Format): Promise<void> {
  const globals: Manner = { ...format, now: timeOf(reply), self: view.self }
  const { done = 'done' } = view
  const ignored = reply.ignored_parameters_unsupported
  if (Array.isArray(ignored)) note(`the server ignored unknown parameters: ${ignored.join(', ')}`)
  const fields = Object.entries(reply).filter(([name]) => !envelope.has(name))
  const wanted = view.shows ?? (fields.length === 1 ? fields[0]![0] : undefined)
  const shown = wanted !== undefined && Object.hasOwn(reply, wanted) ? wanted : undefined
  const part = shown === undefined ? Object.fromEntries(fields) : reply[shown]
  const partShape = shown === undefined ? recordShape(view) : view.shapes?.[shown]
  if (await printInFormat(reply, part, partShape, globals)) return
  if (view.lines || view.says) {
    const lines = view.lines ? await view.lines(reply) : (await view.says!(reply)).map(harmless)
    return lines.length === 0 ? note(done) : put(lines)
  }
  // A person wants to know what happened, a script the ID. With --quiet a terminal gets what a script gets.
  const isForPerson = process.stdout.isTTY && !globals.quiet
  if (view.done !== undefined && fields.length > 0 && isForPerson) return put([harmless(done)])
  if (shown !== undefined) {
    const shape = view.shapes?.[shown]
    const names = view.names && showsUsers(shape, view.columns) ? await view.names() : undefined
    const value = view.forPeople ? await view.forPeople(reply[shown] as readonly Reply[]) : reply[shown]
    const isAbsent = value === null && view.shows !== undefined
    const lines = isAbsent ? [] : await linesFor(shown, value, shape, globals, view.columns, names)
    // After a change, report that it was made, not that there is nothing to show.
    const none = view.none ?? `no ${shown.replaceAll('_', ' ').replace('streams', 'channels')}`
    if (lines.length === 0) note(view.shows === undefined ? done : none)
    return put(lines)
  }
  if (fields.length === 0) return note(done)
  const some = pickColumns(Object.fromEntries(fields), view.columns)
  put(renderLines(some, recordShape(view), await painter(globals), globals.now))
}

/** Applies `--fields` and `--ndjson`. */
async function printPart(value: unknown, shape: Shape | undefined, globals: Manner): Promise<void> {
  const { fields } = globals
  const part = fields ? (await import('./select.ts')).pickFields(value, fields, shape) : value
  if (globals.ndjson) return put((Array.isArray(part) ? part : [part]).map(item => harmlessJson(JSON.stringify(item))))
  if (globals.json) return printJson(part)
  // A single field prints as a column without a heading: lines for a loop.
  const only = fields?.length === 1 ? fields[0]! : undefined
  const bare = (item: unknown) => (only !== undefined && isRecord(item) ? item[only] : item)
  const shown = Array.isArray(part) && only !== undefined ? part.map(bare) : bare(part)
  put(await linesFor('', shown, shape, globals))
}

async function linesFor(
  name: string,
  value: unknown,
  shape: Shape | undefined,
  globals: Manner,
  columns?: readonly string[],
  names?: Names,
): Promise<string[]> {
  if (name === 'message' && isRecord(value) && typeof value.content === 'string')
    return linesFor('messages', [value], shape, globals, columns)
  const named = isRecord(value) ? collectRows(value, shape) : undefined
  if (named) return linesFor(name, named.rows, named.shape, globals, columns)
  if (!Array.isArray(value) || value.length === 0 || !value.every(isRecord))
    return renderLines(pickColumns(value, columns), shape, await painter(globals), globals.now)
  const terminal = await (await import('../terminal/terminal.ts')).terminalFor(globals, value)
  if (name === 'messages' && value.every(item => typeof item.content === 'string')) {
    const { messageLines } = await import('../terminal/message-lines.ts')
    return messageLines(value, terminal, globals.self)
  }
  const { tableLines } = await import('../terminal/table.ts')
  const items = shape?.items as Shape | undefined
  const short = terminal.columns !== undefined
  return tableLines(
    value,
    (item, column) => cell(item, items?.properties?.[column], globals.now, short, names),
    terminal,
    columns,
  )
}

function pickColumns(value: unknown, columns: readonly string[] | undefined): unknown {
  if (!columns || !isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => columns.includes(name)))
}

/** Whether a table of these columns has IDs of users. */
function showsUsers(shape: Shape | undefined, columns: readonly string[] = []): boolean {
  const properties: Readonly<Record<string, Shape>> = (shape?.items as Shape | undefined)?.properties ?? {}
  return columns.some(column => isUser(properties[column]) || isUser(properties[column]?.items as Shape | undefined))
}

function isUser(shape: Shape | undefined): boolean {
  const arms: readonly (Shape | undefined)[] = shape?.anyOf ?? [shape]
  return arms.some(arm => arm?.ref === 'user')
}

/** Records by name are shown as a table. If each has parts, such as one per client, the aggregate is shown. */
function collectRows(value: Reply, shape: Shape | undefined): { rows: Reply[]; shape: Shape } | undefined {
  const records = Object.entries(value)
  if (records.length === 0 || !records.every(([, item]) => isRecord(item))) return undefined
  const rows = records.map(([name, item]) => {
    const { aggregated } = item as Reply
    return { name, ...(isRecord(aggregated) ? aggregated : (item as Reply)) }
  })
  if (rows.some(row => Object.values(row).some(isRecord))) return undefined
  // Where the names are known, each has a shape of its own.
  const shapes = shape?.properties ? ({ anyOf: Object.values(shape.properties) } as unknown as Shape) : shape
  return { rows, shape: { items: innermost(shapes) } as unknown as Shape }
}

/** The shape of the records, whatever their keys are. */
function innermost(shape: Shape | undefined): Shape | undefined {
  const next = shape?.additionalProperties ?? Object.values(shape?.patternProperties ?? {})[0]
  const arms: Shape[] = shape?.anyOf ?? [shape]
  if (typeof next === 'object' && next !== null) return innermost(next as Shape)
  if (arms.length < 2) return arms[0]
  return { properties: Object.assign({}, ...arms.map(arm => innermost(arm)?.properties)) } as unknown as Shape
}

/** Prints data that is not a reply in the format that the flags ask for. Returns false if they ask for none. */
export function printFormatted(value: unknown, globals: Format): Promise<boolean> {
  return printInFormat(value, value, undefined, { ...globals, now: new Date() })
}

/** `part`: what --ndjson and --fields are about. */
async function printInFormat(
  whole: unknown,
  part: unknown,
  shape: Shape | undefined,
  globals: Manner,
): Promise<boolean> {
  const { jq, ndjson, fields, json } = globals
  if (jq !== undefined) {
    const { jqText } = await import('./jq.ts')
    const texts: string[] = []
    // With --ndjson, to each item, as the lines would be piped into jq.
    for (const item of ndjson ? [part].flat() : [whole]) texts.push(await jqText(item, jq))
    // An empty text has no line.
    printUnchanged(texts.filter(text => text !== '\n').join(''))
  } else if (ndjson || fields) await printPart(part, shape, globals)
  else if (json) printJson(whole)
  else return false
  return true
}

export function printJson(value: unknown): void {
  print(`${harmlessJson(JSON.stringify(value, null, 2))}\n`)
}

type Paint = (text: string) => string

async function painter(globals: Pick<Globals, 'color'>): Promise<Paint | undefined> {
  return (await (await import('../terminal/terminal.ts')).colorsFor(globals))?.cyan
}

export function renderLines(
  value: unknown,
  shape: Shape | undefined,
  paint: Paint = String,
  now: Date = new Date(),
): string[] {
  if (Array.isArray(value)) return value.map(item => cell(item, shape?.items as Shape | undefined, now))
  if (isRecord(value)) return recordLines(value, shape?.properties ?? {}, paint, now)
  // A single text is printed as it is, with its line breaks.
  if (typeof value === 'string') return value === '' ? [] : harmless(value).split('\n')
  return [cell(value, shape, now)]
}

function recordShape({ shapes = {} }: View): Shape {
  return { properties: shapes } as unknown as Shape
}

function recordLines(record: Reply, shapes: Readonly<Record<string, Shape>>, paint: Paint, now: Date): string[] {
  const width = columnWidth(Object.keys(record).map(name => name.length))
  return Object.entries(record).map(([name, value]) => {
    return `${paint(harmless(name).padEnd(width))}  ${cell(value, shapes[name], now)}`.trimEnd()
  })
}

function cell(value: unknown, shape: Shape | undefined, now: Date, short = false, names?: Names): string {
  if (value === null || value === undefined) return '-'
  if (names && Array.isArray(value) && isUser(shape?.items as Shape | undefined))
    return harmless(value.map(id => names.get(id) ?? `id:${id}`).join(', ')) || '-'
  if (names && typeof value === 'number' && isUser(shape)) return harmless(names.get(value) ?? `id:${value}`)
  if (typeof value === 'number' && shape) {
    const arms: readonly Shape[] = shape.anyOf ?? [shape]
    if (arms.some(arm => arm.ref === 'time')) {
      const distance = showDistance(value, now.getTime() / 1000)
      return short ? distance : `${showTime(value)}, ${distance}`
    }
    // By the daemon's clock, so the distance from now says nothing.
    if (arms.some(arm => arm.ref === 'milliseconds')) return showTime(value / 1000, 'second')
    const title = arms.find(arm => arm.const === value)?.title
    if (title !== undefined) return `${value} (${title})`
  }
  if (typeof value === 'object') return harmless(listText(value) ?? JSON.stringify(value))
  return harmless(String(value)).replaceAll('\n', '\\n').replaceAll('\t', '\\t')
}

/** Simple lists, and simple lists by name, are shown without brackets. */
function listText(value: object): string | undefined {
  if (Array.isArray(value)) return value.every(item => typeof item !== 'object') ? value.join(', ') || '-' : undefined
  const parts = Object.entries(value).map(([name, item]) => {
    const text = Array.isArray(item) ? listText(item) : undefined
    return text === undefined ? undefined : `${name}: ${text}`
  })
  return parts.includes(undefined) ? undefined : parts.join('; ') || '-'
}

function put(lines: readonly string[]): void {
  if (lines.length > 0 && lines.join('') !== '') printColored(`${lines.join('\n')}\n`)
}
