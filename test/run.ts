// Runs the tests with node's runner: first everything, then test/after/, whose laws check the whole run. `npm run check` runs
// beside them.
// Words select files: `tsx test/run.ts events http` runs the files whose paths contain one of them, without test/after/ and
// the check.
// A file that fails in a whole run is run once more, alone: docs/decisions/0068.
// With NATTER_COVERAGE=1 the coverage of the run is reported, and a whole run must reach the floor.

import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { bundleTests, hostBundle, removeBundles } from './bundle.ts'
import { startCoverage } from './coverage.ts'
import { quickFolder } from './support/quick-folder.ts'

const root = join(import.meta.dirname, '..')
const words = process.argv.slice(2)
// Also the folder for temporary files of all tests, so that nothing is left where one was killed.
const scratch = mkdtempSync(join(quickFolder(), 'natter-run-'))
// For daemons that run as another user.
chmodSync(scratch, 0o711)
const calls = join(scratch, 'calls')
const coverage = startCoverage(root)
// For tsc, esbuild and etcd, which are programs in Go: memory is cheaper than collecting garbage.
process.env.GOGC ??= '400'
// Node reads these certificates at every start, which takes twice as long as the rest of it. No test calls another machine.
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env
// Hundreds of accounts are made in a run. Tests that need the usual cost give it by its flag.
const environment = {
  ...inherited,
  NODE_OPTIONS: `${inherited.NODE_OPTIONS ?? ''} --require ${JSON.stringify(join(root, 'test/support/quick-wasm.cjs'))}`,
  NATTER_PASSWORD_COST: '1024',
  NATTER_TEST_HOST: join(root, hostBundle),
  TMPDIR: scratch,
}
const tallies = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo', 'duration_ms'] as const
const total = new Map<string, number>(tallies.map(name => [name, 0]))

/** Where the tests are that failed, as node names them. */
const failures = new Set<string>()
/** More files than this do not fail by chance. */
const mostRunAgain = 3

writeFileSync(calls, '')
removeBundles(root)
const check = words.length === 0 ? startCheck() : undefined
const all = testFiles()
const first = all.filter(file => !isAfter(file) && (words.length === 0 || words.some(word => file.includes(word))))
let failed = !(await run(first)) && !(await passAlone())
if (words.length === 0) failed = !(await run(all.filter(isAfter))) || failed
rmSync(scratch, { recursive: true, force: true })
const checked = await check
if (checked !== undefined) {
  process.stdout.write(`${checked.passed ? '✔' : '✖'} npm run check\n${checked.output}`)
  if (!checked.passed) failed = true
}
const covered = (await coverage?.report()) ?? true
// A few files cannot reach a floor that is meant for all of them.
if (words.length === 0 && !covered) failed = true

if (total.get('tests') === 0) {
  failed = true
  process.stdout.write('✖ no test ran\n')
}
for (const [name, count] of total) process.stdout.write(`ℹ ${name} ${count}\n`)
process.exitCode = failed ? 1 : 0

function testFiles(): string[] {
  return (readdirSync(join(root, 'test'), { recursive: true }) as string[])
    .filter(file => file.endsWith('.test.ts'))
    .map(file => join('test', file))
    .sort()
}

/** Lint and types. One core of two would wait for much of the time if they ran before the tests. */
async function startCheck(): Promise<{ readonly passed: boolean; readonly output: string }> {
  const child = spawn('npm run --silent check', { cwd: root, shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => output.push(chunk))
  const code = await new Promise<number | null>(resolve => child.once('close', resolve))
  return { passed: code === 0, output: Buffer.concat(output).toString() }
}

function isAfter(file: string): boolean {
  return file.startsWith(join('test', 'after'))
}

/** Runs the files that failed once more, one at a time. Their tests count once. */
async function passAlone(): Promise<boolean> {
  const again = [...failures].filter(file => all.includes(file))
  const isChance = again.length === failures.size && again.length > 0 && again.length <= mostRunAgain
  if (words.length > 0 || coverage || !isChance) return false
  process.stdout.write(`Once more, alone: ${again.join(', ')}\n`)
  const counted = new Map(total)
  const passed = await run(again, 1)
  for (const [name, count] of counted) total.set(name, count)
  if (!passed) return false
  process.stdout.write(`⚠ failed beside the other tests and passed alone: ${again.join(', ')}\n`)
  for (const name of ['fail', 'cancelled']) {
    total.set('pass', total.get('pass')! + total.get(name)!)
    total.set(name, 0)
  }
  return true
}

/** Passes on what node prints, except its summary: there is one for the whole at the end. */
async function run(files: readonly string[], concurrency = availableParallelism() + 4): Promise<boolean> {
  if (files.length === 0) return false
  // Only against a process that hangs: a busy machine takes minutes for the longest, and coverage makes it slower still.
  const timeout = coverage ? 3_600_000 : 1_800_000
  const options = [
    '--enable-source-maps',
    // Random histories make much garbage that is gone at once.
    '--max-semi-space-size=32',
    '--test',
    // By default more than the processors: some tests wait most of the time.
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${timeout}`,
    '--test-reporter=spec',
  ]
  const child = spawn(process.execPath, [...options, ...(await bundleTests(root, files))], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...environment, ...coverage?.env, NATTER_TEST_CALLS: calls },
  })
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  for await (const line of createInterface({ input: child.stdout })) {
    const [, failing] = /^test at (.+):\d+:\d+$/.exec(line) ?? []
    // A file that took too long also fails as a suite of its bundle.
    if (failing !== undefined && !failing.startsWith('group:')) failures.add(failing)
    const [, name, count] = /^ℹ (\w+) ([\d.]+)$/.exec(line) ?? []
    if (name !== undefined && total.has(name)) total.set(name, total.get(name)! + Number(count))
    else process.stdout.write(`${line}\n`)
  }
  return (await ended) === 0
}
