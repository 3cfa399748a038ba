// Signals of a subcommand that has something to finish before it ends.

import { type ExitCode, exitCodes } from './failure.ts'

/** Exit codes of a process that a signal ends. */
export const signalCodes = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.hungUp,
} as const

/** Resolves with the first of these signals, in place of what it did before. A second one ends the process. */
export function nextSignal(...signals: readonly NodeJS.Signals[]): Promise<void> {
  return new Promise(resolve => {
    for (const signal of signals) {
      // Adds the new listener before it removes the old ones, because a signal in between would be lost.
      const before = process.listeners(signal)
      process.once(signal, () => resolve())
      for (const listener of before) process.removeListener(signal, listener)
    }
  })
}

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
