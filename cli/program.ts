// One run of `natter`: finds the first word, loads its page or subcommand, runs it, and maps failures to exit codes.

import type { Endpoint, Page } from '../daemon/api/define.ts'
import { addVerb, type CommandLine, readCommandLine } from './base/command-line.ts'
import { Ending, exitCodes, Failure, report, usage } from './base/failure.ts'
import { beQuiet } from './base/note.ts'
import { getLastCall } from './base/reply.ts'
import { version } from './base/version.ts'
import { isPrintingFile, passOutputError, print, printError } from './base/writer.ts'
import type { Command } from './catalogue/subcommands.ts'
import { allPages, allWords } from './catalogue/words.ts'
import { subcommandTable } from './command-table.ts'

export async function runProgram(argv: readonly string[]): Promise<number> {
  process.stdout.on('error', error => {
    // The subcommand hears of it from `printBytes`.
    if (isPrintingFile() || passOutputError(error)) return
    // A reader that stops early, such as `head`, is not an error: the exit code is what it would have been, if that is known already.
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit()
    report(cannotWrite(error), false)
    process.exit(exitCodes.refused)
  })
  const line = readCommandLine(argv)
  if (line.has('quiet')) beQuiet()
  try {
    await dispatch(line)
    return exitCodes.done
  } catch (error) {
    if (error instanceof Ending) return error.exit
    const failure = error instanceof Failure ? error : failureFrom(error)
    report(failure, line.has('json') || line.has('ndjson'))
    return failure.exit
  }
}

async function dispatch(line: CommandLine): Promise<void> {
  const { argv, leading, words } = line
  if (leading.includes('--version') || leading.includes('-V')) return print(`natter ${version()}\n`)
  if (argv.length === 0 || leading.includes('--help') || leading.includes('-h')) return printHelp()
  const [word] = words
  if (word === undefined) {
    await run(line)
    throw usage('no subcommand given', 'See natter --help')
  }
  return word === 'help' ? help(line) : run(line)
}

async function help(line: CommandLine): Promise<void> {
  if (line.has('man')) return print(await (await import('./commands/help/man.ts')).manPage(subcommandTable))
  const atLevel = line.has('level') ? await import('./commands/help/at-level.ts') : undefined
  const { level, words } = atLevel?.readLevelHelp(line.argv) ?? { words: line.words.slice(1) }
  const [topic, ...more] = words
  if (topic === undefined) return level === undefined ? printHelp() : print(await atLevel!.levelHelp(level))
  const { topics } = await import('./commands/help/topics.ts')
  if (more.length === 0 && Object.hasOwn(topics, topic)) return print(await topics[topic]!.text(subcommandTable))
  if (level !== undefined) await atLevel!.refuseAbsent(words, level)
  const known = allWords(subcommandTable)
  if (!known.includes(topic)) throw await noSubcommand(topic, [...known, ...Object.keys(topics)])
  return run(readCommandLine([...words, '--help']), level)
}

/** With a level, the subcommands of the API are those that the level has. */
async function run(given: CommandLine, level?: number): Promise<void> {
  const { CommanderError, newProgram } = await import('./catalogue/subcommands.ts')
  const program = newProgram()
  const line = await withVerb(given)
  if (line.words.length > 0) await addSubcommands(program, line, level)
  if (line.has('help') || line.argv.includes('-h')) await demandVerb(program, line)
  process.once('SIGINT', () => process.exit(exitCodes.interrupted))
  try {
    await program.parseAsync(line.argv, { from: 'user' })
  } catch (error) {
    if (error instanceof Failure) throw (await import('./catalogue/mistakes.ts')).nameAsGiven(error, program, line)
    if (!(error instanceof CommanderError)) throw error
    if (error.code === 'commander.helpDisplayed') return
    // A group without a verb: its help was just printed on stderr.
    if (error.code === 'commander.help') throw new Ending(exitCodes.usage)
    // A text of several lines is in the message as it was given.
    const lines = error.message.replace(/^error: /, '').split('\n')
    const suggestion = /^\((Did you mean .*)\)$/.exec(lines.at(-1)!)?.[1]
    const message = (suggestion === undefined ? lines : lines.slice(0, -1)).join('\n')
    if (error.code === 'commander.unknownCommand') throw noVerb(program, line, suggestion)
    const { listFlags, suggestHelp, takesArguments } = await import('./catalogue/mistakes.ts')
    const help = suggestHelp(program, line, error)
    if (error.code !== 'commander.unknownOption') throw usage(message, suggestion ?? help)
    // The parser suggests only flags that the help explains, and not the global ones.
    const flags = [...listFlags(program, line), '--help', '--version']
    const flag = unknownFlag(message)
    const isText = /^-[^-]|\s/.test(flag) && takesArguments(program, line)
    const todo = isText ? `A text that begins with a dash goes after --, or is piped in with -. ${help}` : help
    const other = otherFlags[flag]
    const same = other !== undefined && flags.includes(other) ? `Did you mean ${other}?` : undefined
    throw usage(message, suggestion ?? same ?? (await nearestTo(flag, flags, todo)))
  }
}

