// Processes that try mutants, a few at a time. One that does not answer is killed, and so is one that has done its share:
// every try loads the tests again, and they stay in memory.

import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Outcome, Task } from './worker.ts'

/** Two, so that the machine stays usable. */
const processes = 2
const triesPerProcess = 40

export interface Job {
  readonly task: Task
  /** In milliseconds, for the whole of it. */
  readonly limit: number
  done(outcome: Outcome): void
}

/** Tries all jobs; `program` is the bundled worker. */
export async function runJobs(program: string, jobs: readonly Job[]): Promise<void> {
  const queue = [...jobs]
  const scratch = mkdtempSync(join(tmpdir(), 'natter-mutation-'))
  try {
    await Promise.all(Array.from({ length: processes }, () => work(program, queue, scratch)))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function work(program: string, queue: Job[], scratch: string): Promise<void> {
  let child: ChildProcess | undefined
  let tries = 0
  const start = () => {
    child?.kill('SIGKILL')
    tries = 0
    return fork(program, { execArgv: [], stdio: 'ignore', env: { ...process.env, TMPDIR: scratch } })
  }
  try {
    for (let job = queue.shift(); job; job = queue.shift()) {
      if (!child?.connected || tries >= triesPerProcess) child = start()
      let outcome = await ask(child, job)
      // It may come from what the try before it left behind: that is told apart in a new process.
      if (outcome.isStray && tries > 0) {
        child = start()
        outcome = await ask(child, job)
      }
      tries++
      if (outcome.isStray || outcome.status === 'late') child = start()
      job.done(outcome)
    }
  } finally {
    child?.kill('SIGKILL')
  }
}

function ask(child: ChildProcess, { task, limit }: Job): Promise<Outcome> {
  const nothing = { static: {}, perTest: {}, took: {} }
  return new Promise(resolve => {
    const finish = (outcome: Outcome) => {
      clearTimeout(timer)
      child.removeAllListeners()
      resolve(outcome)
    }
    const timer = setTimeout(() => finish({ status: 'late', message: 'no answer', seen: nothing }), limit)
    child.once('message', outcome => finish(outcome as Outcome))
    child.once('exit', code => finish({ status: 'killed', message: `exit ${code}`, isStray: true, seen: nothing }))
    child.once('error', error => finish({ status: 'killed', message: String(error), isStray: true, seen: nothing }))
    child.send(task)
  })
}
