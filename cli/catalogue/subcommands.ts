// Builds commander subcommands from endpoints of the catalogue, and adds the global flags to every subcommand.

import { Argument, Command, CommanderError, Help, Option } from 'commander'
import { baseOf, type Endpoint, type Param } from '../../daemon/api/define.ts'
import { spanText, withSpan } from '../../daemon/api/levels/span.ts'
import type { CommandLine } from '../base/command-line.ts'
import { usage } from '../base/failure.ts'
import { readCount } from '../base/flag-values.ts'
import { batchFlags, type Globals, globalFlags, keyFlag, readGlobals } from '../base/globals.ts'
import { beQuiet } from '../base/note.ts'
import { withSettings } from '../base/settings.ts'
import type { ExtraFlag, ExtraSubcommand, SubcommandTable } from '../base/subcommand.ts'
import { fill, helpColumns, reflow } from '../base/text-layout.ts'
import { flagName, type Given, isChoice, isList, isSwitch, otherFlag, valueName, wordName } from '../input/flags.ts'
import { controlGlobals, everydayFlags, mustGive, paramFor, takesPath, wordsFor } from './everyday.ts'

/** Source of a batch of calls, and how to make them. */
export interface BatchOptions {
  /** `-` for stdin. */
  readonly file: string
  readonly parallel: number
  readonly keepGoing: boolean
  /** The file that says how far the batch has come. */
  readonly resume?: string | undefined
  /** The end of a line. */
  readonly ending: '\n' | '\0'
}

export type Run = (
  endpoint: Endpoint,
  given: ReadonlyMap<string, Given>,
  globals: Globals,
  batch?: BatchOptions,
) => Promise<void>

export { type Command, CommanderError, type Option }

/** The root command, which only holds the others. It throws instead of exiting and does not print errors. */
export function newProgram(): Command {
  const program = new Command('natter')
    .exitOverride()
    .enablePositionalOptions()
    .helpCommand(false)
    .configureHelp({
      minWidthToWrap: 16,
      // The table of all nouns has it in lower case.
      commandDescription: command => command.description().replace(/^[a-z]/, letter => letter.toUpperCase()),
      subcommandTerm: verb => `${verb.name()} ${describeArguments(verb)}`.trimEnd(),
      padWidth: (command, helper) =>
        Math.min(
          Math.max(
            helper.longestOptionTermLength(command, helper),
            helper.longestSubcommandTermLength(command, helper),
            helper.longestArgumentTermLength(command, helper),
          ),
          Math.floor((helper.helpWidth ?? 80) * 0.4),
        ),
      // A term longer than its column gets its own line.
      formatItem: (term, width, about, helper) => {
        if (about === '') return `  ${term}`
        const lines = helper.boxWrap(about, Math.max(16, (helper.helpWidth ?? 80) - width - 4)).split('\n')
        const rest = lines.map((line, index) =>
          index === 0 && term.length <= width ? line : ' '.repeat(width + 4) + line,
        )
        return term.length <= width ? `  ${term.padEnd(width)}  ${rest.join('\n')}` : `  ${term}\n${rest.join('\n')}`
      },
    })
    .configureOutput({ outputError: () => {} })
  addGlobals(program)
  return program
}

export function addEndpoint(
  program: Command,
  endpoint: Endpoint,
  run: Run,
  line: CommandLine,
  flags: readonly ExtraFlag[] = everydayFlags(endpoint),
): Command {
  const leaf = commandAt(program, endpoint.cli.name.split(' ')).description(endpoint.summary)
  const args = wordsFor(endpoint)
  const options = new Map<string, string>()
  // In a batch the lines take the place of the arguments.
  const batch = line.has('batch')
  const others = new Map(args.map(name => [name, flagBeside(name, endpoint)]))
  // If a flag can replace a word, the parser cannot know which words are missing; reading the params finds out.
  const loose =
    batch || args.includes('@place') || takesPath(endpoint) || [...others.values()].some(flag => flag !== undefined)
  for (const name of args) leaf.addArgument(argumentFor(name, paramFor(endpoint, name), name === args.at(-1), loose))
  for (const flag of flags) {
    const option = optionFor(flag)
    leaf.addOption(option)
    options.set(`@${flag.name}`, option.attributeName())
  }
  for (const [name, param] of Object.entries(endpoint.params))
    if (!args.includes(name))
      options.set(name, addFlag(leaf, flagName(endpoint, name), relaxParam(endpoint, name, param)))
  for (const [name, flag] of others)
    if (flag && !leaf.options.some(({ long }) => long === `--${flag}`)) {
      const option = new Option(
        `--${flag} <${valueName(endpoint.params[name]!.shape)}>`,
        `the same as <${wordName(name, endpoint.params[name]!.shape)}>`,
      )
      leaf.addOption(option.helpGroup('Flags:'))
      options.set(name, option.attributeName())
    }
  const control = endpoint.access === 'control'
  for (const flag of control ? [] : batchFlags) {
    const option = optionFor(flag).hideHelp()
    leaf.addOption(option)
    mentioned.add(option)
    if (flag.name === keyFlag) options.set(`@${keyFlag}`, option.attributeName())
  }
  leaf.usage(`${describeArguments(leaf)} [flags]`.trimStart())
  addHelpEnd(leaf, endpoint.cli.examples, describeRoute(endpoint))
  addGlobals(leaf, control ? controlGlobals : undefined)
  leaf.action(async () =>
    run(endpoint, givenTo(leaf, args, options), await actingGlobals(leaf), batchFrom(leaf.opts())),
  )
  return leaf
}

