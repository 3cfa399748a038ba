// The entry of `natter`: runs on load. No top-level await, since it is bundled as CommonJS.

import { runProgram } from './program.ts'

export function main(argv: readonly string[] = process.argv.slice(2)): Promise<number> {
  return runProgram(argv)
}

// The code is set rather than exited with: what was written to a pipe must get through.
void main().then(code => {
  process.exitCode = code
})
