// The arguments of one run, read once: which global flags come first, which words name the subcommand, and what belongs to another
// program. Everything else is left to the parser of the subcommand, which is loaded by these words.

import { globalFlags } from './globals.ts'

export interface CommandLine {
  readonly argv: readonly string[]
  /** Flags before the first word, and their values. */
  readonly leading: readonly string[]
  /** The first word and those that follow it, up to a flag: a noun, its verb, and arguments. */
  readonly words: readonly string[]
  /** Everything after `--`, which is for another program; absent without it. */
  readonly rest?: readonly string[]
  /** Whether a flag was given, by its name. */
  has(flag: string): boolean
}

export function readCommandLine(argv: readonly string[]): CommandLine {
  const dashes = argv.indexOf('--')
  const own = dashes < 0 ? argv : argv.slice(0, dashes)
  let start = 0
  while (start < own.length && isFlag(own[start]!)) start += takesValue(own[start]!) ? 2 : 1
  const leading = own.slice(0, start)
  const end = own.findIndex((word, at) => at >= start && isFlag(word))
  return {
    argv,
    leading,
    words: own.slice(start, end < 0 ? own.length : end),
    ...(dashes >= 0 && { rest: argv.slice(dashes + 1) }),
    has: flag => own.some(word => word === `--${flag}` || word.startsWith(`--${flag}=`)),
  }
}

/** The same line with a verb after its noun: `natter requests --follow` is `natter requests list --follow`. */
export function addVerb({ argv, leading }: CommandLine, verb: string): CommandLine {
  const at = leading.length + 1
  return readCommandLine([...argv.slice(0, at), verb, ...argv.slice(at)])
}

/** The value of a flag in arguments for natterd: `--data DIR` or `--data=DIR`; the last one counts. */
export function flagIn(args: readonly string[], name: string): string | undefined {
  let value: string | undefined
  args.forEach((item, index) => {
    if (item === `--${name}`) value = args[index + 1]
    else if (item.startsWith(`--${name}=`)) value = item.slice(name.length + 3)
  })
  return value
}

export function withoutFlag(args: readonly string[], name: string): string[] {
  return args.filter(
    (item, index) => item !== `--${name}` && !item.startsWith(`--${name}=`) && args[index - 1] !== `--${name}`,
  )
}

/** A dash alone is a word: stdin. */
function isFlag(word: string): boolean {
  return word.startsWith('-') && word !== '-'
}

function takesValue(word: string): boolean {
  return globalFlags.some(({ name, value }) => value !== undefined && word === `--${name}`)
}
