// `natter exec --levels`: the same command at several feature levels, a table of how each run ended, and the first test that
// fails at some of them only.

import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { versionAt } from '../../../daemon/api/levels/releases.ts'
import { readCount } from '../../base/flag-values.ts'
import { givenLevel } from '../../base/levels.ts'
import { print, printError } from '../../base/writer.ts'
import { tableLines } from '../../terminal/table.ts'
import { cannotRun, exitCodeOf } from './child.ts'
import { failuresIn } from './test-failures.ts'

type RunCommand = (command: readonly string[], env: NodeJS.ProcessEnv) => Promise<number>

/** Runs the command at a level, by a function that starts it. */
type RunAt = (level: string, run: RunCommand) => Promise<number>

interface LevelRun {
  readonly level: number
  readonly code: number
  readonly output: string
  readonly seconds: number
}

const mostJobs = 64
/** Characters of a run that are kept, and searched for tests. */
const longestOutput = 4_000_000

/** Returns the exit code of the worst run. */
export async function runAtLevels(given: string, jobs: string | undefined, runAt: RunAt): Promise<number> {
  const levels = new Set(given.split(',').map(text => givenLevel(text.trim(), '--levels')))
  return new LevelRuns([...levels], readCount('jobs', jobs ?? 1, mostJobs), runAt).run()
}

class LevelRuns {
  readonly #waiting: number[]
  readonly #atATime: number
  readonly #runAt: RunAt
  readonly #ended: LevelRun[] = []
  readonly #children = new Set<ChildProcess>()
  /** Until the run that printed its output last has ended. */
  #printing: Promise<void> = Promise.resolve()
  #interrupted: NodeJS.Signals | undefined

  constructor(levels: readonly number[], atATime: number, runAt: RunAt) {
    this.#waiting = [...levels]
    this.#atATime = Math.min(atATime, levels.length)
    this.#runAt = runAt
  }

  async run(): Promise<number> {
    this.#listen()
    const workers = await Promise.allSettled(Array.from({ length: this.#atATime }, () => this.#work()))
    const failed = workers.find(worker => worker.status === 'rejected')
    if (failed) throw failed.reason
    report(this.#ended.sort((a, b) => a.level - b.level))
    if (this.#interrupted) return 128 + constants.signals[this.#interrupted]
    return Math.max(...this.#ended.map(({ code }) => code))
  }

  /** A signal ends the commands that run, and no others begin; their daemons stop as after any run. */
  #listen(): void {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.removeAllListeners(signal)
      process.on(signal, () => {
        this.#interrupted = signal
        this.#waiting.length = 0
        // The terminal sends Ctrl-C to the commands directly.
        if (signal !== 'SIGINT' || !process.stdin.isTTY) for (const child of this.#children) child.kill(signal)
      })
    }
  }

  async #work(): Promise<void> {
    for (let level = this.#waiting.shift(); level !== undefined; level = this.#waiting.shift())
      try {
        await this.#runOne(level)
      } catch (error) {
        // An error that prevents one run prevents the others too.
        this.#waiting.length = 0
        throw error
      }
  }

  async #runOne(level: number): Promise<void> {
    const began = performance.now()
    // Runs at the same time would mix their lines, so each is printed when its command has ended.
    const isAlone = this.#atATime === 1
    let output = ''
    let seconds = 0
    let endTurn = () => {}
    if (isAlone) printError(`--- level ${level}\n`)
    try {
      const code = await this.#runAt(String(level), async (command, env) => {
        const code = await this.#runPiped(command, env, text => {
          output = (output + text).slice(-longestOutput)
          if (isAlone) printError(text)
        })
        seconds = (performance.now() - began) / 1000
        if (isAlone) return code
        // What is said about the failure follows the output of its run, so the next run waits until this one has ended.
        const earlier = this.#printing
        this.#printing = new Promise(resolve => {
          endTurn = resolve
        })
        await earlier
        printError(`--- level ${level}\n${output}`)
        return code
      })
      this.#ended.push({ level, code, output, seconds })
    } finally {
      endTurn()
    }
  }

  #runPiped(
    [program, ...args]: readonly string[],
    env: NodeJS.ProcessEnv,
    take: (text: string) => void,
  ): Promise<number> {
    if (this.#interrupted) return Promise.resolve(128 + constants.signals[this.#interrupted])
    return new Promise((resolve, reject) => {
      const stdin = this.#atATime === 1 ? 'inherit' : 'ignore'
      const child = spawn(program!, args, { stdio: [stdin, 'pipe', 'pipe'], env })
      this.#children.add(child)
      for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding('utf8').on('data', take)
      child.once('error', error => reject(cannotRun(program!, error)))
      child.once('close', (code, signal) => {
        this.#children.delete(child)
        resolve(exitCodeOf(code, signal))
      })
    })
  }
}

function report(runs: readonly LevelRun[]): void {
  if (runs.length === 0) return
  const failures = runs.map(({ output }) => failuresIn(output))
  const rows = runs.map(({ level, code, seconds }, at) => ({
    level: String(level),
    version: versionAt(level),
    exit: String(code),
    // Output in which no test is found says nothing about how many failed.
    failed: code !== 0 && failures[at]!.count === 0 ? '-' : String(failures[at]!.count),
    seconds: seconds.toFixed(1),
  }))
  print(`${tableLines(rows, String, { columns: undefined, colors: undefined }).join('\n')}\n`)
  const names = new Set(failures.flatMap(({ names }) => [...names]))
  const levelsWhere = (name: string, fails: boolean) =>
    runs.flatMap(({ level }, at) => (failures[at]!.names.has(name) === fails ? [level] : [])).join(', ')
  const different = [...names].find(name => levelsWhere(name, false) !== '')
  if (different === undefined) return
  print(
    `First test that differs: ${different} fails at ${levelsWhere(different, true)}, not at ${levelsWhere(different, false)}.\n`,
  )
}
