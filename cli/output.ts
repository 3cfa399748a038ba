// Prints replies: text for people by default, JSON when asked. stdout carries data only, whatever it is connected to.

import type { Param } from '../daemon/api/define.ts'
import type { Reply } from './client.ts'
import { harmless } from './failure.ts'
import type { Globals } from './globals.ts'
import { showTime } from './times.ts'

type Shape = Param['shape']

export interface View {
  /** The reply field people want to see. */
  readonly shows?: string | undefined
  readonly shapes?: Readonly<Record<string, Shape>>
}

/** Fields that carry the protocol rather than the answer. */
const envelope = new Set(['result', 'msg', 'ignored_parameters_unsupported'])

export async function printReply(reply: Reply, view: View, globals: Pick<Globals, 'json' | 'color'>): Promise<void> {
  const ignored = reply.ignored_parameters_unsupported
  if (Array.isArray(ignored)) note(`the server ignored: ${ignored.join(', ')}`)
  if (globals.json) return printJson(reply)
  const paint = await painter(globals)
  const fields = Object.entries(reply).filter(([name]) => !envelope.has(name))
  const wanted = view.shows ?? (fields.length === 1 ? fields[0]![0] : undefined)
  if (wanted !== undefined && Object.hasOwn(reply, wanted)) {
    const lines = linesOf(reply[wanted], view.shapes?.[wanted], paint)
    if (lines.length === 0) note(`no ${wanted.replaceAll('_', ' ')}`)
    return put(lines)
  }
  if (fields.length === 0) return note('done')
  put(recordLines(Object.fromEntries(fields), view.shapes ?? {}, paint))
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

let quiet = false

/** After this, notes are not said. Failures still are. */
export function beQuiet(): void {
  quiet = true
}

/** A sentence for whoever watches; never data. */
export function note(message: string): void {
  if (!quiet) process.stderr.write(`${harmless(message)}\n`)
}

export interface Paint {
  key(text: string): string
  heading(text: string): string
}

const plain: Paint = { key: text => text, heading: text => text }

export async function painter({ color }: Pick<Globals, 'color'>): Promise<Paint> {
  if (color === 'never') return plain
  if (color === 'auto' && (!process.stdout.isTTY || process.env.NO_COLOR)) return plain
  const { Chalk } = await import('chalk')
  const chalk = new Chalk({ level: 1 })
  return { key: chalk.cyan, heading: chalk.bold }
}

export function linesOf(value: unknown, shape: Shape | undefined, paint: Paint = plain): string[] {
  if (Array.isArray(value)) {
    const items = shape?.items as Shape | undefined
    if (value.length > 0 && value.every(isRecord)) return tableLines(value, items?.properties ?? {}, paint)
    return value.map(item => cell(item, items))
  }
  if (isRecord(value)) return recordLines(value, shape?.properties ?? {}, paint)
  // A lone text is the data itself, line breaks and all.
  if (typeof value === 'string') return value === '' ? [] : harmless(value).split('\n')
  return [cell(value, shape)]
}

function recordLines(record: Reply, shapes: Readonly<Record<string, Shape>>, paint: Paint): string[] {
  const width = Math.max(...Object.keys(record).map(name => name.length))
  return Object.entries(record).map(([name, value]) => {
    return `${paint.key(harmless(name).padEnd(width))}  ${cell(value, shapes[name])}`.trimEnd()
  })
}

function tableLines(rows: readonly Reply[], shapes: Readonly<Record<string, Shape>>, paint: Paint): string[] {
  const columns = [...new Set(rows.flatMap(row => Object.keys(row)))]
  const cells = rows.map(row => columns.map(name => (Object.hasOwn(row, name) ? cell(row[name], shapes[name]) : '')))
  const widths = columns.map((name, index) => Math.max(name.length, ...cells.map(row => [...row[index]!].length)))
  const line = (row: readonly string[]) =>
    row
      .map((text, index) => padded(text, widths[index]!))
      .join('  ')
      .trimEnd()
  return [paint.heading(line(columns.map(harmless))), ...cells.map(line)]
}

function cell(value: unknown, shape: Shape | undefined): string {
  if (value === null || value === undefined) return '-'
  if (typeof value === 'number' && shape?.ref === 'time') return showTime(value)
  if (typeof value === 'object') return harmless(JSON.stringify(value))
  return harmless(String(value)).replaceAll('\n', '\\n').replaceAll('\t', '\\t')
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - [...text].length))
}

function put(lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`)
}

function isRecord(value: unknown): value is Reply {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
