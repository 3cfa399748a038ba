// Keeps the report on a failed test in a folder: by a call, after every test that failed in node:test, vitest or jest, or
// in node:test by the environment alone.

import { lstatSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { inspect } from 'node:util'
import type { ControlPlane } from '../control/control-plane.ts'
import { makeReport } from '../control/report.ts'
import type { Content } from '../local/atomic-file.ts'
import { type FailureReport, failureFiles, resumeCommand } from '../local/failure-files.ts'
import { keptRun, writeFailure } from '../local/failure-folder.ts'

interface Why {
  /** The name of the test. */
  readonly test?: string
  /** The file of the test, where its runner tells. */
  readonly file?: string | undefined
  readonly error?: unknown
}

export async function keepWorld(control: ControlPlane, folder: string, why?: Why): Promise<void> {
  await keepReport(await makeReport(control), control.snapshots.write('now'), folder, why)
}

export async function keepReport(
  report: FailureReport & { readonly version: string },
  snapshot: Content,
  folder: string,
  { test, file, error }: Why = {},
): Promise<void> {
  // An error of another realm, or one that vitest has serialized, is no instance of Error here.
  const { stack } = Object(error)
  const said = error === undefined ? {} : { error: typeof stack === 'string' ? stack : inspect(error) }
  const run = { version: report.version, what: test ?? 'A test', ...(file !== undefined && { file }), ...said }
  await writeFailure(folder, failureFiles(run, report), snapshot)
}

export interface KeepOptions {
  /** Each test that fails gets a folder of its own in it. Without it: NATTER_ON_FAILURE; nothing is kept without either. */
  readonly folder?: string
  /** That of the test runner: `import { afterEach } from 'node:test'`, or of vitest, or the global one of jest. */
  readonly afterEach: (hook: () => Promise<void>) => unknown
}

interface FailedTest extends Why {
  readonly test: string
}

interface Kept {
  keep(folder: string, why?: Why): Promise<void>
}

/** What `startNatter` and `space` have returned and nothing has stopped yet. */
const running = new Set<Kept>()
// Shared by all worlds: whether the tests of this process call `keepOnFailure`, and so choose what is kept.
let isChosen = false

export function addRunning(natter: Kept): void {
  running.add(natter)
}

export function removeRunning(natter: Kept): void {
  running.delete(natter)
}

/**
 * Keeps what explains a failure after every test that fails. `natter` may be a function, for a daemon that is started
 * later or again for every test.
 */
export function keepOnFailure(
  natter: Kept | (() => Kept | undefined),
  { folder = process.env.NATTER_ON_FAILURE, afterEach }: KeepOptions,
): void {
  isChosen = true
  if (folder) afterEach(keeper(folder, () => [typeof natter === 'function' ? natter() : natter]))
}

/**
 * With NATTER_ON_FAILURE, tests of node:test need not call `keepOnFailure`: everything that runs when one fails is kept. Only where
 * node:test is loaded already, because loading it would make a test run of any other process.
 */
export function keepInNodeTest(): void {
  const folder = process.env.NATTER_ON_FAILURE
  const { moduleLoadList } = process as { moduleLoadList?: readonly string[] }
  if (!folder || !moduleLoadList?.includes('NativeModule test')) return
  process.getBuiltinModule('node:test').afterEach(keeper(folder, () => (isChosen ? [] : [...running])))
}

function keeper(folder: string, started: () => readonly (Kept | undefined)[]) {
  // Without a parameter: jest takes one for a callback and would wait for it.
  return async (...given: unknown[]): Promise<void> => {
    const failed = failureIn(given[0])
    if (!failed) return
    const place = join(folder, fileName(failed.test))
    for (const natter of started()) {
      if (!natter) continue
      const path = await claimFolder(place, failed.file)
      await natter.keep(path, failed)
      process.stderr.write(`natter: "${failed.test}" failed; see ${path}, or run ${resumeCommand(path)}\n`)
    }
  }
}

/** Folders that this process has written. */
const claimed = new Set<string>()

/** Tests of one name, in one file or in several, get numbers. What the same test kept in an earlier run is replaced. */
async function claimFolder(place: string, file: string | undefined): Promise<string> {
  await mkdir(dirname(place), { recursive: true })
  for (let number = 1; ; number++) {
    const path = number === 1 ? place : `${place}-${number}`
    if (claimed.has(path) || !((await isNew(path)) || isKeptOf(path, file))) continue
    claimed.add(path)
    return path
  }
}

/** Makes the folder, so that of several processes one gets it. */
async function isNew(folder: string): Promise<boolean> {
  try {
    await mkdir(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function isKeptOf(folder: string, file: string | undefined): boolean {
  const run = keptRun(folder)
  // A link leads to what was kept elsewhere.
  return run !== undefined && run.file === file && lstatSync(folder).isDirectory()
}

/** The test that just ended, if it failed. Every runner says it in another way. */
function failureIn(context: any): FailedTest | undefined {
  // vitest
  const { task } = Object(context)
  if (task) {
    const isFailed = task.result?.state === 'fail'
    if (!isFailed) return undefined
    return { test: listNames(task).join(' > '), file: task.file?.filepath, error: task.result.errors?.[0] }
  }
  // node:test
  if (context && 'error' in context) {
    if (!context.error) return undefined
    const file = context.filePath ?? process.argv[1]
    return { test: context.fullName ?? context.name, file, error: causeOf(context.error) }
  }
  return failureInJest()
}

function listNames(task: any): string[] {
  return task ? [...listNames(task.suite), ...(task.name ? [task.name] : [])] : []
}

function causeOf(error: any): unknown {
  return error?.code === 'ERR_TEST_FAILURE' ? (error.cause ?? error) : error
}

/** jest tells its hooks nothing; its runner keeps the test that runs in a symbol of the global object. */
function failureInJest(): FailedTest | undefined {
  const symbol = Object.getOwnPropertySymbols(globalThis).find(({ description }) => description === 'JEST_STATE_SYMBOL')
  const test = symbol && (globalThis as any)[symbol]?.currentlyRunningTest
  if (!test || test.errors.length === 0) return undefined
  const names: string[] = []
  for (let part = test; part && part.name !== 'ROOT_DESCRIBE_BLOCK'; part = part.parent) names.unshift(part.name)
  const [first] = test.errors
  const file = (globalThis as any).expect?.getState?.().testPath
  return { test: names.join(' > '), file, error: Array.isArray(first) ? (first[0] ?? first[1]) : first }
}

/** Letters and digits of any script; the rest could mean something to a file system. */
function fileName(test: string): string {
  return (
    test
      .replace(/[^\p{L}\p{N}]+/gu, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 100) || 'test'
  )
}