export function addExtra(
  program: Command,
  extra: ExtraSubcommand,
  { argv, rest }: CommandLine,
  table: SubcommandTable,
): Command {
  const leaf = commandAt(program, extra.name.split(' ')).description(extra.about).optionsGroup('Flags:')
  for (const { name, about, optional, many } of extra.args ?? []) {
    const title = many ? `${name}...` : name
    leaf.addArgument(new Argument(optional ? `[${title}]` : `<${title}>`, about))
  }
  for (const flag of extra.flags ?? []) leaf.addOption(optionFor(flag))
  const passed = extra.passedFlags?.map(optionFor) ?? []
  if (passed.length > 0) showPassed(leaf, passed)
  // Everything after the first word that is not ours belongs to the other program.
  if (extra.passes) leaf.allowUnknownOption().allowExcessArguments().passThroughOptions(extra.passes.includes('--'))
  if (extra.runs) leaf.allowExcessArguments()
  leaf.usage(extra.passes ?? `${describeArguments(leaf)} [flags]${extra.runs ? ' [-- <command>]' : ''}`.trimStart())
  addHelpEnd(leaf, extra.examples, ...(extra.more ? [extra.more] : []))
  addGlobals(leaf, extra.globals)
  // A subcommand that does not list it deals with `--as` itself, or has no use for an account.
  const acts = extra.globals?.includes('as') ?? true
  leaf.action(async () => {
    // The parser would take the `--` before the command for the value of a flag.
    const last = rest && argv.at(-rest.length - 2)
    const bare = [...leaf.options, ...passed].find(option => option.required && option.long === last)
    if (bare) leaf.error(`error: option '${bare.flags}' argument missing`)
    const flags: Record<string, unknown> = {}
    for (const { name } of extra.flags ?? []) {
      const value = leaf.getOptionValue(new Option(`--${name}`).attributeName())
      if (value !== undefined) flags[name] = value
    }
    const args = leaf.args.slice(0, leaf.args.length - (rest?.length ?? 0))
    return extra.run({
      args: rest && args.at(-1) === '--' ? args.slice(0, -1) : args,
      ...(rest && { rest }),
      flags,
      globals: acts ? await actingGlobals(leaf) : gatherGlobals(leaf),
      table,
    })
  })
  return leaf
}

function describeRoute(endpoint: Endpoint): string {
  const route = `Route: ${endpoint.method} ${baseOf(endpoint)}${endpoint.path}`
  return endpoint.access === 'control' ? route : withSpan(route, endpoint)
}

/** Explains flags that the parser leaves to another program. */
function showPassed(leaf: Command, passed: readonly Option[]): void {
  for (const option of passed) option.helpGroup('Flags of the daemon:')
  const visibleOptions = Help.prototype.visibleOptions
  leaf.configureHelp({
    ...leaf.configureHelp(),
    visibleOptions(this: Help, command) {
      return [...visibleOptions.call(this, command), ...passed]
    },
  })
}

export function batchFrom(flags: Readonly<Record<string, unknown>>): BatchOptions | undefined {
  if (flags.batch === undefined) {
    for (const name of ['resume', 'null']) if (flags[name] !== undefined) throw usage(`--${name} needs --batch`)
    return undefined
  }
  const keepGoing = (flags.keepGoing ?? flags['keep-going']) === true
  return {
    file: String(flags.batch),
    parallel: readCount('parallel', flags.parallel ?? 1, 9999),
    keepGoing,
    resume: flags.resume as string | undefined,
    ending: flags.null === true ? '\0' : '\n',
  }
}

