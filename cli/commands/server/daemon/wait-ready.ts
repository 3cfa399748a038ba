// Waits until a daemon that was just started answers, or says why it does not.

import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../../../../daemon/local/monotonic.ts'
import type { Ready } from '../../../../daemon/local/ready-file.ts'
import { exitCodes, Failure } from '../../../base/failure.ts'
import { lastLines } from './files.ts'

const step = 25

export async function waitUntilReady(
  child: ChildProcess,
  readyFile: string,
  timeout: number,
  logged: () => string,
): Promise<Ready> {
  let ended: string | undefined
  let code: number | null = null
  child.on('error', error => {
    ended = error.message
  })
  child.on('exit', (exit, signal) => {
    code = exit
    ended = signal ? `it was ended by ${signal}` : `exit code ${exit}`
  })
  const deadline = monotonicMs() + timeout
  for (;;) {
    const ready = readReady(readyFile)
    if (ready && ready.pid === child.pid) return ready
    if (ended !== undefined) {
      const exit = code === exitCodes.usage ? exitCodes.usage : exitCodes.refused
      throw new Failure(exit, `the daemon did not start: ${ended}`, { hint: lastLines(logged(), 10).join('\n  ') })
    }
    if (monotonicMs() > deadline) {
      child.kill('SIGTERM')
      throw new Failure(exitCodes.unmet, `the daemon was not ready within ${timeout / 1000} s`, {
        hint: [...lastLines(logged(), 10), 'Give it longer with --timeout 2m.'].join('\n  '),
      })
    }
    await sleep(step)
  }
}

function readReady(file: string): Ready | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
