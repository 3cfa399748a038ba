// The flags of natterd as the command line shows them, for the subcommands that pass them on.

import { type DaemonFlagName, daemonFlagList } from '../../../daemon/api/local.ts'
import type { ExtraFlag } from '../../base/subcommand.ts'

/** All but those that the subcommand sets itself. */
export function daemonFlagsBut(...own: readonly DaemonFlagName[]): ExtraFlag[] {
  return daemonFlagList
    .filter(([name]) => !own.includes(name))
    .map(([name, { takes, about, fallback, choices }]) => ({
      name,
      ...(takes && { value: takes }),
      ...(choices && { values: choices }),
      about: fallback ? `${about} (default ${fallback})` : about,
    }))
}