/** The flag of `unknown option '--jsno=x'`. */
function unknownFlag(complaint: string): string {
  return /'([^'=]*)/.exec(complaint)?.[1] ?? ''
}

/** Flags that people try, as the API has them. */
const otherFlags: Readonly<Record<string, string>> = { '--user': '--of', '--user-id': '--of' }

/** First words that people try, as other programs or the API have them. */
const otherNames: Readonly<Record<string, string>> = { stream: 'channels', streams: 'channels', version: '--version' }

async function noSubcommand(word: string, known: readonly string[]): Promise<Failure> {
  const other = Object.hasOwn(otherNames, word) ? `Did you mean natter ${otherNames[word]}?` : undefined
  return usage(`there is no subcommand "${word}"`, other ?? (await nearestTo(word, known)))
}

async function nearestTo(word: string, known: readonly string[], otherwise = 'See natter --help'): Promise<string> {
  const { didYouMean } = await import('../daemon/local/did-you-mean.ts')
  return didYouMean(word, known) ?? otherwise
}

/** For a request for help: the parser would show the help of the group for any word after it. */
async function demandVerb(program: Command, line: CommandLine): Promise<void> {
  const [word, verb] = line.words
  const group = program.commands.find(command => command.name() === word)
  const verbs = group?.commands.map(command => command.name()) ?? []
  if (verb === undefined || verbs.length === 0 || verbs.includes(verb) || group!.registeredArguments.length > 0) return
  const { didYouMean } = await import('../daemon/local/did-you-mean.ts')
  throw noVerb(program, line, didYouMean(verb, verbs))
}

/** Verbs that people use for the same thing. */
const synonyms = [
  ['delete', 'remove', 'archive', 'deactivate', 'revoke', 'clear'],
  ['create', 'add', 'send', 'upload', 'start'],
  ['edit', 'update', 'set', 'rename', 'move'],
  ['list', 'show', 'get', 'print'],
]

/** What people look for here, and what does it. */
const elsewhere: Readonly<Record<string, string>> = {
  'bot test': 'Run the test of a bot with node --test',
  'messages react': 'Did you mean natter reactions add?',
}

/** A group has no such verb. */
function noVerb(program: Command, { words }: CommandLine, suggestion: string | undefined): Failure {
  const [group, verb] = words as [string, string]
  const verbs = program.commands.find(command => command.name() === group)?.commands.map(command => command.name())
  const alike = synonyms.find(set => set.includes(verb))?.find(other => verbs?.includes(other))
  const known = allWords(subcommandTable).includes(verb) ? `Did you mean natter ${verb}?` : suggestion
  const hint = elsewhere[`${group} ${verb}`] ?? known
  return usage(
    `there is no subcommand "${group} ${verb}"`,
    hint ?? (alike ? `Did you mean natter ${group} ${alike}?` : `See natter ${group} --help`),
  )
}

/** Adds the subcommands that begin with the first word. */
async function addSubcommands(program: Command, line: CommandLine, level: number | undefined): Promise<void> {
  const word = line.words[0]!
  const group = Object.hasOwn(subcommandTable, word) ? subcommandTable[word] : undefined
  if (group) {
    const { addExtra } = await import('./catalogue/subcommands.ts')
    for (const subcommand of await group.load()) addExtra(program, subcommand, line, subcommandTable)
    if (group.about !== '')
      program.commands.find(command => command.name() === word && command.commands.length > 0)?.description(group.about)
  }
  const pages = findPages(word)
  if (!group && pages.length === 0) throw await noSubcommand(word, allWords(subcommandTable))
  for (const page of pages) await addPage(program, page, line, level)
}

