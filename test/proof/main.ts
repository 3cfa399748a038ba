// Runs campaigns: `npm run prove` lists them, `npm run prove -- http` runs one in its long form, `-- all` runs them all.
// `--minutes N` ends each after so long, `--count N` after so many, `--short` takes the count of the test run, and
// `--seed N` repeats one. Every run adds itself to the record, docs/generated/proof.json, and its page.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { thisMachine } from '../support/machine.ts'
import { type Campaign, randomSeed } from './campaign.ts'
import { attempt, type Outcome } from './runner/attempt.ts'
import { loadCampaigns } from './runner/program.ts'
import { ProgressBar } from './runner/progress-bar.ts'
import { addToRecord } from './runner/record.ts'
import type { Report } from './runner/report.ts'

const root = join(import.meta.dirname, '../..')
const { values, positionals } = readArguments()

/** One file beside this one for each. */
const names = readdirSync(import.meta.dirname)
  .filter(file => file.endsWith('.ts') && !file.endsWith('.test.ts') && !['main.ts', 'campaign.ts'].includes(file))
  .map(file => file.slice(0, -'.ts'.length))
  .sort()

const minutes = positive('minutes')
const count = positive('count')
const givenSeed = positive('seed')
const unknown = positionals.find(name => !['all', 'list', ...names].includes(name))
if (unknown !== undefined) misused(`There is no campaign "${unknown}". Choose from: all, ${names.join(', ')}.`)

const interrupt = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt.abort())

if (positionals.length === 0 || positionals.includes('list')) await list()
else await proveAll(positionals.includes('all') ? names : positionals)

async function list(): Promise<void> {
  for (const [at, { about, unavailable }] of (await loadCampaigns(names.map(fileOf))).entries())
    console.log(`${names[at]!.padEnd(10)} ${about}${unavailable ? ` (not on this machine: ${unavailable})` : ''}`)
}

async function proveAll(chosen: readonly string[]): Promise<void> {
  const tally = { passed: 0, failed: 0, interrupted: 0, skipped: 0 }
  for (const [at, campaign] of (await loadCampaigns(chosen.map(fileOf))).entries()) {
    if (interrupt.signal.aborted) break
    tally[await prove(chosen[at]!, campaign)]++
  }
  const parts = Object.entries(tally).filter(([, number]) => number > 0)
  if (chosen.length > 1) console.log(parts.map(([outcome, number]) => `${number} ${outcome}`).join(', '))
  process.exitCode = tally.failed > 0 ? 1 : interrupt.signal.aborted ? 130 : 0
}

async function prove(name: string, campaign: Campaign): Promise<'skipped' | Outcome['outcome']> {
  const { about, unit, long, short, unavailable } = campaign
  const seed = givenSeed ?? randomSeed()
  const wanted = count ?? (values.short ? short : long)
  if (unavailable !== undefined || wanted === 0) {
    console.log(`${name}: skipped; ${unavailable ?? 'it has no short form'}`)
    return 'skipped'
  }
  const begin = performance.now()
  const bar = new ProgressBar(name, unit, wanted, minutes)
  const hear = (report: Report) => bar.hear(report)
  const order = { file: fileOf(name), count: wanted, seed, minutes }
  const result = await attempt(order, interrupt.signal, hear)
  bar.end()
  const seconds = Number(((performance.now() - begin) / 1000).toFixed(1))
  print(name, unit, seed, seconds, result)
  const { outcome, done, summary, skipped } = result
  if (outcome !== 'interrupted' || done > 0) {
    const command = `npm run prove -- ${[name, ...process.argv.slice(2).filter(isOption)].join(' ')}`
    const date = new Date().toISOString()
    // A stack names files of the tree, wherever the tree is.
    const found = summary.replaceAll(`${root}/`, '')
    const run = { date, machine: thisMachine(), command, seed, done, seconds, outcome, summary: found, skipped }
    addToRecord(values.record, name, { about, unit, run })
  }
  return outcome
}

function print(name: string, unit: string, seed: number, seconds: number, result: Outcome): void {
  const { outcome, done, summary, skipped, again } = result
  console.log(`${name}: ${outcome}, ${done} ${unit} in ${seconds} s, seed ${seed}${summary && `; ${summary}`}`)
  for (const part of skipped) console.log(`${name}: skipped: ${part}`)
  if (again !== undefined) console.log(`Repeat: npm run prove -- ${name} ${again}`)
}

/** The record itself is not part of what was tried. */
function isOption(argument: string, index: number, all: readonly string[]): boolean {
  const [here, before] = [argument, all[index - 1]]
  if (here.startsWith('--record') || before === '--record') return false
  return here.startsWith('--') || (before?.startsWith('--') === true && before !== '--short' && !before.includes('='))
}

function fileOf(name: string): string {
  return join(import.meta.dirname, `${name}.ts`)
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        minutes: { type: 'string' },
        count: { type: 'string' },
        seed: { type: 'string' },
        short: { type: 'boolean', default: false },
        record: { type: 'string', default: join(root, 'docs/generated/proof.json') },
      },
      allowPositionals: true,
    })
  } catch (error) {
    return misused((error as Error).message)
  }
}

function positive(name: 'minutes' | 'count' | 'seed'): number | undefined {
  const text = values[name]
  if (text === undefined) return undefined
  const number = Number(text)
  const isFit = name === 'minutes' ? Number.isFinite(number) : Number.isSafeInteger(number)
  if (!isFit || number < 0 || (number === 0 && name !== 'seed'))
    misused(`--${name} must be a positive number, not "${text}".`)
  return number
}

function misused(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}
