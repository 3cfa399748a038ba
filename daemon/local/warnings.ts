// Warnings for the operator: one sentence on stderr each, whatever the log level is.

// Shared by all worlds: stderr belongs to the process.
let prefix = 'natterd: '

export function warn(text: string): void {
  process.stderr.write(`${prefix}${text}\n`)
}

/** For a program that is not natterd. */
export function nameWarnings(program: string): void {
  prefix = `${program}: `
}
