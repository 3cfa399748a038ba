// `natter daemon logs`: the end of a background daemon's log, and what is added to it.

import { existsSync, statSync } from 'node:fs'
import { exitCodes, Failure } from '../../../base/failure.ts'
import { readWholeNumber } from '../../../base/flag-values.ts'
import { printUnchanged } from '../../../base/writer.ts'
import { findLog, lastLines, readFrom } from './files.ts'
import { chooseFolder } from './lifecycle.ts'

const interval = 200

export async function printLogs(options: { data?: string; lines?: string; follow?: boolean }): Promise<void> {
  const lines = readWholeNumber('lines', options.lines ?? 20)
  const file = findLog(await chooseFolder(options), options)
  if (!existsSync(file))
    throw new Failure(exitCodes.notFound, `there is no log at ${file}`, {
      hint: 'Only a daemon started with `natter daemon start` has one.',
    })
  let { text, size } = readFrom(file, 0)
  for (const line of lastLines(text, lines)) printUnchanged(`${line}\n`)
  while (options.follow) {
    await new Promise(resolve => setTimeout(resolve, interval))
    // A file that shrank was replaced or emptied.
    const now = statSync(file, { throwIfNoEntry: false })?.size ?? 0
    ;({ text, size } = readFrom(file, now < size ? 0 : size))
    if (text !== '') printUnchanged(text)
  }
}
