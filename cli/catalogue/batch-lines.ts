// The lines of a batch: those of a file or of stdin, or the rows of a CSV file.

import { createReadStream, readFileSync, statSync } from 'node:fs'
import { largeFile } from '../../daemon/local/bounded-file.ts'
import { usage } from '../base/failure.ts'
import { decodeText } from '../base/files.ts'

/** Much more than a server accepts. */
const longestLine = 16 * 1024 * 1024

export function openInput(file: string) {
  if (file === '-') return process.stdin
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found || found.isDirectory()) throw usage(`--batch: cannot read ${file}`)
  return createReadStream(file)
}

/** Lines without their ends, in groups as they arrive: a promise per line would cost more than reading it. */
export async function* readLines(input: NodeJS.ReadableStream, file: string, ending: string): AsyncGenerator<string[]> {
  if (isCsv(file)) {
    const { readRows } = await import('./csv.ts')
    const lines = readWholeLines(input, file, '\n')
    yield* readRows(lines, longestLine, reason => usage(`--batch: not valid CSV: ${reason}`))
    return
  }
  let first = true
  for await (const text of readWholeLines(input, file, ending)) {
    // Programs of Windows write a byte order mark, and JSON has none before a value.
    const lines = (first ? text.replace(/^\ufeff/, '') : text).split(ending)
    first = false
    if (lines.at(-1) === '') lines.pop()
    yield lines
  }
}

/** The text in pieces that end with a line, so that no character is cut in two. */
async function* readWholeLines(input: NodeJS.ReadableStream, file: string, ending: string): AsyncGenerator<string> {
  const from = `--batch: ${file === '-' ? 'stdin' : file}`
  let rest = Buffer.alloc(0)
  let line = 1
  for await (const chunk of input as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([rest, chunk])
    const end = bytes.lastIndexOf(ending) + 1
    rest = bytes.subarray(end)
    if (rest.length > longestLine) throw usage(`--batch: a line is longer than ${longestLine} bytes`)
    if (end === 0) continue
    const text = decodeText(bytes.subarray(0, end), from, line)
    line += text.split('\n').length - 1
    yield text
  }
  if (rest.length > 0) yield decodeText(rest, from, line)
}

export function isCsv(file: string): boolean {
  return /\.csv$/i.test(file)
}

/** For the progress bar. Undefined for stdin, CSV, devices and large files. */
export function countLines(file: string, ending: string): number | undefined {
  if (file === '-' || isCsv(file) || !statSync(file).isFile() || statSync(file).size > largeFile) return undefined
  let lines = 0
  const bytes = readFileSync(file)
  for (let at = bytes.indexOf(ending); at >= 0; at = bytes.indexOf(ending, at + 1)) lines++
  return lines
}
