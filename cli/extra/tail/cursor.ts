// Where a tail has got to, in a file of its own: written whole and renamed, so that a kill leaves the old or the new one.

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { exitCodes, Failure } from '../../failure.ts'

export interface Position {
  readonly queue_id: string
  readonly last_event_id: number
  /** Null as long as the server has not said which message is the newest. */
  readonly last_message_id: number | null
}

export interface Cursor extends Position {
  readonly site: string
  readonly email: string
  /** What the queue was registered for. A tail that wants something else needs another queue. */
  readonly wants: string
}

export function readCursor(file: string, site: string, email: string): Cursor | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new Failure(exitCodes.refused, `cannot read the cursor ${file}: ${code}`)
  }
  if (text.trim() === '') return undefined
  const cursor = parsed(text)
  if (!cursor) throw new Failure(exitCodes.refused, `${file} is not a cursor`, { hint: 'Name another file.' })
  if (cursor.site !== site || cursor.email !== email)
    throw new Failure(exitCodes.refused, `the cursor ${file} belongs to ${cursor.email} at ${cursor.site}`, {
      hint: 'Name another file for this account.',
    })
  return cursor
}

export function saveCursor(file: string, cursor: Cursor): void {
  const draft = `${file}.${process.pid}.tmp`
  try {
    writeFileSync(draft, `${JSON.stringify(cursor)}\n`, { mode: 0o600 })
    renameSync(draft, file)
  } catch (error) {
    throw new Failure(
      exitCodes.refused,
      `cannot write the cursor ${file}: ${(error as NodeJS.ErrnoException).code ?? error}`,
    )
  }
}

function parsed(text: string): Cursor | undefined {
  try {
    const found = JSON.parse(text)
    const complete = typeof found.queue_id === 'string' && Number.isSafeInteger(found.last_event_id)
    return complete ? found : undefined
  } catch {
    return undefined
  }
}
