// Runs the `console` blocks of a Markdown page with a daemon in memory, and compares what is printed with what the page shows.

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Place } from '../../cli/commands/test/fixture.ts'
import { withSpace } from '../../cli/commands/test/spaces.ts'
import { natterCommand } from '../support/cli.ts'
import { host } from '../support/daemon.ts'
import { bareEnv } from '../support/natter-bundle.ts'
import { type Outcome, runBlock } from './shell.ts'
import { type Block, blockFits, blocksIn, fits, linesOf, type Step, updated, withOutput } from './transcript.ts'

export interface VerifyOptions {
  /** Of the daemon; with `apart`, of each space too. */
  readonly flags?: readonly string[]
  /** Gives every block an organization of its own. */
  readonly apart?: boolean
  /** Milliseconds for one command. */
  readonly timeout?: number
  /** The program that the page calls `natter`, and where it finds others. */
  readonly natter?: readonly string[]
  readonly path?: string | undefined
}

export interface Verified {
  readonly commands: number
  /** For each command that printed something else: where it is, what the page shows, and what was printed. */
  readonly differences: readonly string[]
  /** The page with what was printed. */
  readonly page: string
}

export async function verifyPage(file: string, options: VerifyOptions = {}): Promise<Verified> {
  const page = readFileSync(file, 'utf8')
  const { blocks, stray } = blocksIn(page)
  if (stray !== undefined) throw new Error(`${file}:${stray}: a console block must begin with a command`)
  if (blocks.length === 0) throw new Error(`${file} has no console blocks`)
  const scratch = mkdtempSync(join(tmpdir(), 'natter-verify-'))
  const daemon = await host(scratch, { flags: ['--memory', ...(options.flags ?? [])] })
  try {
    const run = options.apart ? runApart : runInOrder
    const outcomes = await run(blocks, daemon.ready, scratch, options)
    const printed = blocks.map((block, at) => block.steps.map((_, nth) => printedBy(outcomes[at]![nth])))
    const differing = [...blocks.keys()].filter(at => !blockFits(blocks[at]!, printed[at]!))
    return {
      commands: blocks.reduce((sum, { steps }) => sum + steps.length, 0),
      differences: differing.flatMap(at => describeDifferences(file, blocks[at]!, printed[at]!)),
      page: withOutput(
        page,
        blocks.map((block, at) => (differing.includes(at) ? updateBlock(block, printed[at]!) : block)),
      ),
    }
  } finally {
    await daemon.stop()
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function runInOrder(
  blocks: readonly Block[],
  place: Place,
  scratch: string,
  options: VerifyOptions,
): Promise<Outcome[][]> {
  const shell = newShellIn(place, scratch, options)
  const outcomes: Outcome[][] = []
  for (const { steps } of blocks) outcomes.push(await runBlock(commandsOf(steps), shell))
  return outcomes
}

/** Blocks that do not see each other can run at the same time; two, as most machines have two cores. */
async function runApart(
  blocks: readonly Block[],
  { url, control_token }: Place,
  scratch: string,
  options: VerifyOptions,
): Promise<Outcome[][]> {
  const outcomes: Outcome[][] = []
  const waiting = blocks.entries()
  const work = async () => {
    for (const [at, { steps }] of waiting)
      await withSpace(url, options.flags ?? [], { timeout: 180_000, controlToken: control_token! }, async space => {
        const folder = mkdtempSync(join(scratch, 'block-'))
        outcomes[at] = await runBlock(commandsOf(steps), newShellIn(space, folder, options))
        return 0
      })
  }
  await Promise.all([work(), work()])
  return outcomes
}

/** A home with nothing but the profile that `natter daemon start` leaves. No variable is set: a page must not rely on one. */
function newShellIn(place: Place, folder: string, { timeout = 30_000, natter = natterCommand, path }: VerifyOptions) {
  const [bin, home] = [join(folder, 'bin'), join(folder, 'home')]
  mkdirSync(bin)
  mkdirSync(home)
  const program = join(bin, 'natter')
  const quoted = natter.map(word => `'${word.replaceAll("'", `'\\''`)}'`)
  writeFileSync(program, `#!/bin/sh\nexec ${quoted.join(' ')} "$@"\n`)
  chmodSync(program, 0o755)
  writeProfile(home, place)
  const language = { TZ: 'UTC', LANG: 'C.UTF-8', NO_COLOR: '1' }
  return {
    cwd: home,
    timeout,
    env: { ...bareEnv, ...language, HOME: home, PATH: `${bin}:${path ?? process.env.PATH}` },
  }
}

function writeProfile(home: string, { url, owner }: Place): void {
  const folder = join(home, '.config/natter')
  mkdirSync(folder, { recursive: true })
  const local = { site: url, email: owner.email, api_key: owner.api_key }
  writeFileSync(join(folder, 'profiles.json'), JSON.stringify({ profiles: { local }, current: 'local' }), {
    mode: 0o600,
  })
}

function commandsOf(steps: readonly Step[]): string[] {
  return steps.map(({ command }) => command)
}

/** A command after one that ended the shell was never run. */
function printedBy(outcome: Outcome | undefined): string[] {
  return outcome ? linesOf(outcome.output, outcome.code) : ['[not run: the shell had ended]']
}

function updateBlock(block: Block, printed: readonly string[][]): Block {
  return {
    ...block,
    steps: block.steps.map((step, at) => ({ ...step, expected: updated(step.expected, printed[at]!) })),
  }
}

function describeDifferences(file: string, { steps }: Block, printed: readonly string[][]): string[] {
  return steps.flatMap(({ source, line, expected }, at) => {
    if (fits(expected, printed[at]!)) return []
    const lines = [...expected.map(text => `- ${text}`), ...printed[at]!.map(text => `+ ${text}`)]
    return [[`${file}:${line}:`, ...source, ...lines].join('\n')]
  })
}
