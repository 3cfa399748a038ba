// Notes on stderr: what a person wants to know, and no program reads.

import { harmless } from '../../daemon/api/harmless.ts'

let quiet = false

/** Turns notes off. Failures are still printed. */
export function beQuiet(): void {
  quiet = true
}

/** A status message on stderr; never data. */
export function note(message: string): void {
  if (!quiet) process.stderr.write(`${harmless(message)}\n`)
}
