// Every example that `natter … --help` shows is run, each in an organization of its own, founded from the preset dev.

import assert from 'node:assert/strict'
import { execSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { reference } from '../../cli/catalogue/reference.ts'
import { subcommandTable } from '../../cli/command-table.ts'
import { localProfile, profileFrom, profilesText, withProfile } from '../../daemon/local/profiles.ts'
import { runHere } from '../support/cli-in-process.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { bareEnv, type Outcome } from '../support/natter-bundle.ts'
import { openSpace, spaceOf, type TestSpace } from '../support/spaces.ts'
import { before, files, later, meanwhile, notRun, placeholders, typed } from './help-example-needs.ts'

const entries = await reference(subcommandTable)
const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev', '--dev-auth', '--strict'] })

/** What holds for a subcommand, or for all that begin with the same words. */
function needOf<T>(needs: Readonly<Record<string, T>>, line: string): T | undefined {
  const key = Object.keys(needs).find(words => ` ${line} `.includes(` natter ${words} `))
  return key === undefined ? undefined : needs[key]
}

describe('the examples of', () => {
  for (const entry of entries) {
    const lines = entry.examples.filter(line => needOf(notRun, line) === undefined)
    if (lines.length === 0) continue
    test(`natter ${entry.name} work as they are printed`, async () => {
      let reader: Reader | undefined
      try {
        for (const line of lines) {
          // What only reads leaves the organization as it was.
          if (entry.impact !== 'read' || needOf(before, line)) {
            await reader?.leave()
            reader = undefined
          }
          reader ??= await Reader.enter(line)
          await reader.follow(line)
        }
      } finally {
        await reader?.leave()
      }
    })
  }
})

test('six of seven examples are run, and nothing is prepared for lines that there are not', () => {
  const all = entries.flatMap(entry => entry.examples)
  const left = all.filter(line => needOf(notRun, line) !== undefined)
  assert.ok(left.length < all.length / 7, `${left.length} of ${all.length}`)
  for (const needs of [notRun, before, later, meanwhile, typed])
    for (const words of Object.keys(needs))
      assert.ok(
        all.some(line => needOf({ [words]: true }, line)),
        words,
      )
})

/** Spaces have no spaces, so these lines are for the daemon. */
function isOfSpaces(line: string): boolean {
  return line.startsWith('natter spaces ')
}

function mainSpace(): TestSpace {
  return spaceOf({ name: '', accounts: [], ...daemon().ready })
}

/** A user with an account, in a folder with the files that examples name. */
class Reader {
  readonly home = mkdtempSync(join(tmpdir(), 'natter-reader-'))
  readonly #space: TestSpace

  static async enter(line: string): Promise<Reader> {
    const reader = new Reader(isOfSpaces(line) ? mainSpace() : await openSpace(daemon(), needOf(later, line) ?? {}))
    for (const first of needOf(before, line) ?? [])
      if (first.startsWith('natter ')) await reader.follow(first)
      else reader.#sh(first)
    return reader
  }

  constructor(space: TestSpace) {
    this.#space = space
    const { url, token, owner } = space
    const account = { user_id: owner.id, email: owner.email!, api_key: owner.key! }
    const ready = { url, pid: process.pid, owner: account, control_token: token, inspector: url, level: owner.level }
    const made = {
      ...files,
      'ready.json': JSON.stringify(ready),
      'Downloads/zuliprc': `[api]\nemail=${owner.email}\nkey=${owner.key}\nsite=${url}\n`,
      '.config/natter/profiles.json': profilesText(withProfile({ profiles: {} }, localProfile, profileFrom(ready))),
    }
    for (const [name, content] of Object.entries(made)) {
      mkdirSync(dirname(join(this.home, name)), { recursive: true, mode: 0o700 })
      writeFileSync(join(this.home, name), content, { mode: 0o600 })
    }
  }

  async leave(): Promise<void> {
    if (this.#space.url === daemon().url)
      for (const name of ['worker-1', 'copy']) await this.#space.control.try('DELETE', `/spaces/${name}`)
    rmSync(this.home, { recursive: true, force: true })
  }

  async follow(line: string): Promise<void> {
    const { code, stdout, stderr } = await this.#run(await this.#fill(line), line)
    assert.equal(code, 0, `$ ${line}\n${stdout}${stderr}`)
  }

  async #fill(line: string): Promise<string> {
    let text = line
    for (const [placeholder, find] of Object.entries(placeholders))
      if (text.includes(placeholder)) text = text.replaceAll(placeholder, await find(this.#space, this.home))
    return text
  }

  async #run(text: string, line: string): Promise<Outcome> {
    const { earlier, words, from, to } = readLine(text)
    const stdin = from === undefined ? this.#sh(earlier) : readFileSync(join(this.home, from), 'utf8')
    const input = stdin || needOf(typed, line) || ''
    const outcome = await this.#beside(line, this.#natter(words, input))
    // A terminal asks first.
    if (outcome.code === 2 && /\?("|\n)/.test(outcome.stderr)) return this.#natter([...words, '--yes'], input)
    if (to !== undefined) writeFileSync(resolve(this.home, to), outcome.stdout)
    return outcome
  }

  #natter(args: readonly string[], input: string): Promise<Outcome> {
    return runHere(args, { env: { ...bareEnv, HOME: this.home, TZ: 'UTC' }, cwd: this.home, input })
  }

  #sh(command: string): string {
    return command && execSync(command, { cwd: this.home, encoding: 'utf8' })
  }

  /** While it runs, what it waits for happens again and again. */
  async #beside(line: string, run: Promise<Outcome>): Promise<Outcome> {
    const happens = needOf(meanwhile, line)
    let ended = !happens
    const outcome = run.finally(() => {
      ended = true
    })
    while (!ended) {
      await happens!(this.#space)
      await sleep(20)
    }
    return outcome
  }
}

interface Line {
  /** Programs whose output is piped into natter. */
  readonly earlier: string
  /** After `natter`. */
  readonly words: readonly string[]
  readonly from?: string
  readonly to?: string
}

/** As much of a shell as examples need; programs that read natter's output are left out. */
function readLine(text: string): Line {
  const line = /[$<]\((natter [^)]*)\)/.exec(text)?.[1] ?? text
  const stages = line.match(/(?:'[^']*'|"(?:\\.|[^"\\])*"|[^'"|])+/g)!.map(stage => stage.trim())
  const at = stages.findIndex(stage => /^natter\b/.test(stage))
  const words = [...stages[at]!.matchAll(/(?:'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"])+/g)].map(([word]) => word)
  const arrow = words.findIndex(word => word === '<' || word === '>')
  const redirection = arrow < 0 ? {} : { [words[arrow] === '<' ? 'from' : 'to']: words[arrow + 1] }
  const given = arrow < 0 ? words : words.slice(0, arrow)
  const plain = given.map(word =>
    word.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"/g, (_, single, double) => single ?? double.replace(/\\(.)/g, '$1')),
  )
  return { earlier: stages.slice(0, at).join(' | '), words: plain.slice(1), ...redirection }
}
