// Warnings for the operator: one sentence on stderr each, whatever the log level is.

import { harmless } from './harmless.ts'

// Shared by all worlds: stderr belongs to the process.
let prefix = 'natterd: '

/** The text may quote a file or a client, so nothing in it may steer the terminal. */
export function warn(text: string): void {
  process.stderr.write(`${prefix}${harmless(text)}\n`)
}

/** For a program that is not natterd. */
export function nameWarnings(program: string): void {
  prefix = `${program}: `
}
