// `natter exec --levels`: the same command at several feature levels, a table of how each run ended, and the first test that
// ended differently.

import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { versionAt } from '../../../daemon/api/levels/releases.ts'
import { exitCodes, Failure, usage } from '../../base/failure.ts'
import { givenLevel } from '../../base/levels.ts'
import { print, printError } from '../../base/writer.ts'
import { tableLines } from '../../terminal/table.ts'
import { outcomesIn } from './test-outcomes.ts'

type RunCommand = (command: readonly string[], env: NodeJS.ProcessEnv) => Promise<number>

interface LevelRun {
  readonly level: number
  readonly code: number
  readonly output: string
  readonly seconds: number
}

const mostJobs = 64

/** Returns the exit code of the worst run. */
export async function runAtLevels(
  given: string,
  jobs: string | undefined,
  runAt: (level: string, run: RunCommand) => Promise<number>,
): Promise<number> {
  const levels = [...new Set(given.split(',').map(text => givenLevel(text.trim(), '--levels')))]
  const atATime = jobs === undefined ? 1 : Number(jobs)
  if (!Number.isInteger(atATime) || atATime < 1 || atATime > mostJobs)
    throw usage(`--jobs takes a number from 1 to ${mostJobs}, not "${jobs}"`)
  const runs: LevelRun[] = []
  const waiting = [...levels]
  const work = async () => {
    for (let level = waiting.shift(); level !== undefined; level = waiting.shift()) {
      const run = await runOne(level, atATime === 1, runAt)
      runs.push(run)
      if (atATime > 1) printError(`--- level ${level}\n${run.output}`)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atATime, levels.length) }, work))
  runs.sort((a, b) => a.level - b.level)
  report(runs)
  return Math.max(...runs.map(({ code }) => code))
}

async function runOne(
  level: number,
  shown: boolean,
  runAt: (level: string, run: RunCommand) => Promise<number>,
): Promise<LevelRun> {
  const began = performance.now()
  let output = ''
  if (shown) printError(`--- level ${level}\n`)
  const code = await runAt(String(level), (command, env) =>
    runPiped(command, env, text => {
      output = (output + text).slice(-longestOutput)
      if (shown) printError(text)
    }),
  )
  return { level, code, output, seconds: (performance.now() - began) / 1000 }
}

/** Characters of a run that are kept, and searched for tests. */
const longestOutput = 4_000_000

function report(runs: readonly LevelRun[]): void {
  const outcomes = runs.map(({ output }) => outcomesIn(output))
  const rows = runs.map(({ level, code, seconds }, index) => ({
    level: String(level),
    version: versionAt(level),
    exit: String(code),
    passed: String([...outcomes[index]!.values()].filter(passed => passed).length),
    failed: String([...outcomes[index]!.values()].filter(passed => !passed).length),
    seconds: seconds.toFixed(1),
  }))
  print(`${tableLines(rows, String, { columns: undefined, colors: undefined }).join('\n')}\n`)
  const names = new Set(outcomes.flatMap(found => [...found.keys()]))
  const different = [...names].find(name => new Set(outcomes.map(found => found.get(name))).size > 1)
  if (different === undefined) return
  const ended = runs.map(({ level }, index) => `${level} ${wordFor(outcomes[index]!.get(different))}`)
  print(`First test that differs: ${different} (${ended.join(', ')})\n`)
}

function wordFor(passed: boolean | undefined): string {
  return passed === undefined ? 'not run' : passed ? 'passed' : 'failed'
}

/** Colors are for a terminal, and the tests are found in plain text. */
function runPiped(
  [program, ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  take: (text: string) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(program!, args, { stdio: ['inherit', 'pipe', 'pipe'], env })
    const end = () => void child.kill('SIGTERM')
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end)
    for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding('utf8').on('data', take)
    child.once('error', (error: NodeJS.ErrnoException) => {
      const missing = error.code === 'ENOENT'
      const exit = missing ? exitCodes.noSuchCommand : exitCodes.cannotRun
      reject(new Failure(exit, `cannot run ${program}: ${missing ? 'there is no such command' : error.code}`))
    })
    child.once('close', (code, signal) => {
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.removeListener(name, end)
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0))
    })
  })
}
