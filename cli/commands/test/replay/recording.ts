// Reads a recording. Its author may be a stranger: every line is checked before anything is played, and an error names the line
// and the key.

import { isPath } from '../../../../daemon/api/address.ts'
import { isRecord } from '../../../../daemon/local/json.ts'
import { parseJson } from '../../../../daemon/local/nesting.ts'
import { exitCodes, Failure } from '../../../base/failure.ts'
import { readGiven } from '../../../base/files.ts'
import { note } from '../../../base/note.ts'
import { methods } from '../../../transport/routes.ts'

export interface RecordedCall {
  readonly call: number
  /** Milliseconds, by the clock of the daemon. */
  readonly time: number
  /** Address of the account; null: none. */
  readonly user: string | null
  readonly method: string
  readonly path: string
  /** The header User-Agent, which settles the dialect of the answer; null: none. Recordings of earlier versions do not say. */
  readonly user_agent?: string | null
  readonly endpoint: string | null
  readonly sent: Readonly<Record<string, unknown>>
  readonly status: number | null
  readonly fault?: string
  readonly lost?: boolean
  readonly answer: unknown
}

export interface Recording {
  /** Whether the clock was frozen. */
  readonly frozen: boolean
  readonly calls: readonly RecordedCall[]
}

const format = 1
const mostLines = 1_000_000
/** Bytes. */
const longestLine = 64 * 1024 * 1024
const mostFields = 1000
/** The last millisecond that a date can name. */
const lastTime = 8.64e15

/** Calls in the order in which they were made; the recording has them in the order of their answers. */
export function inOrder(calls: readonly RecordedCall[]): RecordedCall[] {
  return [...calls].sort((a, b) => a.call - b.call)
}

/** Whether the call is of this route of the API. */
export function isCallTo(call: Pick<RecordedCall, 'method' | 'path'>, method: string, route: string): boolean {
  return call.method === method && call.path === `/api/v1${route}`
}

export function readRecording(file: string): Recording {
  const lines = readLines(file)
  const [head, ...rest] = lines.map((line, index) => parse(file, line, index + 1, index === lines.length - 1))
  if (typeof head?.natter_recording !== 'number') throw wrong(`${file} is not a recording of natter record`)
  if (head.natter_recording !== format)
    throw wrong(`${file} is a recording of format ${head.natter_recording}; this version reads format ${format}`)
  const calls = rest.flatMap((line, index) => (line?.call === undefined ? [] : [checkLine(line, file, index + 2)]))
  if (rest.at(-1)?.end === undefined) note(`${file} was cut off after ${calls.length} calls; what is there is played`)
  return { frozen: (head.clock as { frozen?: boolean } | null | undefined)?.frozen === true, calls }
}

type Line = Readonly<Record<string, unknown>>

function isText(most: number): (value: unknown) => boolean {
  return value => typeof value === 'string' && value.length <= most
}

const isName = isText(1000)
const isEndpoint = (value: unknown) => value === null || isName(value)

/** The check of each key, and its description in messages. A call to an unknown route is not played, so its endpoint may be null. */
const keys: readonly (readonly [key: string, says: string, isRight: (value: unknown, line: Line) => boolean])[] = [
  ['call', 'must be a whole number', Number.isSafeInteger],
  ['time', 'must be milliseconds since 1970', value => typeof value === 'number' && value >= 0 && value <= lastTime],
  ['user', 'must be the address of an account, or null', value => value === null || isName(value)],
  ['user_agent', 'must be a text, or null', value => (value ?? null) === null || isText(10_000)(value)],
  ['endpoint', 'must be the ID of an endpoint, or null', isEndpoint],
  [
    'method',
    `must be one of ${methods.join(', ')}`,
    (value, { endpoint }) => isName(value) && (endpoint === null || methods.includes(String(value))),
  ],
  [
    'path',
    'must be a path of the API, such as /api/v1/messages',
    (value, { endpoint }) => isText(10_000)(value) && (endpoint === null || isRoute(String(value))),
  ],
  [
    'sent',
    `must be an object of at most ${mostFields} parameters`,
    value => isRecord(value) && Object.keys(value).length <= mostFields && Object.keys(value).every(isName),
  ],
  ['status', 'must be a status of HTTP, or null', value => value === null || isStatus(value)],
  ['fault', 'must be the name of a fault', value => value === undefined || isName(value)],
  ['lost', 'must be true or false', value => value === undefined || typeof value === 'boolean'],
]

function checkLine(line: Line, file: string, number: number): RecordedCall {
  for (const [key, says, isRight] of keys)
    if (!isRight(line[key], line)) throw wrong(`${file}, line ${number}: "${key}" ${says}`)
  return line as unknown as RecordedCall
}

function isRoute(path: string): boolean {
  return path.startsWith('/api/v1/') && isPath(path)
}

function isStatus(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 100 && Number(value) <= 599
}

function wrong(message: string): Failure {
  return new Failure(exitCodes.usage, message)
}

function readLines(file: string): Buffer[] {
  const bytes = readGiven(file)
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\n', at)
    const line = bytes.subarray(at, end < 0 ? bytes.length : end)
    if (line.length > longestLine) throw wrong(`${file}, line ${lines.length + 1}: longer than ${longestLine} bytes`)
    if (lines.length === mostLines) throw wrong(`${file} has more than ${mostLines} lines`)
    lines.push(line)
    at += line.length + 1
  }
  return lines
}

/** Only the last line may be incomplete; any other line that is not JSON is damage. */
function parse(file: string, line: Buffer, number: number, isLast: boolean): Line | undefined {
  let value: unknown
  try {
    value = parseJson(line.toString('utf8'))
  } catch {
    if (isLast && number > 1) return undefined
    if (number > 1) throw wrong(`${file}, line ${number}: not valid JSON, or nested too deeply`)
  }
  if (isRecord(value)) return value
  throw wrong(
    number === 1 ? `${file} is not a recording of natter record` : `${file}, line ${number}: not a JSON object`,
  )
}
