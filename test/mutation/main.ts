// `npx tsx test/mutation/main.ts`: changes the rules and the journal in one small place at a time, and runs the tests that come past it.
// `npx tsx test/mutation/main.ts WORD…` tries the files whose paths contain a word; `--quick` asks only the first group of tests of a
// target, `--survivors` tries only mutants that have survived so far. Every run adds itself to docs/generated/mutation.json.

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { type MutatedFile, nameOf, readMutation } from '../../docs/generate/mutation.ts'
import { thisMachine } from '../support/machine.ts'
import { bundleMutants } from './bundle.ts'
import { hasInstrumenter, installation, instrument, type Mutant } from './instrument.ts'
import { type Job, runJobs } from './pool.ts'
import { sourcesOf, type Target, targets } from './targets.ts'
import type { Outcome, Plan, Seen } from './worker.ts'

const root = join(import.meta.dirname, '../..')
const record = join(root, 'docs/generated/mutation.json')
const args = process.argv.slice(2)
const isQuick = args.includes('--quick')
const onlySurvivors = args.includes('--survivors')
const words = args.filter(arg => !arg.startsWith('-'))

/** Of a whole test, in milliseconds, beside ten times what it took without a mutant. */
const leastLimit = 5_000
/** What takes longer, in milliseconds, runs after all that is quicker. */
const slow = 100

if (!hasInstrumenter()) {
  process.stderr.write(`The instrumenter is missing. Install it: ${installation}\n`)
  process.exit(2)
}

for (const target of targets) {
  const wanted = sourcesOf(root, target).filter(file => words.length === 0 || words.some(word => file.includes(word)))
  if (wanted.length > 0) await mutate(wanted, target)
}
process.exitCode = spawnSync('npm', ['run', '--silent', 'docs'], { cwd: root, stdio: 'inherit' }).status ?? 1

async function mutate(files: readonly string[], { groups }: Target): Promise<void> {
  const { mutants: all, sources } = await instrument(root, files)
  const mutants = onlySurvivors ? all.filter(hasSurvived) : all
  const bundles = await bundleMutants(
    root,
    isQuick ? Object.fromEntries(Object.entries(groups).slice(0, 1)) : groups,
    sources,
  )
  const worker = await bundleWorker()
  process.stdout.write(`${files.join(', ')}: ${mutants.length} mutants\n`)
  const seen = await watchTests(worker, bundles)
  const outcomes = new Map<Mutant, Outcome>()
  const jobs = mutants.map((mutant): Job => {
    const plan = planFor(mutant, bundles, seen)
    const limits = plan.flatMap(({ tests }) => Object.values(tests ?? {}))
    const hits = seen.map(([, each]) => hitsOf(mutant, each)).reduce((a, b) => a + b, 0)
    return {
      task: { mutant: mutant.id, hitLimit: hits * 100 + 10_000, plan },
      // Only for a process that does not answer at all: on a busy machine everything takes long.
      limit: 120_000 + limits.reduce((a, b) => a + b, 0) * 10,
      done(outcome) {
        outcomes.set(mutant, outcome)
        const { file, line, original, replacement } = mutant
        const about = `${file}:${line} ${original.slice(0, 80)} → ${replacement.slice(0, 60)}`
        process.stdout.write(`${outcomes.size}/${mutants.length} ${outcome.status} ${about} ${firstLine(outcome)}\n`)
      },
    }
  })
  await runJobs(worker, jobs)
  keep(files, outcomes)
}

/** As far as the record says. */
function hasSurvived(mutant: Mutant): boolean {
  return readMutation(record)[mutant.file]?.survivors.some(survivor => nameOf(survivor) === nameOf(mutant)) ?? false
}

/** Runs each group of tests once as it is, to learn which test comes past which mutants. */
async function watchTests(worker: string, bundles: ReadonlyMap<string, string>): Promise<[string, Seen][]> {
  const seen: [string, Seen][] = []
  const jobs = [...bundles].map(
    ([group, bundle]): Job => ({
      task: { mutant: undefined, hitLimit: Number.MAX_SAFE_INTEGER, plan: [{ bundle, tests: undefined }] },
      limit: 600_000,
      done({ status, message, seen: noted }) {
        if (status !== 'survived') throw new Error(`the tests of ${group} fail without any mutant: ${message}`)
        seen.push([group, noted])
      },
    }),
  )
  await runJobs(worker, jobs)
  const order = [...bundles.keys()]
  return seen.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
}

/** Only tests that come past the mutant, the quick ones first; all of a group that comes past it while it is loaded. */
function planFor({ id }: Mutant, bundles: ReadonlyMap<string, string>, seen: readonly [string, Seen][]): Plan[] {
  return seen.flatMap(([group, { static: early, perTest, took }]): Plan[] => {
    const numbers = Object.keys(took).filter(number => id in early || id in (perTest[number] ?? {}))
    const limits = (chosen: readonly string[]) =>
      Object.fromEntries(chosen.map(number => [number, leastLimit + took[number]! * 10]))
    const parts = [numbers.filter(number => took[number]! <= slow), numbers.filter(number => took[number]! > slow)]
    return parts.filter(part => part.length > 0).map(part => ({ bundle: bundles.get(group)!, tests: limits(part) }))
  })
}

function hitsOf({ id }: Mutant, { static: early, perTest }: Seen): number {
  return Object.values(perTest).reduce((sum, hits) => sum + (hits[id] ?? 0), early[id] ?? 0)
}

function keep(files: readonly string[], outcomes: ReadonlyMap<Mutant, Outcome>): void {
  const before = readMutation(record)
  const command = ['npx tsx test/mutation/main.ts', ...args].join(' ')
  const origin = { date: new Date().toISOString(), machine: thisMachine(), command }
  const now = files.map((file): [string, MutatedFile] => {
    const own = [...outcomes].filter(([mutant]) => mutant.file === file)
    const count = (status: Outcome['status']) => own.filter(([, outcome]) => outcome.status === status).length
    const survivors = own
      .filter(([, { status }]) => status === 'survived')
      .map(([{ line, within, mutator, original, replacement }]) => ({ line, within, mutator, original, replacement }))
      .sort((a, b) => a.line - b.line)
    const known = onlySurvivors ? before[file] : undefined
    const mutants = known?.mutants ?? own.length
    const late = (known?.late ?? 0) + count('late')
    return [file, { ...origin, mutants, killed: mutants - late - survivors.length, late, survivors }]
  })
  const all = Object.entries({ ...before, ...Object.fromEntries(now) }).sort(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(record, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`)
}

async function bundleWorker(): Promise<string> {
  const outfile = join(root, 'node_modules/.cache/natter-mutation/worker.mjs')
  const entry = join(root, 'test/mutation/worker.ts')
  await build({ entryPoints: [entry], outfile, bundle: true, format: 'esm', platform: 'node', target: 'node20.19' })
  return outfile
}

function firstLine({ message }: Outcome): string {
  return message.split('\n')[0]!.slice(0, 120)
}
