// The flags of natterd as the command line shows them, for the subcommands that pass them on.

import { type DaemonFlagName, daemonFlagList } from '../../../../daemon/local/flags.ts'
import type { ExtraFlag } from '../../../base/subcommand.ts'

/** All but those that the subcommand sets itself. */
export function daemonFlagsBut(...own: readonly DaemonFlagName[]): ExtraFlag[] {
  return flagsWhere(name => !own.includes(name))
}

export function daemonFlagsOnly(...names: readonly DaemonFlagName[]): ExtraFlag[] {
  return flagsWhere(name => names.includes(name))
}

function flagsWhere(isWanted: (name: DaemonFlagName) => boolean): ExtraFlag[] {
  return daemonFlagList
    .filter(([name]) => isWanted(name))
    .map(([name, { takes, about, fallback, choices }]) => ({
      name,
      ...(takes && { value: takes }),
      ...(choices && { values: choices }),
      about: fallback ? `${about} (default ${fallback})` : about,
    }))
}
