// The description of a subcommand that is not an endpoint: plain data, so that help, docs, man page and completions agree.

import type { GlobalFlag, Globals } from './globals.ts'

/** The name of an optional value is in brackets: `[USER]`. */
export interface ExtraFlag extends GlobalFlag {
  /** All values it takes, where they are few; for completions. */
  readonly values?: readonly string[]
  readonly repeatable?: boolean
}

export interface ExtraArgument {
  readonly name: string
  readonly about: string
  readonly optional?: boolean
  readonly many?: boolean
}

/** Subcommands that share their first word. */
interface SubcommandGroup {
  /** Empty if the catalogue explains the word, and these are only more verbs of it. */
  readonly about: string
  readonly load: () => Promise<readonly ExtraSubcommand[]>
}

/** By first word. */
export type SubcommandTable = Readonly<Record<string, SubcommandGroup>>

/** The parsed command line. */
export interface Invocation {
  readonly args: readonly string[]
  /** Everything after `--`, if it was given. */
  readonly rest?: readonly string[]
  /** By the flag's name: a text, texts of a repeatable flag, or true. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly globals: Globals
  /** Every subcommand that is not an endpoint, for help and completions. */
  readonly table: SubcommandTable
}

export interface ExtraSubcommand {
  /** All its words: `daemon start`. */
  readonly name: string
  readonly about: string
  readonly args?: readonly ExtraArgument[]
  readonly flags?: readonly ExtraFlag[]
  /** Passes unknown flags on to another program: their name in the usage line. */
  readonly passes?: string
  /** The flags of that program: shown in help, docs and completions, but not parsed here. */
  readonly passedFlags?: readonly ExtraFlag[]
  /** Takes a command of another program after `--`. */
  readonly runs?: true
  readonly examples: readonly [string, string, ...string[]]
  /** More help text. */
  readonly more?: string
  /** The global flags that make sense here; all if absent. */
  readonly globals?: readonly string[]
  /** For programs; not shown in help. */
  readonly hidden?: boolean
  run(call: Invocation): Promise<void>
}