/** Finds or creates the command for these words; the words before the last are groups. */
function commandAt(program: Command, words: readonly string[]): Command {
  let command = program
  for (const word of words) {
    // `natter flags add` is a subcommand and also has subcommands.
    if (command !== program) {
      if (command.registeredArguments.length === 0) command.usage('<verb> [flags]')
      command.commandsGroup('Verbs:').helpCommand(false)
    }
    command = command.commands.find(known => known.name() === word) ?? newCommand(command, word)
  }
  return command
}

/** Adds the global flags. One that the subcommand redefines can still be given before the first word. */
function addGlobals(command: Command, names: readonly string[] = globalFlags.map(flag => flag.name)): void {
  for (const flag of globalFlags) {
    if (!names.includes(flag.name) || command.options.some(option => option.long === `--${flag.name}`)) continue
    const option = new Option(flag.value ? `--${flag.name} <${flag.value}>` : `--${flag.name}`, flag.about)
    // Explained by `natter help flags`, not in the help of each subcommand.
    command.addOption(option.hideHelp())
    ours.add(option)
  }
}

/** Values of the global flags, given at the subcommand or before it; the closest wins. */
function gatherGlobals(leaf: Command): Globals {
  const given = new Map<string, unknown>()
  for (let command: Command | null = leaf; command; command = command.parent)
    for (const option of command.options) {
      const value = ours.has(option) ? command.opts()[option.attributeName()] : undefined
      const name = option.long!.slice(2)
      if (value !== undefined && !given.has(name)) given.set(name, value)
    }
  const globals = readGlobals(withSettings(given, process.env))
  if (globals.quiet) beQuiet()
  return globals
}

/** The same, with the account that `--as` names. */
async function actingGlobals(leaf: Command): Promise<Globals> {
  const globals = gatherGlobals(leaf)
  return globals.as === undefined ? globals : (await import('../transport/control.ts')).actAs(globals)
}

/** Ends the help with notes and examples to copy. */
function addHelpEnd(leaf: Command, examples: readonly string[], ...paragraphs: string[]): void {
  leaf.addHelpText('after', () => {
    const flags = leaf.options.filter(option => ours.has(option) || mentioned.has(option)).map(option => option.long)
    const columns = helpColumns()
    const also = ['Global flags (see natter help flags):', ...fill(flags.map(String), columns - 2)].join('\n  ')
    const notes = paragraphs.map(paragraph => reflow(paragraph, columns))
    return ['', also, ...notes, `Examples:\n${examples.map(line => `  ${line}`).join('\n')}`].join('\n\n').slice(1)
  })
}

export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

/** Columns. */
const widestValue = 24

const ours = new WeakSet<Option>()
/** Listed at the end of the help, explained elsewhere. */
const mentioned = new WeakSet<Option>()
/** Optional for the parser only. */
const shownAsNeeded = new WeakSet<Argument>()

function newCommand(parent: Command, word: string): Command {
  return parent.command(word).addHelpOption(new Option('-h, --help', 'show help').helpGroup('Flags:'))
}

function givenTo(leaf: Command, args: readonly string[], options: ReadonlyMap<string, string>): Map<string, Given> {
  const given = new Map<string, Given>()
  const values = leaf.opts()
  for (const [name, key] of options) if (values[key] !== undefined) given.set(name, values[key])
  const open = args.filter(name => !given.has(name))
  open.forEach((name, index) => {
    const value =
      open.at(-1) === name && leaf.registeredArguments.at(-1)!.variadic ? leaf.args.slice(index) : leaf.args[index]
    if (value !== undefined && !(Array.isArray(value) && value.length === 0)) given.set(name, value)
  })
  if (leaf.args.length > open.length && !leaf.registeredArguments.at(-1)?.variadic)
    throw usage(`unexpected argument "${leaf.args.at(-1)}"`, `See ${pathOf(leaf)} --help`)
  return given
}

function argumentFor(name: string, param: Param, last: boolean, loose: boolean): Argument {
  const needed = param.presence === 'required' || param.presence === 'path'
  const title = wordName(name, param.shape)
  const many = last && isList(param.shape) ? '...' : ''
  const choices = isChoice(param.shape) && title !== valueName(param.shape) ? valueName(param.shape) : ''
  const about = choices
    ? `${describeParam(param, false)}: ${choices.replaceAll('|', ', ')}`
    : describeParam(param, false)
  const argument = new Argument(needed && !loose ? `<${title}${many}>` : `[${title}${many}]`, about)
  if (needed) shownAsNeeded.add(argument)
  return argument
}

function isNeeded(argument: Argument): boolean {
  return argument.required || shownAsNeeded.has(argument)
}

