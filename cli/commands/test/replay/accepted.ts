// Differences that are known and accepted, in a file beside the recording.

import { existsSync } from 'node:fs'
import { writeFileAtomicallySync } from '../../../../daemon/local/atomic-file.ts'
import { readText, smallFile } from '../../../../daemon/local/bounded-file.ts'
import { parseJson } from '../../../../daemon/local/nesting.ts'
import { exitCodes, Failure } from '../../../base/failure.ts'
import { type Difference, keyOf } from './drift.ts'

export function acceptedFile(recording: string): string {
  return `${recording}.accepted.json`
}

export function saveDifferences(file: string, differences: readonly Difference[]): void {
  const known = differences.map(({ where, field, kind }) => ({ where, field, kind }))
  writeFileAtomicallySync(file, `${JSON.stringify(known, null, 2)}\n`)
}

/** The keys of the differences in the file; none if there is no file. */
export function knownDifferences(file: string): ReadonlySet<string> {
  if (!existsSync(file)) return new Set()
  let list: unknown
  try {
    list = parseJson(readText(file, smallFile))
  } catch (error) {
    throw wrong(file, (error as NodeJS.ErrnoException).code ?? 'it is not valid JSON, or nested too deeply')
  }
  if (!Array.isArray(list)) throw wrong(file, 'it must be a list')
  return new Set(
    list.map((item, index) => {
      const { where, field, kind } = Object(item) as Difference
      if (![where, field, kind].every(value => typeof value === 'string'))
        throw wrong(file, `item ${index + 1} must have where, field and kind, each a text`)
      return keyOf({ where, field, kind })
    }),
  )
}

function wrong(file: string, why: string): Failure {
  return new Failure(exitCodes.usage, `cannot read ${file}: ${why}`, {
    hint: 'Delete it, or give the recording another name.',
  })
}
