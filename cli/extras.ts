// Subcommands that no endpoint describes. Each is loaded only when it is named.

import type { Command } from 'commander'

export interface Extra {
  readonly about: string
  /** Adds the subcommand to the program. */
  readonly load: () => Promise<(program: Command) => void>
}

export const extras: Readonly<Record<string, Extra>> = {
  daemon: {
    about: 'run, start, stop and watch a daemon on this machine',
    load: async () => (await import('./extra/daemon.ts')).addDaemon,
  },
  api: {
    about: 'call any route: natter api POST /typing -f op=start',
    load: async () => (await import('./extra/api.ts')).addApi,
  },
}