function describeArguments(command: Command): string {
  return command.registeredArguments
    .map(argument => `${argument.name()}${argument.variadic ? '...' : ''}`)
    .map((title, index) => (isNeeded(command.registeredArguments[index]!) ? `<${title}>` : `[${title}]`))
    .join(' ')
}

/** As people have to give it. */
function relaxParam(endpoint: Endpoint, name: string, param: Param): Param {
  if (param.presence === 'defaulted' && endpoint.cli.defaults?.[name] === false) return { ...param, fallback: false }
  if (endpoint.cli.history && name === 'anchor')
    return { ...param, about: param.about.replace(/;.*/, '; default newest') }
  if (mustGive(endpoint, name) || (param.presence !== 'required' && param.presence !== 'path')) return param
  const about = name === 'type' ? `${param.about}; follows from the recipient` : param.about
  return { ...param, about, presence: 'optional' }
}

/** Params that can be a word or a flag: a place, and the text of a message. */
function flagBeside(name: string, endpoint: Endpoint): string | undefined {
  const { shape } = paramFor(endpoint, name)
  return otherFlag(shape) ?? (name === 'content' && endpoint.params.topic ? name : undefined)
}

/** Returns the key under which commander stores the value. */
function addFlag(leaf: Command, flag: string, param: Param): string {
  if (isSwitch(param.shape)) return addSwitch(leaf, flag, param)
  // A long set of words would push the descriptions of all flags to the edge of the screen.
  const value = valueName(param.shape)
  const known = value.length <= widestValue || hasTitles(param.shape)
  const about = known ? describeParam(param, true) : `${describeParam(param, true)}: ${value.replaceAll('|', ', ')}`
  const title = value.length > widestValue ? 'word' : value
  const option = new Option(`--${flag} <${title}>`, about).helpGroup('Flags:')
  if (isList(param.shape)) option.argParser((value: string, before: string[] = []) => [...before, value])
  // Several users: a list, or one text with commas.
  else if (param.shape.anyOf?.some((arm: { type?: string }) => arm.type === 'array'))
    option.argParser((value: string, before?: string) => (before === undefined ? value : `${before},${value}`))
  leaf.addOption(option)
  return option.attributeName()
}

/** Whether its numbers have names, which the description lists. */
function hasTitles({ anyOf }: Param['shape']): boolean {
  return anyOf?.some((arm: { title?: string }) => arm.title !== undefined) === true
}

function optionFor({ name, short, value, about, repeatable }: ExtraFlag): Option {
  const placeholder =
    value === undefined ? '' : value.startsWith('[') ? ` ${value.toLowerCase()}` : ` <${value.toLowerCase()}>`
  const option = new Option(`${short ? `-${short}, ` : ''}--${name}${placeholder}`, about).helpGroup('Flags:')
  if (repeatable) option.argParser((text: string, before: string[] = []) => [...before, text])
  return option
}

/** Both forms are accepted. Help shows the one that is not the default, or both in one entry if there is no default. */
function addSwitch(leaf: Command, flag: string, param: Param): string {
  const yes = new Option(`--${flag}`, describeParam(param, true)).helpGroup('Flags:')
  const no = new Option(`--no-${flag}`, param.off ?? param.about).helpGroup('Flags:')
  const key = yes.attributeName()
  if (param.presence === 'defaulted') (param.fallback === true ? yes : no).hideHelp()
  else {
    no.hideHelp()
    yes.flags = `--[no-]${flag}`
  }
  leaf.addOption(yes).addOption(no)
  return key
}

function describeParam(param: Param, flag: boolean): string {
  const remarks: string[] = []
  if (flag && (param.presence === 'required' || param.presence === 'path')) remarks.push('required')
  if (param.presence === 'defaulted' && !isSwitch(param.shape)) remarks.push(`default ${shown(param.fallback)}`)
  if (valueName(param.shape) === 'terms') remarks.push('or as words: channel:general is:starred')
  else if (flag && isList(param.shape) && valueName(param.shape) !== 'json')
    remarks.push('repeatable, or comma-separated')
  if (param.deprecated !== undefined) remarks.push(`deprecated: ${param.deprecated}`)
  const span = spanText(param)
  if (span !== undefined) remarks.push(span)
  if (param.shape.ref === 'markdown') remarks.push('`-` reads stdin')
  if (param.shape.ref === 'secret') remarks.push('from a prompt, NATTER_PASSWORD or stdin if omitted')
  return remarks.length > 0 ? `${param.about} (${remarks.join('; ')})` : param.about
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
