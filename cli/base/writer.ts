// The only place that writes to stdout and stderr. Text of files and servers must not steer a terminal, so control characters
// are removed here, whatever was removed before.

import { writeSync } from 'node:fs'
import { harmless, harmlessButColors } from '../../daemon/local/harmless.ts'

/** Text on stdout. */
export function print(text: string): void {
  process.stdout.write(harmless(text))
}

/** Text with colors of ours on stdout. */
export function printColored(text: string): void {
  process.stdout.write(harmlessButColors(text))
}

/** Text that was asked for as it is: a pipe gets it unchanged. */
export function printUnchanged(text: string): void {
  process.stdout.write(harmlessOnTerminal(text))
}

let hasPrintedBytes = false

/** Whether a reader of stdout that stops early lacks a part of a file. */
export function isPrintingFile(): boolean {
  return hasPrintedBytes
}

/** The same for bytes, such as a file. Resolves when they are written. */
export function printBytes(bytes: Uint8Array): Promise<void> {
  hasPrintedBytes = true
  const content = process.stdout.isTTY ? harmless(decodeText(bytes)) : bytes
  return new Promise((resolve, reject) => process.stdout.write(content, error => (error ? reject(error) : resolve())))
}

let takeOutputError: ((error: Error) => void) | undefined

/** For a subcommand that has something to finish when stdout takes no more: `take` gets the error in place of the program. Returns how to undo it. */
export function onOutputError(take: (error: Error) => void): () => void {
  takeOutputError = take
  return () => {
    takeOutputError = undefined
  }
}

/** Whether the subcommand has taken an error of stdout. */
export function passOutputError(error: Error): boolean {
  takeOutputError?.(error)
  return takeOutputError !== undefined
}

/** A promise while the reader of stdout is slow. */
export function waitForDrain(): Promise<void> | undefined {
  const { stdout } = process
  if (!stdout.writableNeedDrain || stdout.errored) return undefined
  return new Promise(resolve => {
    for (const event of ['drain', 'error']) stdout.once(event, () => resolve())
  })
}

/** Text that a terminal shows; a pipe gets it unchanged. */
export function harmlessOnTerminal(text: string): string {
  return process.stdout.isTTY ? harmless(text) : text
}

/** Lines whose parts were cleaned when they were made, or that jq made. */
export function printLines(text: string): void {
  process.stdout.write(linesFor(text))
}

/**
 * The same, written at once if the system accepts them. Bypasses the stream, whose bookkeeping would come between a line and
 * its cursor, where a kill repeats the line.
 */
export function printLinesAtOnce(text: string): Promise<void> | undefined {
  const bytes = Buffer.from(linesFor(text))
  const taken = takenAtOnce(bytes)
  if (taken === bytes.length) return undefined
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes.subarray(taken), error => (error ? reject(error) : resolve()))
  })
}

/** Text on stderr. */
export function printError(text: string): void {
  process.stderr.write(harmless(text))
}

/** In the place of the last line on a terminal. */
export function redrawError(line: string): void {
  process.stderr.write(`\r\u001b[2K${harmless(line)}`)
}

/** Where prompts are written; they are made by natter alone. */
export function promptStream(): NodeJS.WritableStream {
  return process.stderr
}

function linesFor(text: string): string {
  return process.stdout.isTTY ? harmlessButColors(text) : text
}

function takenAtOnce(bytes: Buffer): number {
  // Accessing the stream makes a pipe non-blocking. Its pending data comes first.
  if (process.stdout.writableLength > 0) return 0
  try {
    return writeSync(1, bytes)
  } catch {
    // The pipe is full or broken: the stream waits or reports it.
    return 0
  }
}

let decoder: InstanceType<typeof TextDecoder> | undefined

/** Characters can be cut between two pieces. */
function decodeText(bytes: Uint8Array): string {
  decoder ??= new TextDecoder()
  return decoder.decode(bytes, { stream: true })
}
