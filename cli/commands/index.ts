// Subcommands that no endpoint describes. Each is loaded only when it is named; the form they have is plain data, so that
// the docs, the man page and completions print the same as the help does.

import type { Globals } from '../base/globals.ts'

export interface ExtraFlag {
  readonly name: string
  /** One letter. */
  readonly short?: string
  /** What its value is called; absent for a switch. In brackets when it may be left out: `[USER]`. */
  readonly value?: string
  /** All values it takes, where they are few; for completions. */
  readonly values?: readonly string[]
  readonly about: string
  readonly repeatable?: boolean
}

export interface ExtraArgument {
  readonly name: string
  readonly about: string
  readonly optional?: boolean
  readonly many?: boolean
}

/** What was on the command line. */
export interface Invocation {
  readonly args: readonly string[]
  /** What stood after `--`, if that did. */
  readonly rest?: readonly string[]
  /** By the flag's name: a text, texts of a repeatable flag, or true. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly globals: Globals
}

export interface ExtraSubcommand {
  /** All its words: `daemon start`. */
  readonly name: string
  readonly about: string
  readonly args?: readonly ExtraArgument[]
  readonly flags?: readonly ExtraFlag[]
  /** Hands what it does not know on to another program: the name of that in the usage line. */
  readonly passes?: string
  /** The flags of that program: shown in help, docs and completions, but not parsed here. */
  readonly passedFlags?: readonly ExtraFlag[]
  readonly examples: readonly [string, string, ...string[]]
  /** What else there is to say. */
  readonly more?: string
  /** Those of the flags of every subcommand that make sense here; all when absent. */
  readonly globals?: readonly string[]
  /** Works, but is no business of people's. */
  readonly hidden?: boolean
  run(call: Invocation): Promise<void>
}

export interface Extra {
  readonly about: string
  readonly hidden?: boolean
  readonly load: () => Promise<readonly ExtraSubcommand[]>
}

export const extras: Readonly<Record<string, Extra>> = {
  tail: {
    about: 'print messages and other events as they come',
    load: async () => (await import('./tail/index.ts')).tail,
  },
  wait: {
    about: 'wait for an event: exit code 0 when it came, 8 when it did not',
    load: async () => (await import('./wait.ts')).wait,
  },
  exec: {
    about: 'run a command with a daemon of its own: natter exec -- npm test',
    load: async () => (await import('./exec.ts')).exec,
  },
  daemon: {
    about: 'run, start, stop and watch a daemon on this machine',
    load: async () => (await import('./daemon/index.ts')).daemon,
  },
  clock: {
    about: 'fixtures: stop, move and let go the time of a daemon',
    load: async () => (await import('./control/clock.ts')).clock,
  },
  reset: {
    about: 'fixtures: put a daemon back to how it began',
    load: async () => (await import('./control/snapshots.ts')).reset,
  },
  snapshot: {
    about: 'fixtures: save a state of a daemon by name, and go back to it',
    load: async () => (await import('./control/snapshots.ts')).snapshot,
  },
  faults: {
    about: 'fixtures: let calls go wrong',
    load: async () => (await import('./control/faults.ts')).faults,
  },
  requests: {
    about: 'fixtures: the calls that a daemon was sent',
    load: async () => (await import('./control/logs.ts')).requests,
  },
  outbox: {
    about: 'fixtures: the mails that a daemon wrote',
    load: async () => (await import('./control/logs.ts')).outbox,
  },
  webhooks: {
    about: 'fixtures: what the servers of outgoing webhook bots were sent',
    load: async () => (await import('./control/logs.ts')).webhooks,
  },
  accounts: {
    about: 'fixtures: everybody, with their API keys',
    load: async () => (await import('./control/logs.ts')).accounts,
  },
  queues: {
    about: 'fixtures: the event queues of everybody',
    load: async () => (await import('./control/logs.ts')).queues,
  },
  login: {
    about: 'fetch an API key with a password, and save it',
    load: async () => (await import('./profile.ts')).login,
  },
  profile: {
    about: 'saved sites, accounts and keys',
    load: async () => (await import('./profile.ts')).profile,
  },
  config: {
    about: 'where the server and the account come from',
    load: async () => (await import('./profile.ts')).config,
  },
  api: {
    about: 'call any route: natter api POST /typing -f op=start',
    load: async () => (await import('./api.ts')).api,
  },
  completion: {
    about: 'completion scripts for bash, zsh and fish',
    load: async () => (await import('./completion.ts')).completion,
  },
  doctor: {
    about: 'check what natter needs, and say what to do',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  commands: {
    about: 'list every subcommand; with --json, for programs',
    load: async () => (await import('./commands.ts')).commands,
  },
  __complete: {
    about: '',
    hidden: true,
    load: async () => (await import('./completion.ts')).complete,
  },
}