/** A noun alone means one of its verbs, where the page says so. */
async function withVerb(line: CommandLine): Promise<CommandLine> {
  const [word, ...more] = line.words
  if (word === undefined || more.length > 0 || line.has('help') || line.argv.includes('-h')) return line
  for (const page of findPages(word))
    for (const { cli } of Object.values<Endpoint>(await page.load()))
      if (cli.alone && cli.name.startsWith(`${word} `)) return addVerb(line, cli.name.slice(word.length + 1))
  return line
}

function findPages(word: string): Page[] {
  return allPages().filter(({ words }) => words.includes(word))
}

/** Adds the subcommands of a page that begin with the first word; only the one that is named, if it is a leaf. */
async function addPage(program: Command, page: Page, line: CommandLine, level: number | undefined): Promise<void> {
  const { addEndpoint } = await import('./catalogue/subcommands.ts')
  const { callEndpoint } = await import('./catalogue/call.ts')
  const { buildForm: whole } = await import('./catalogue/forms.ts')
  const { buildShortcut, saidBy, buildTarget } = await import('./catalogue/shortcuts.ts')
  const endpoints = await loadEndpoints(page, level)
  const word = line.words[0]!
  const leaf = findLeaf(line.words, endpoints)
  const isWanted = ({ name }: CliName) => (leaf === undefined ? name.split(' ')[0] === word : name === leaf)
  for (const endpoint of endpoints) {
    // natterd sends these itself, so they cannot be called.
    if (endpoint.served === 'outgoing') continue
    const call =
      endpoint.access === 'control' ? (await import('./catalogue/control-call.ts')).callControl : callEndpoint
    if (isWanted(endpoint.cli)) addEndpoint(program, whole(endpoint), call, line)
    for (const shortcut of (endpoint.cli.shortcuts ?? []).filter(({ cli }) => isWanted(cli))) {
      const run: typeof callEndpoint = (_, given, globals, batch) =>
        callEndpoint(buildTarget(shortcut, endpoint), saidBy(shortcut, given), globals, batch)
      addEndpoint(program, buildShortcut(shortcut, endpoint), run, line, shortcut.switches ?? [])
    }
  }
  // A word of two pages is explained by the first, that of the API.
  const group = program.commands.find(command => command.name() === word && command.commands.length > 0)
  if (group?.registeredArguments.length === 0 && group.description() === '') group.description(page.about)
}

async function loadEndpoints(page: Page, level: number | undefined): Promise<readonly Endpoint[]> {
  const endpoints = Object.values<Endpoint>(await page.load())
  if (level === undefined) return endpoints
  const { endpointAt } = await import('../daemon/api/levels/endpoint-at.ts')
  return endpoints.flatMap(endpoint => endpointAt(endpoint, level) ?? [])
}

interface CliName {
  readonly name: string
}

/** The subcommand that these words name, if there are none below it: building its whole group takes longer than the call. */
function findLeaf(words: readonly string[], endpoints: readonly Endpoint[]): string | undefined {
  const names = endpoints.flatMap(({ cli }) => [cli.name, ...(cli.shortcuts ?? []).map(shortcut => shortcut.cli.name)])
  const named = names
    .filter(name => name.split(' ').every((word, index) => word === words[index]))
    .sort((a, b) => b.length - a.length)[0]
  const isLeaf = named?.includes(' ') && !names.some(name => name.startsWith(`${named} `))
  return isLeaf ? named : undefined
}

async function printHelp(): Promise<void> {
  print((await import('./commands/help/overview.ts')).programHelp())
}

function cannotWrite(error: unknown): Failure {
  const { code, path = 'the output' } = error as NodeJS.ErrnoException
  return new Failure(exitCodes.refused, `cannot write ${path}: ${code}`)
}

/** An internal error. Users do not need its stack trace; NATTER_DEBUG prints it for debugging. */
function failureFrom(error: unknown): Failure {
  if (process.env.NATTER_DEBUG) printError(`${(error as Error)?.stack ?? error}\n`)
  if ((error as NodeJS.ErrnoException)?.syscall === 'write') return cannotWrite(error)
  // A RangeError: the answer is nested more deeply than the stack is.
  const answered = error instanceof TypeError || error instanceof RangeError ? getLastCall() : undefined
  const message = answered
    ? `the server's answer to ${answered} is not what natter expects`
    : error instanceof Error
      ? error.message
      : String(error)
  const hint = answered
    ? 'Check that this is a chat server. NATTER_DEBUG=1 shows where natter failed.'
    : 'A server or a file may have something that natter cannot read. NATTER_DEBUG=1 shows where it failed.'
  return new Failure(exitCodes.refused, message, { code: 'UNEXPECTED', hint })
}
