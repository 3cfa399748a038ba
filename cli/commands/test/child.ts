// Runs the user's command in this terminal, passes signals on to it, and exits with its exit code.

import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { exitCodes, Failure } from '../../base/failure.ts'

export function runChild([program, ...args]: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    let child: ChildProcess | undefined
    // Before the command starts, so that no signal is missed.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
      process.removeAllListeners(signal)
      // The terminal sends Ctrl-C to the command directly.
      process.on(signal, () => {
        if (signal !== 'SIGINT' || !process.stdin.isTTY) child?.kill(signal)
      })
    }
    child = spawn(program!, args, { stdio: 'inherit', env })
    child.on('error', error => reject(cannotRun(program!, error)))
    child.on('exit', (code, signal) => resolve(exitCodeOf(code, signal)))
  })
}

/** The reason why a program did not start. */
export function cannotRun(program: string, { code }: NodeJS.ErrnoException): Failure {
  const missing = code === 'ENOENT'
  const exit = missing ? exitCodes.noSuchCommand : exitCodes.cannotRun
  return new Failure(exit, `cannot run ${program}: ${missing ? 'there is no such command' : code}`)
}

/** As shells have it: 128 and the number of the signal that ended the program. */
export function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal ? constants.signals[signal] : 0)
}
