// Notes on stderr: what a person wants to know, and no program reads.

import { printError } from './writer.ts'

let quiet = false

/** Turns notes off. Failures and warnings are still printed. */
export function beQuiet(): void {
  quiet = true
}

/** A status message on stderr; never data. */
export function note(message: string): void {
  if (!quiet) printError(`${message}\n`)
}

/** A loss that the result does not show. */
export function warn(message: string): void {
  printError(`${message}\n`)
}
