// Signals of a subcommand that has something to finish before it ends.

import { type ExitCode, exitCodes } from './failure.ts'

/** Exit codes of what they end. */
export const signalCodes = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.hungUp,
} as const

/** The first signal calls `end` with the exit code to use; a second one ends the process at once. Returns how to undo it. */
export function onSignals(end: (code: ExitCode) => void): () => void {
  // The program's own listener ends the process at once.
  process.removeAllListeners('SIGINT')
  const listeners = Object.entries(signalCodes).map(([signal, code]) => {
    const listener = () => {
      undo()
      end(code)
    }
    process.on(signal, listener)
    return [signal, listener] as const
  })
  const undo = () => {
    for (const [signal, listener] of listeners) process.off(signal, listener)
  }
  return undo
}
