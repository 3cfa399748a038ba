// Mistakes on the command line that the parser found, and what to do about them.

import type { CommandLine } from '../base/command-line.ts'
import { exitCodes, Failure } from '../base/failure.ts'
import { settingsFor } from '../base/settings.ts'
import { type Command, type Option, pathOf } from './subcommands.ts'

/** Whether the subcommand has arguments, so that one of them can be a text. */
export function takesArguments(program: Command, line: CommandLine): boolean {
  return findCommand(program, line).registeredArguments.length > 0
}

/** The flags of the subcommand that these words name. */
export function listFlags(program: Command, line: CommandLine): string[] {
  return findCommand(program, line).options.flatMap(({ long }) => long ?? [])
}

function findCommand(program: Command, { words }: CommandLine): Command {
  return words.reduce((found, word) => found.commands.find(known => known.name() === word) ?? found, program)
}

/** The same failure, about a flag as it was given: by its letter, or by a variable or the config file. */
export function nameAsGiven(failure: Failure, program: Command, line: CommandLine): Failure {
  const { exit, message: sentence } = failure
  // Sentences of a server are none of ours.
  const [, name] = (exit === exitCodes.usage && /^--([\w-]+)/.exec(sentence)) || []
  if (name === undefined || line.has(name)) return failure
  const isMeant = ({ long, description }: Option) => long === `--${name}` || description === `the same as --${name}`
  const meant = findCommand(program, line).options.filter(isMeant)
  const letter = meant.map(({ short }) => short).find(short => short && line.argv.some(word => word.startsWith(short)))
  const given = letter ?? settingsFor(process.env).find(setting => setting.name === name)?.from
  return given === undefined ? failure : new Failure(exit, sentence.replace(`--${name}`, given), { ...failure })
}

/** Of an argument that is missing, it says what it is, and after what it comes. */
export function suggestHelp(program: Command, line: CommandLine, { code }: { readonly code: string }): string {
  const command = findCommand(program, line)
  const see = `See ${pathOf(command)} --help`
  if (code === 'commander.excessArguments' && command.registeredArguments.length > 0) {
    const many = listFlags(program, line).includes('--batch') ? ' For several calls, use --batch, or xargs -n 1.' : ''
    return `Put quotes around a text with spaces.${many} ${see}`
  }
  if (code !== 'commander.missingArgument') return see
  const known = command.registeredArguments
  const at = known.findIndex(({ required }, index) => required && command.args[index] === undefined)
  const [before, missing] = [known[at - 1], known[at]]
  const after = before?.description ? `, after ${before.name()} (${before.description})` : ''
  return missing?.description ? `${missing.name()}: ${missing.description}${after}. ${see}` : see
}
