// `natter verify FILE.md`: runs the transcripts of a page with a daemon of its own and compares what is printed with what
// the page shows.

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Ending, exitCodes, Failure, usage } from '../../../base/failure.ts'
import { note } from '../../../base/note.ts'
import type { ExtraSubcommand } from '../../../base/subcommand.ts'
import { print } from '../../../base/writer.ts'
import { daemonFlagsBut } from '../../server/daemon/flags.ts'
import { environmentFor, type Fixture, type Place, startTimeout, withFixture } from '../fixture.ts'
import { type Outcome, runBlock } from './shell.ts'
import { type Block, blockFits, blocksIn, fits, linesOf, type Step, updated, withOutput } from './transcript.ts'

const largestPage = 1_000_000
/** Milliseconds for one command. */
const commandTimeout = 30_000
const flagsOfWorlds = ['preset', 'seed', 'clock', 'secret'] as const

export const verify: readonly ExtraSubcommand[] = [
  {
    name: 'verify',
    about: 'Run the commands of a Markdown page, and compare what they print with what the page shows',
    args: [{ name: 'file', about: 'Markdown files with ```console blocks', many: true }],
    flags: [
      ...daemonFlagsBut().filter(({ name }) => (flagsOfWorlds as readonly string[]).includes(name)),
      { name: 'apart', about: 'give every block an organization of its own' },
      { name: 'update', about: 'write what the commands print into the page' },
    ],
    globals: ['timeout', 'quiet'],
    more: `A block starts with \`\`\`console. Lines that begin with "$ " are commands for sh, "> " continues one, and the other lines are
what the command prints, on stdout and stderr. "..." matches anything within a line, and any number of lines on a line of its
own; [0-9]+ and other sets of characters match as in a regular expression. A command that ends with an exit code other than 0
has it in brackets on its last line: [3]. A block with a command in the background is compared as a whole.
The commands of a page run from top to bottom, each block in a shell of its own, with one daemon in memory, as its owner, in an
empty folder. With --apart the blocks do not see what the others did. --timeout is for each command (default ${commandTimeout / 1000}s).
The exit code is 1 if something else is printed than the page shows.`,
    examples: [
      'natter verify README.md --preset dev',
      'natter verify docs/cookbook.md --apart',
      'natter verify tutorial.md --clock frozen@2030-01-01T00:00:00Z --update',
    ],
    async run({ args, flags, globals }) {
      const pages = args.map(file => ({ file, ...readPage(file) }))
      const timeout = globals.timeout ?? commandTimeout
      const update = flags.update === true
      const given = flagsOfWorlds.flatMap(name => (flags[name] === undefined ? [] : [`--${name}`, String(flags[name])]))
      let wrong = 0
      for (const { file, page, blocks } of pages) {
        const run = await withFixture(given, startTimeout, fixture =>
          flags.apart === true
            ? runApart(blocks, fixture, given, timeout)
            : runInOrder(blocks, fixture.ready, fixture.scratch, timeout),
        )
        const differing = blocks.filter((block, at) => !isAsWritten(block, run[at]!))
        if (update && differing.length > 0)
          writeFileSync(
            file,
            withOutput(
              page,
              blocks.map((block, at) => withOutcomes(block, run[at]!)),
            ),
          )
        else for (const block of differing) wrong += report(file, block, run[blocks.indexOf(block)]!)
        const commands = blocks.reduce((sum, { steps }) => sum + steps.length, 0)
        if (!globals.quiet) note(`${file}: ${summary(commands, differing.length, update)}`)
      }
      if (wrong > 0) throw new Ending(exitCodes.refused)
    },
  },
]

function readPage(file: string): { readonly page: string; readonly blocks: readonly Block[] } {
  let page: string
  try {
    if (statSync(file).size > largestPage) throw usage(`${file}: a page can have at most ${largestPage} bytes`)
    page = readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Failure) throw error
    throw usage(`cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`)
  }
  const { blocks, stray } = blocksIn(page)
  if (stray !== undefined)
    throw usage(`${file}:${stray}: a console block must begin with a command`, 'Put "$ " before it.')
  if (blocks.length === 0)
    throw usage(`${file} has no console blocks`, 'A block begins with ```console and ends with ```.')
  return { page, blocks }
}

