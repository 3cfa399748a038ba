// The position of a tail, in a file: one line, written by one call, so that a kill leaves the old or the new one.

import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { jsonOr } from '../../../../daemon/local/json.ts'
import { exitCodes, Failure } from '../../../base/failure.ts'
import { readIfThere } from '../../../base/files.ts'

export interface Position {
  readonly queue_id: string
  readonly last_event_id: number
  /** Null until the server has reported the newest message. */
  readonly last_message_id: number | null
}

interface Cursor extends Position {
  readonly site: string
  readonly email: string
  /** What the queue was registered for. A tail with other filters needs another queue. */
  readonly wants: string
}

/** Leaves room for numbers to grow. */
const shortest = 320

export function readCursor(file: string, site: string, email: string): Cursor | undefined {
  const text = readIfThere(file, `the cursor ${file}`) ?? ''
  if (text.trim() === '') return undefined
  const cursor = parseCursor(text)
  if (!cursor) throw new Failure(exitCodes.refused, `${file} is not a cursor file`, { hint: 'Use another file.' })
  if (cursor.site !== site || cursor.email !== email)
    throw new Failure(exitCodes.refused, `the cursor ${file} belongs to ${cursor.email} at ${cursor.site}`, {
      hint: 'Use another file for this account.',
    })
  return cursor
}

/** Keeps the file open: it is written after every line. */
export class CursorFile {
  readonly #file: string
  #handle: number | undefined
  #length = 0

  constructor(file: string) {
    this.#file = file
  }

  /** Prepares the write and returns it: the less happens between a line and its cursor, the less a kill repeats. */
  prepare(cursor: Cursor): () => void {
    return this.#explained(() => {
      this.#handle ??= openSync(this.#file, constants.O_RDWR | constants.O_CREAT, 0o600)
      // Never shorter than before, so that one write replaces all of the old text.
      const text = JSON.stringify(cursor)
      this.#length ||= fstatSync(this.#handle).size
      const line = Buffer.from(`${text.padEnd(Math.max(this.#length - 1, shortest))}\n`)
      this.#length = line.length
      const handle = this.#handle
      return () => this.#explained(() => void writeSync(handle, line, 0, line.length, 0))
    })
  }

  #explained<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw new Failure(
        exitCodes.refused,
        `cannot write the cursor ${this.#file}: ${(error as NodeJS.ErrnoException).code ?? error}`,
      )
    }
  }
}

function parseCursor(text: string): Cursor | undefined {
  const found = Object(jsonOr(text))
  const { queue_id, last_event_id, last_message_id = null, site, email, wants } = found
  const texts = [queue_id, site, email, wants].every(value => typeof value === 'string')
  const complete = texts && Number.isSafeInteger(last_event_id) && isIdOrNull(last_message_id)
  return complete ? found : undefined
}

function isIdOrNull(value: unknown): boolean {
  return value === null || Number.isSafeInteger(value)
}
