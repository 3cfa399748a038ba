// Makes commander subcommands from endpoints of the catalogue, and gives every subcommand the flags that all have.

import { Argument, Command, CommanderError, Option } from 'commander'
import type { Endpoint, Param } from '../daemon/api/define.ts'
import { flagName, type Given, isList, isSwitch, valueName } from './flags.ts'
import { type Globals, globalFlags, readGlobals } from './globals.ts'

export type Run = (endpoint: Endpoint, given: ReadonlyMap<string, Given>, globals: Globals) => Promise<void>

export { type Command, CommanderError }

/** The root: `natter`, which only holds the others. It throws instead of exiting, and leaves the printing of errors to us. */
export function newProgram(): Command {
  const program = new Command('natter')
    .exitOverride()
    .enablePositionalOptions()
    .helpCommand(false)
    .helpOption('-h, --help', 'show this')
    .configureOutput({ outputError: () => {} })
  addGlobals(program)
  return program
}

export function addEndpoint(program: Command, endpoint: Endpoint, run: Run): Command {
  const leaf = commandAt(program, endpoint.cli.name.split(' '))
  const options = new Map<string, string>()
  const args = endpoint.cli.args ?? []
  leaf.description(endpoint.summary).summary(endpoint.summary)
  for (const name of args) leaf.addArgument(argumentFor(name, endpoint.params[name]!, name === args.at(-1)))
  for (const [name, param] of Object.entries(endpoint.params))
    if (!args.includes(name)) options.set(name, addFlag(leaf, flagName(endpoint, name), param))
  leaf.usage([...leaf.registeredArguments.map(usageOf), '[flags]'].join(' '))
  leaf.addHelpText(
    'after',
    () => `\nRoute: ${endpoint.method} /api/v1${endpoint.path}\n\n${examples(endpoint.cli.examples)}`,
  )
  addGlobals(leaf)
  leaf.action(async () => {
    const given = new Map<string, Given>()
    args.forEach((name, index) => {
      const value = leaf.processedArgs[index]
      if (value !== undefined && !(Array.isArray(value) && value.length === 0)) given.set(name, value)
    })
    const values = leaf.opts()
    for (const [name, key] of options) if (values[key] !== undefined) given.set(name, values[key])
    await run(endpoint, given, globalsOf(leaf))
  })
  return leaf
}

/** Finds or makes the command for these words; those on the way are groups. */
export function commandAt(program: Command, words: readonly string[]): Command {
  let command = program
  for (const word of words) {
    let next = command.commands.find(known => known.name() === word)
    if (!next) {
      next = command.command(word).helpOption('-h, --help', 'show this')
      next.copyInheritedSettings(command)
    }
    command = next
  }
  return command
}

/** Adds the flags of every subcommand. One that the subcommand uses for itself can still be given before the first word. */
export function addGlobals(command: Command, names: readonly string[] = globalFlags.map(flag => flag.name)): void {
  for (const flag of globalFlags) {
    if (!names.includes(flag.name) || command.options.some(option => option.long === `--${flag.name}`)) continue
    const option = new Option(flag.value ? `--${flag.name} <${flag.value}>` : `--${flag.name}`, flag.about)
    option.helpGroup('Flags of every subcommand:')
    ours.add(option)
    command.addOption(option)
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

export function examples(lines: readonly string[]): string {
  return `Examples:\n${lines.map(line => `  ${line}`).join('\n')}\n`
}

const ours = new WeakSet<Option>()

function argumentFor(name: string, param: Param, last: boolean): Argument {
  const needed = param.presence === 'required' || param.presence === 'path'
  const title = `${name.replaceAll('_', '-')}${last && isList(param.shape) ? '...' : ''}`
  return new Argument(needed ? `<${title}>` : `[${title}]`, aboutOf(param))
}

/** A closed set of words is the best name for itself. */
function usageOf(argument: Argument): string {
  const title = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${title}>` : `[${title}]`
}

/** Returns the key under which commander keeps the value. */
function addFlag(leaf: Command, flag: string, param: Param): string {
  if (isSwitch(param.shape)) return addSwitch(leaf, flag, param)
  const option = new Option(`--${flag} <${valueName(param.shape)}>`, aboutOf(param)).helpGroup('Flags:')
  if (isList(param.shape)) option.argParser((value: string, before: string[] = []) => [...before, value])
  leaf.addOption(option)
  return option.attributeName()
}

/** Both ways can be said; help shows the one that is not the default. */
function addSwitch(leaf: Command, flag: string, param: Param): string {
  const yes = new Option(`--${flag}`, aboutOf(param)).helpGroup('Flags:')
  const no = new Option(`--no-${flag}`, `not: ${param.about}`).helpGroup('Flags:')
  if (param.presence === 'defaulted') (param.fallback === true ? yes : no).hideHelp()
  leaf.addOption(yes).addOption(no)
  // Commander takes `--no-x` as a default of true; absent must stay absent.
  leaf.setOptionValue(yes.attributeName(), undefined)
  return yes.attributeName()
}

function aboutOf(param: Param): string {
  const remarks: string[] = []
  if (param.presence === 'required') remarks.push('required')
  if (param.presence === 'defaulted' && !isSwitch(param.shape)) remarks.push(`default ${shown(param.fallback)}`)
  if (isList(param.shape)) remarks.push('repeat it, or separate by commas')
  if (param.shape.ref === 'markdown') remarks.push('`-` reads stdin')
  return remarks.length > 0 ? `${param.about} (${remarks.join('; ')})` : param.about
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
