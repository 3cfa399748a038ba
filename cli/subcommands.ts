// Makes commander subcommands from endpoints of the catalogue, and gives every subcommand the flags that all have.

import { Argument, Command, CommanderError, Option } from 'commander'
import type { Endpoint, Param } from '../daemon/api/define.ts'
import { flagName, type Given, isChoice, isList, isSwitch, valueName } from './flags.ts'
import { type Globals, globalFlags, readGlobals } from './globals.ts'

export type Run = (endpoint: Endpoint, given: ReadonlyMap<string, Given>, globals: Globals) => Promise<void>

export { type Command, CommanderError }

/** The root, which only holds the others. It throws instead of exiting, and leaves the printing of errors to us. */
export function newProgram(): Command {
  const program = new Command('natter')
    .exitOverride()
    .enablePositionalOptions()
    .helpCommand(false)
    .configureHelp({ subcommandTerm: verb => `${verb.name()} ${wordsOf(verb)}`.trimEnd() })
    .configureOutput({ outputError: () => {} })
  addGlobals(program)
  return program
}

export function addEndpoint(program: Command, endpoint: Endpoint, run: Run): Command {
  const leaf = commandAt(program, endpoint.cli.name.split(' ')).description(endpoint.summary)
  const args = endpoint.cli.args ?? []
  const options = new Map<string, string>()
  for (const name of args) leaf.addArgument(argumentFor(name, endpoint.params[name]!, name === args.at(-1)))
  for (const [name, param] of Object.entries(endpoint.params))
    if (!args.includes(name)) options.set(name, addFlag(leaf, flagName(endpoint, name), param))
  leaf.usage(`${wordsOf(leaf)} [flags]`.trimStart())
  addHelpEnd(leaf, endpoint.cli.examples, `Route: ${endpoint.method} /api/v1${endpoint.path}`)
  addGlobals(leaf)
  leaf.action(() => run(endpoint, givenTo(leaf, args, options), globalsOf(leaf)))
  return leaf
}

/** Finds or makes the command for these words; those on the way are groups. */
export function commandAt(program: Command, words: readonly string[]): Command {
  let command = program
  for (const word of words) {
    if (command !== program) command.usage('<verb> [flags]').commandsGroup('Verbs:').helpCommand(false)
    command = command.commands.find(known => known.name() === word) ?? newCommand(command, word)
  }
  return command
}

/** Adds the flags of every subcommand. One that the subcommand uses for itself can still be given before the first word. */
export function addGlobals(command: Command, names: readonly string[] = globalFlags.map(flag => flag.name)): void {
  for (const flag of globalFlags) {
    if (!names.includes(flag.name) || command.options.some(option => option.long === `--${flag.name}`)) continue
    const option = new Option(flag.value ? `--${flag.name} <${flag.value}>` : `--${flag.name}`, flag.about)
    // The help of a subcommand is about itself; that of the program explains these.
    command.addOption(option.hideHelp())
    ours.add(option)
  }
}

/** What was said of the global flags, at the subcommand itself or before it; the nearest wins. */
export function globalsOf(leaf: Command): Globals {
  const given = new Map<string, unknown>()
  for (let command: Command | null = leaf; command; command = command.parent)
    for (const option of command.options) {
      const value = ours.has(option) ? command.opts()[option.attributeName()] : undefined
      const name = option.long!.slice(2)
      if (value !== undefined && !given.has(name)) given.set(name, value)
    }
  return readGlobals(given)
}

/** Examples to copy, after what else there is to say. */
export function addHelpEnd(leaf: Command, examples: readonly string[], ...paragraphs: string[]): void {
  leaf.addHelpText('after', () => {
    const flags = leaf.options.filter(option => ours.has(option)).map(option => option.long)
    const also = `Also, as explained by natter --help:\n  ${flags.join(' ')}`
    return ['', also, ...paragraphs, `Examples:\n${examples.map(line => `  ${line}`).join('\n')}`].join('\n\n').slice(1)
  })
}

/** The command that these words lead to, as far as they do. */
export function pathOf(program: Command, argv: readonly string[]): string {
  let command = program
  let path = program.name()
  for (const word of argv) {
    const next = command.commands.find(known => known.name() === word)
    if (!next) continue
    command = next
    path = `${path} ${word}`
  }
  return path
}

const ours = new WeakSet<Option>()

function newCommand(parent: Command, word: string): Command {
  return parent.command(word).addHelpOption(new Option('-h, --help', 'show this').helpGroup('Flags:'))
}

function givenTo(leaf: Command, args: readonly string[], options: ReadonlyMap<string, string>): Map<string, Given> {
  const given = new Map<string, Given>()
  args.forEach((name, index) => {
    const value = leaf.processedArgs[index]
    if (value !== undefined && !(Array.isArray(value) && value.length === 0)) given.set(name, value)
  })
  const values = leaf.opts()
  for (const [name, key] of options) if (values[key] !== undefined) given.set(name, values[key])
  return given
}

function argumentFor(name: string, param: Param, last: boolean): Argument {
  const needed = param.presence === 'required' || param.presence === 'path'
  // A closed set of words is the best name for itself.
  const title = isChoice(param.shape) ? valueName(param.shape) : name.replaceAll('_', '-')
  const many = last && isList(param.shape) ? '...' : ''
  return new Argument(needed ? `<${title}${many}>` : `[${title}${many}]`, aboutOf(param, false))
}

function wordsOf(command: Command): string {
  return command.registeredArguments
    .map(argument => `${argument.name()}${argument.variadic ? '...' : ''}`)
    .map((title, index) => (command.registeredArguments[index]!.required ? `<${title}>` : `[${title}]`))
    .join(' ')
}

/** Returns the key under which commander keeps the value. */
function addFlag(leaf: Command, flag: string, param: Param): string {
  if (isSwitch(param.shape)) return addSwitch(leaf, flag, param)
  const option = new Option(`--${flag} <${valueName(param.shape)}>`, aboutOf(param, true)).helpGroup('Flags:')
  if (isList(param.shape)) option.argParser((value: string, before: string[] = []) => [...before, value])
  leaf.addOption(option)
  return option.attributeName()
}

/** Both ways can be said; help shows the one that is not the default. */
function addSwitch(leaf: Command, flag: string, param: Param): string {
  const yes = new Option(`--${flag}`, aboutOf(param, true)).helpGroup('Flags:')
  const no = new Option(`--no-${flag}`, `not: ${param.about}`).helpGroup('Flags:')
  if (param.presence === 'defaulted') (param.fallback === true ? yes : no).hideHelp()
  leaf.addOption(yes).addOption(no)
  return yes.attributeName()
}

function aboutOf(param: Param, flag: boolean): string {
  const remarks: string[] = []
  if (flag && (param.presence === 'required' || param.presence === 'path')) remarks.push('required')
  if (param.presence === 'defaulted' && !isSwitch(param.shape)) remarks.push(`default ${shown(param.fallback)}`)
  if (flag && isList(param.shape) && valueName(param.shape) !== 'json') remarks.push('repeat it, or separate by commas')
  if (param.shape.ref === 'markdown') remarks.push('`-` reads stdin')
  return remarks.length > 0 ? `${param.about} (${remarks.join('; ')})` : param.about
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
