// Mistakes on the command line that the parser found, and what to do about them.

import type { CommandLine } from '../base/command-line.ts'
import { type Command, pathOf } from './subcommands.ts'

/** The flags of the subcommand that these words name. */
export function listFlags(program: Command, line: CommandLine): string[] {
  return findCommand(program, line).options.flatMap(({ long }) => long ?? [])
}

function findCommand(program: Command, { words }: CommandLine): Command {
  return words.reduce((found, word) => found.commands.find(known => known.name() === word) ?? found, program)
}

/** Of an argument that is missing, it says what it is, and after what it comes. */
export function suggestHelp(program: Command, line: CommandLine, { code }: { readonly code: string }): string {
  const command = findCommand(program, line)
  const see = `See ${pathOf(command)} --help`
  if (code === 'commander.excessArguments' && command.registeredArguments.length > 0)
    return `Put quotes around a text with spaces. ${see}`
  if (code !== 'commander.missingArgument') return see
  const known = command.registeredArguments
  const at = known.findIndex(({ required }, index) => required && command.args[index] === undefined)
  const [before, missing] = [known[at - 1], known[at]]
  const after = before?.description ? `, after ${before.name()} (${before.description})` : ''
  return missing?.description ? `${missing.name()}: ${missing.description}${after}. ${see}` : see
}
