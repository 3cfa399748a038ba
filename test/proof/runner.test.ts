// The runner of campaigns: what it lists, refuses, records and leaves behind.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { proofPage, readProof } from '../../docs/generate/proof.ts'
import { until } from '../support/until.ts'
import { attempt } from './runner/attempt.ts'
import { bundle, type Program } from './runner/program.ts'
import { addToRecord } from './runner/record.ts'
import type { Report } from './runner/report.ts'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'natter-runner-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Bundled once: compiling it at each start takes more than a second of processor time. */
let prove: Program
before(async () => {
  prove = await bundle("import '../main.ts'")
})
after(() => prove.remove())

function start(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [prove.file, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  const exit = new Promise<number | null>(resolve => child.once('close', resolve))
  return { child, exit, stdout: text(child.stdout!), stderr: text(child.stderr!) }
}

describe('npm run prove', () => {
  test('lists every campaign, and runs none', async () => {
    const { exit, stdout } = start([])
    const lines = (await stdout).split('\n').map(line => line.split(' ')[0])
    assert.equal(await exit, 0)
    for (const name of ['clients', 'cluster', 'crash', 'fuzz', 'http', 'hybrid', 'isolation', 'stop'])
      assert.ok(lines.includes(name), name)
  })

  test('refuses an unknown campaign and a wrong number by name', async () => {
    const wrong = [
      [['crush'], /There is no campaign "crush"\. Choose from: all, /],
      [['crash', '--minutes', 'ten'], /--minutes must be a positive number, not "ten"\./],
    ] as const
    for (const [args, message] of wrong) {
      const { exit, stderr } = start(args)
      assert.match(await stderr, message)
      assert.equal(await exit, 2)
    }
  })

  test('Ctrl-C leaves no process and no folder, and prints and records what was done', async () => {
    const temporary = join(folder, 'interrupted')
    const record = join(folder, 'proof.json')
    mkdirSync(temporary)
    // So many kills are made on one store. With more, several are begun at once.
    const { child, exit, stdout } = start(['crash', '--count', '25', '--record', record], { TMPDIR: temporary })
    let notes = ''
    child.stderr!.on('data', chunk => {
      notes += chunk
    })
    await until(() => /kill \d+ of/.test(notes), 120)
    child.kill('SIGINT')
    assert.match(await stdout, /^crash: interrupted, [1-9]\d* kills in /)
    assert.equal(await exit, 130)
    assert.deepEqual(readdirSync(temporary), [])
    assert.deepEqual(commandsWith(temporary), [])
    const run = readProof(record).crash!.runs[0]!
    assert.equal(run.outcome, 'interrupted')
    assert.equal(run.command, 'npm run prove -- crash --count 25')
    assert.match(readFileSync(join(folder, 'proof.md'), 'utf8'), /\| \[crash\]\(#crash\) \| \d+ kills \| 1 \| 0 \|/)
  })
})

/** Processes that name the folder in their command. */
function commandsWith(folder: string): string[] {
  if (!existsSync('/proc/self/cmdline')) return []
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')]
      } catch {
        return []
      }
    })
    .filter(command => command.includes(folder))
}

describe('an attempt', () => {
  test('that fails says how to repeat it, and leaves no process, disk or folder', async () => {
    const heard: Report[] = []
    const file = join(root, 'test/fixtures/failing-campaign.ts')
    const order = { file, count: 3, seed: 40 }
    const outcome = await attempt(order, new AbortController().signal, report => heard.push(report))
    const expected = { outcome: 'failed', done: 2, summary: 'the third step is wrong', skipped: [] }
    assert.deepEqual(outcome, { ...expected, again: '--seed 42 --count 7' })
    const note = heard.find(report => report.kind === 'note')!
    const [pid, temporary] = note.text.split(' ')
    await until(() => !isAlive(Number(pid)))
    assert.match(temporary!, /natter-prove-/)
    assert.equal(existsSync(temporary!), false)
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('the record', () => {
  test('adds up all runs, keeps the newest ten, and prints them', () => {
    const file = join(folder, 'record.json')
    const run = { date: '2030-01-02T03:04:05Z', machine: 'a machine', command: 'npm run prove -- x', seconds: 60 }
    for (let seed = 1; seed <= 12; seed++) {
      const outcome = seed === 12 ? ('failed' as const) : ('passed' as const)
      const skipped = seed === 11 ? ['the Python client: python3 has no package zulip'] : []
      const entry = { ...run, seed, done: 1000, outcome, summary: 'nothing lost\nand more', skipped }
      addToRecord(file, 'x', { about: 'tries x', unit: 'steps', run: entry })
    }
    const { total, runs } = readProof(file).x!
    assert.deepEqual(total, { runs: 12, done: 12_000, seconds: 720, failed: 1 })
    assert.deepEqual(
      runs.map(({ seed }) => seed),
      [12, 11, 10, 9, 8, 7, 6, 5, 4, 3],
    )
    const page = readFileSync(join(folder, 'record.md'), 'utf8')
    assert.equal(page, proofPage(readProof(file)))
    assert.match(page, /\| \[x\]\(#x\) \| 12,000 steps \| 12 \| 1 \| 12 min \| failed, 2030-01-02 \|/)
    assert.match(page, /passed: nothing lost; skipped 1: the Python client: python3 has no package zulip \|/)
  })
})
