// The position of a tail, in a file: one line, written by one call, so that a killed tail leaves either the old or the new position.

import { constants, fstatSync, openSync } from 'node:fs'
import { writeWholeSync } from '../../../../daemon/local/durable-files.ts'
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

/** Minimum length of the line: the numbers in it get longer. */
const minBytes = 320

export function readCursor(file: string, site: string, email: string): Cursor | undefined {
  const text = readIfThere(file, `the cursor ${file}`) ?? ''
  if (text.trim() === '') return undefined
  const cursor = parseCursor(text)
  if (!cursor) throw new Failure(exitCodes.refused, `${file} is not a cursor file`, { hint: 'Use another file.' })
  if (cursor.site !== site || cursor.email !== email)
    throw new Failure(exitCodes.refused, `the cursor ${file} belongs to ${cursor.email} at ${cursor.site}`, {
      hint: 'Use another file for this account, or start the daemon at that address again (--port).',
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

  /** Returns the write, ready to run: the sooner it follows the printed line, the fewer lines a tail prints again after a kill. */
  prepare(cursor: Cursor): () => void {
    return this.#withFileError(() => {
      this.#handle ??= openSync(this.#file, constants.O_RDWR | constants.O_CREAT, 0o600)
      const text = Buffer.from(JSON.stringify(cursor))
      // Never shorter than before, so that one write replaces all of the old text.
      this.#length = Math.max(this.#length || fstatSync(this.#handle).size, minBytes, text.length + 1)
      const line = Buffer.alloc(this.#length, ' ')
      text.copy(line)
      line.write('\n', line.length - 1)
      const handle = this.#handle
      return () => this.#withFileError(() => writeWholeSync(handle, line, 0))
    })
  }

  #withFileError<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw new Failure(exitCodes.refused, `cannot write the cursor ${this.#file}: ${code ?? error}`, {
        hint: code === 'ENOENT' ? 'Create its folder first.' : undefined,
      })
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