async function runInOrder(
  blocks: readonly Block[],
  place: Place,
  scratch: string,
  timeout: number,
): Promise<Outcome[][]> {
  const running = shellIn(place, scratch, timeout)
  const outcomes: Outcome[][] = []
  for (const { steps } of blocks) outcomes.push(await runBlock(commandsOf(steps), running))
  return outcomes
}

/** Blocks that do not see each other can run at the same time; two, as most machines have two cores. */
async function runApart(
  blocks: readonly Block[],
  { ready, scratch }: Fixture,
  flags: readonly string[],
  timeout: number,
): Promise<Outcome[][]> {
  const { withSpace } = await import('../spaces.ts')
  const outcomes: Outcome[][] = []
  const waiting = blocks.entries()
  const work = async () => {
    for (const [at, { steps }] of waiting) {
      await withSpace(ready.url, flags, { timeout: startTimeout, controlToken: ready.control_token! }, async space => {
        const folder = mkdtempSync(join(scratch, 'block-'))
        outcomes[at] = await runBlock(commandsOf(steps), shellIn(space, folder, timeout))
        return 0
      })
    }
  }
  await Promise.all([work(), work()])
  return outcomes
}

/** An empty folder, also as the home, so that no file of the user changes what is printed; and this natter on the path. */
function shellIn(place: Place, folder: string, timeout: number) {
  const [bin, home] = [join(folder, 'bin'), join(folder, 'home')]
  mkdirSync(bin)
  mkdirSync(home)
  const program = join(bin, 'natter')
  const words = [process.execPath, ...process.execArgv, ...(process.argv[1] ? [resolve(process.argv[1])] : [])]
  const quoted = words
    .filter((word, at) => at === 0 || word !== process.execPath)
    .map(word => `'${word.replaceAll("'", `'\\''`)}'`)
  writeFileSync(program, `#!/bin/sh\nexec ${quoted.join(' ')} "$@"\n`)
  chmodSync(program, 0o755)
  const { XDG_CONFIG_HOME: _, XDG_STATE_HOME: __, XDG_DATA_HOME: ___, ...env } = environmentFor(place, folder)
  const language = { TZ: 'UTC', LANG: 'C.UTF-8', NO_COLOR: '1' }
  return { cwd: home, timeout, env: { ...env, ...language, HOME: home, PATH: `${bin}:${process.env.PATH}` } }
}

function commandsOf(steps: readonly Step[]): string[] {
  return steps.map(({ command }) => command)
}

function isAsWritten(block: Block, outcomes: readonly Outcome[]): boolean {
  return blockFits(
    block,
    block.steps.map((_, at) => printed(outcomes[at])),
  )
}

/** A command after one that ended the shell was never run. */
function printed(outcome: Outcome | undefined): string[] {
  return outcome ? linesOf(outcome.output, outcome.code) : ['[not run: the shell had ended]']
}

function withOutcomes(block: Block, outcomes: readonly Outcome[]): Block {
  const steps = block.steps.map((step, at) => ({ ...step, expected: updated(step.expected, printed(outcomes[at])) }))
  return { ...block, steps }
}

/** Returns how many commands printed something else. */
function report(file: string, { steps }: Block, outcomes: readonly Outcome[]): number {
  let wrong = 0
  for (const [at, { source, line, expected }] of steps.entries()) {
    const actual = printed(outcomes[at])
    if (fits(expected, actual)) continue
    wrong++
    const difference = [...expected.map(text => `- ${text}`), ...actual.map(text => `+ ${text}`)]
    print(`${[`${file}:${line}:`, ...source, ...difference].join('\n')}\n\n`)
  }
  return wrong
}

function summary(commands: number, differing: number, update: boolean): string {
  const ran = commands === 1 ? '1 command' : `${commands} commands`
  if (differing === 0) return `${ran}, all as written`
  const blocks = differing === 1 ? '1 block' : `${differing} blocks`
  return update ? `${ran}, ${blocks} updated` : `${ran}, ${blocks} different`
}
