// One run of `natter`: finds the first word, loads its page or subcommand, runs it, and maps failures to exit codes.

import type { Endpoint, Page } from '../daemon/api/define.ts'
import { Ending, exitCodes, Failure, report, usage } from './base/failure.ts'
import { firstWord } from './base/globals.ts'
import { beQuiet } from './base/note.ts'
import { version } from './base/version.ts'
import { print, printError } from './base/writer.ts'
import type { Command } from './catalogue/subcommands.ts'
import { allPages, allWords } from './catalogue/words.ts'
import { subcommandTable } from './commands/index.ts'

export async function runProgram(argv: readonly string[]): Promise<number> {
  // A reader that stops early, such as `head`, is not an error.
  process.stdout.on('error', error => {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(exitCodes.done)
    throw error
  })
  // Everything after `--` is for another program.
  const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv
  if (own.includes('--quiet')) beQuiet()
  try {
    await dispatch(argv)
    return exitCodes.done
  } catch (error) {
    if (error instanceof Ending) return error.exit
    const failure = error instanceof Failure ? error : unexpected(error)
    report(failure, own.includes('--json') || own.includes('--ndjson'))
    return failure.exit
  }
}

async function dispatch(argv: readonly string[]): Promise<void> {
  const at = firstWord(argv)
  const leading = at < 0 ? argv : argv.slice(0, at)
  if (leading.includes('--version') || leading.includes('-V')) return print(`natter ${version()}\n`)
  if (argv.length === 0 || leading.includes('--help') || leading.includes('-h')) return printHelp()
  if (at < 0) {
    await run(argv, undefined)
    throw usage('no subcommand given', 'See natter --help')
  }
  const word = argv[at]!
  if (word !== 'help') return run(argv, word)
  if (argv.includes('--man')) return print(await (await import('./commands/help/man.ts')).manPage(subcommandTable))
  const topic = argv.slice(at + 1).filter(item => !item.startsWith('-'))
  if (topic.length === 0) return printHelp()
  const { topics } = await import('./commands/help/topics.ts')
  if (topic.length === 1 && Object.hasOwn(topics, topic[0]!))
    return print(await topics[topic[0]!]!.text(subcommandTable))
  return run([...topic, '--help'], topic[0]!)
}

async function run(argv: readonly string[], word: string | undefined): Promise<void> {
  const { CommanderError, hintOf, newProgram } = await import('./catalogue/subcommands.ts')
  const program = newProgram()
  if (word !== undefined) await addWord(program, word, argv)
  const words = word === undefined ? argv : await withVerb(word, argv)
  process.once('SIGINT', () => process.exit(exitCodes.interrupted))
  try {
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.code === 'commander.helpDisplayed') return
    // A group without a verb: its help was just printed on stderr.
    if (error.code === 'commander.help') throw new Ending(exitCodes.usage)
    const [message, suggestion] = error.message.replace(/^error: /, '').split('\n')
    throw usage(message!, suggestion?.replace(/^\((.*)\)$/, '$1') ?? hintOf(program, argv, error))
  }
}

async function addWord(program: Command, word: string, argv: readonly string[]): Promise<void> {
  const extra = Object.hasOwn(subcommandTable, word) ? subcommandTable[word] : undefined
  if (extra) {
    const { addExtra } = await import('./catalogue/subcommands.ts')
    for (const subcommand of await extra.load()) addExtra(program, subcommand, subcommandTable)
    if (extra.about !== '')
      program.commands.find(command => command.name() === word && command.commands.length > 0)?.description(extra.about)
  }
  const pages = allPages().filter(page => page.words.includes(word))
  if (!extra && pages.length === 0) {
    const { didYouMean } = await import('../daemon/local/did-you-mean.ts')
    throw usage(`there is no subcommand "${word}"`, didYouMean(word, allWords(subcommandTable)) ?? 'See natter --help')
  }
  for (const page of pages) await addPage(program, page, word, argv)
}

/** `natter requests --follow` is `natter requests list --follow`, where the page says so. */
async function withVerb(word: string, argv: readonly string[]): Promise<readonly string[]> {
  const at = firstWord(argv)
  const next = argv[at + 1]
  if (next !== undefined && (!next.startsWith('-') || argv.includes('--help') || argv.includes('-h'))) return argv
  for (const page of allPages().filter(({ words }) => words.includes(word)))
    for (const { cli } of Object.values<Endpoint>(await page.load()))
      if (cli.alone && cli.name.startsWith(`${word} `))
        return [...argv.slice(0, at + 1), cli.name.slice(word.length + 1), ...argv.slice(at + 1)]
  return argv
}

/** Adds the subcommands of a page that begin with this word. */
async function addPage(program: Command, page: Page, word: string, argv: readonly string[]): Promise<void> {
  const { addEndpoint } = await import('./catalogue/subcommands.ts')
  const { callEndpoint } = await import('./catalogue/call.ts')
  const { formOf: whole } = await import('./catalogue/forms.ts')
  const { formOf, saidBy, targetOf } = await import('./catalogue/shortcuts.ts')
  const endpoints = Object.values<Endpoint>(await page.load())
  const named = namedBy(argv, formsOf(endpoints))
  const begins = ({ name }: CliName) => (named === undefined ? name.split(' ')[0] === word : name === named)
  for (const endpoint of endpoints) {
    // natterd sends these itself; nobody can call them.
    if (endpoint.served === 'outgoing') continue
    const call =
      endpoint.access === 'control' ? (await import('./catalogue/control-call.ts')).callControl : callEndpoint
    if (begins(endpoint.cli)) addEndpoint(program, whole(endpoint), call, argv)
    for (const shortcut of (endpoint.cli.shortcuts ?? []).filter(({ cli }) => begins(cli))) {
      const run: typeof callEndpoint = (_, given, globals, batch) =>
        callEndpoint(targetOf(shortcut, endpoint), saidBy(shortcut, given), globals, batch)
      addEndpoint(program, formOf(shortcut, endpoint), run, argv, shortcut.switches ?? [])
    }
  }
  // A word of two pages is explained by the first, that of the API.
  const group = program.commands.find(command => command.name() === word && command.commands.length > 0)
  if (group?.registeredArguments.length === 0 && group.description() === '') group.description(page.about)
}

interface CliName {
  readonly name: string
}

function formsOf(endpoints: readonly Endpoint[]): CliName[] {
  return endpoints.flatMap(({ cli }) => [cli, ...(cli.shortcuts ?? []).map(shortcut => shortcut.cli)])
}

/** The subcommand that these words name, if there are none below it: to build all of its group takes longer than the call. */
function namedBy(argv: readonly string[], forms: readonly CliName[]): string | undefined {
  const given = argv.slice(firstWord(argv))
  const named = forms
    .map(({ name }) => name)
    .filter(name => name.split(' ').every((word, index) => word === given[index]))
    .sort((a, b) => b.length - a.length)[0]
  const isWhole = named?.includes(' ') && !forms.some(({ name }) => name.startsWith(`${named} `))
  return isWhole ? named : undefined
}

async function printHelp(): Promise<void> {
  print((await import('./commands/help/overview.ts')).programHelp())
}

/** An internal error. Users do not need its stack trace; NATTER_DEBUG prints it for debugging. */
function unexpected(error: unknown): Failure {
  if (process.env.NATTER_DEBUG) printError(`${(error as Error)?.stack ?? error}\n`)
  const message = error instanceof Error ? error.message : String(error)
  const hint = 'A server or a file may have something that natter cannot read. NATTER_DEBUG=1 shows where it failed.'
  return new Failure(exitCodes.refused, message, { code: 'UNEXPECTED', hint })
}
