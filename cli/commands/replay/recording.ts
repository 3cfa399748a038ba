// Reads a recording: checks that it is one of this format, and says so if it was cut off.

import { readFileSync } from 'node:fs'
import { exitCodes, Failure } from '../../base/failure.ts'
import { note } from '../../base/note.ts'

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

/** As they were made; the recording has them as they were answered. */
export function inOrder(calls: readonly RecordedCall[]): RecordedCall[] {
  return [...calls].sort((a, b) => a.call - b.call)
}

/** Whether the call is of this route of the API. */
export function isOf(call: Pick<RecordedCall, 'method' | 'path'>, method: string, route: string): boolean {
  return call.method === method && call.path === `/api/v1${route}`
}

export function readRecording(file: string): Recording {
  const lines = readLines(file)
  const [head, ...rest] = lines.map((line, index) => parse(file, line, index + 1, index === lines.length - 1))
  if (typeof head?.natter_recording !== 'number')
    throw new Failure(exitCodes.usage, `${file} is not a recording of natter record`)
  if (head.natter_recording !== format)
    throw new Failure(
      exitCodes.usage,
      `${file} is a recording of format ${head.natter_recording}; this version reads format ${format}`,
    )
  const calls = rest.filter(line => line?.call !== undefined) as unknown as RecordedCall[]
  if (rest.at(-1)?.end === undefined) note(`${file} was cut off after ${calls.length} calls; what is there is played`)
  return { frozen: (head.clock as { frozen?: boolean } | undefined)?.frozen === true, calls }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').replace(/\n$/, '').split('\n')
  } catch (error) {
    throw new Failure(exitCodes.usage, `cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`)
  }
}

/** A line that is broken in the middle is damage; the last one may be half there. */
function parse(file: string, line: string, number: number, isLast: boolean): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(line)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    if (isLast && number > 1) return undefined
  }
  throw new Failure(
    exitCodes.usage,
    number === 1 ? `${file} is not a recording of natter record` : `${file}, line ${number}: not valid JSON`,
  )
}
