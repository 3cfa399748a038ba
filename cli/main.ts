// The entry of `natter`: runs on load. No top-level await, since it is bundled as CommonJS.

import { runProgram } from './program.ts'

export function main(argv: readonly string[] = process.argv.slice(2)): Promise<number> {
  return runProgram(argv)
}

/** Resolves with the exit code of this run. */
export const ended = main()

// Sets the exit code instead of calling exit, so that output to a pipe is flushed.
void ended.then(code => {
  process.exitCode = code
})
