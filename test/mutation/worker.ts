// A process that tries mutants one after the other: it switches one on, loads the test files again and runs the tests that
// come past it. Without a mutant it notes which test comes past which mutants.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { Script } from 'node:vm'
import type * as Runner from './runner.ts'

export interface Task {
  /** Undefined to run everything as it is. */
  readonly mutant: string | undefined
  /** How often the switch may be asked: more is an endless loop. */
  readonly hitLimit: number
  readonly plan: readonly Plan[]
}

export interface Plan {
  readonly bundle: string
  /** By number, with what each may take in milliseconds; undefined for all tests. */
  readonly tests: Readonly<Record<number, number>> | undefined
}

export interface Outcome {
  readonly status: 'killed' | 'late' | 'survived'
  readonly message: string
  /** Whether it was thrown outside of a test, as by work that goes on after it. */
  readonly isStray?: boolean
  /** How often each mutant was come past by each test, and how long the tests took, in milliseconds. */
  readonly seen: Seen
}

export interface Seen {
  /** While a file was loaded, or in hooks. */
  readonly static: Readonly<Record<string, number>>
  readonly perTest: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly took: Readonly<Record<string, number>>
}

/** What instrumented code reads and writes. */
interface Switches {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  mutantCoverage?: { static: Record<string, number>; perTest: Record<string, Record<string, number>> }
  hitCount?: number
  hitLimit?: number
}

const globals = globalThis as { __stryker__?: Switches }
globals.__stryker__ = {}
const switches = globals.__stryker__
const scripts = new Map<string, Script>()

process.on('message', async (task: Task) => {
  process.send!(await attempt(task), () => {})
})
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error: unknown) => {
    const outcome: Outcome = { status: 'killed', message: String(error), isStray: true, seen: nothing }
    process.send!(outcome, () => process.exit(1))
  })

const nothing: Seen = { static: {}, perTest: {}, took: {} }

async function attempt({ mutant, hitLimit, plan }: Task): Promise<Outcome> {
  const took: Record<string, number> = {}
  switches.activeMutant = mutant
  switches.hitCount = 0
  switches.hitLimit = hitLimit
  switches.mutantCoverage ??= { static: {}, perTest: {} }
  Object.assign(switches.mutantCoverage, { static: {}, perTest: {} })
  let late: (error: unknown) => boolean = () => false
  let began = 0
  try {
    for (const { bundle, tests } of plan) {
      switches.currentTestId = undefined
      const { run, TooLate } = load(bundle)
      late = error => error instanceof TooLate
      const wanted: Runner.Wanted = {
        isWanted: number => tests === undefined || number in tests,
        limitOf: number => tests?.[number] ?? 600_000,
        onTest(number) {
          if (number === undefined) took[switches.currentTestId!] = Date.now() - began
          began = Date.now()
          switches.currentTestId = number === undefined ? undefined : String(number)
        },
      }
      await run(wanted)
    }
    return { status: 'survived', message: '', seen: { ...switches.mutantCoverage, took } }
  } catch (error) {
    return { status: late(error) ? 'late' : 'killed', message: String(error).slice(0, 500), seen: nothing }
  } finally {
    switches.activeMutant = undefined
  }
}

/** Compiled once, evaluated again for each try: what is computed while a file is loaded can be a mutant too. */
function load(bundle: string): typeof Runner {
  const wrapped = () =>
    `(function (exports, require, module, __filename, __dirname) {${readFileSync(bundle, 'utf8')}\n})`
  const script = scripts.get(bundle) ?? new Script(wrapped(), { filename: bundle })
  scripts.set(bundle, script)
  const module = { exports: {} as typeof Runner }
  script.runInThisContext()(module.exports, createRequire(bundle), module, bundle, dirname(bundle))
  return module.exports
}
