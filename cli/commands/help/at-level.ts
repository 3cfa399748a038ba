// `natter help --level N`: the subcommands of the API as they are at a feature level.

import { baseOf, type Endpoint, loadEndpoints } from '../../../daemon/api/define.ts'
import { catalogue } from '../../../daemon/api/index.ts'
import { endpointAt } from '../../../daemon/api/levels/endpoint-at.ts'
import { defaultLevel, versionAt } from '../../../daemon/api/levels/releases.ts'
import { spanText } from '../../../daemon/api/levels/span.ts'
import { flagIn, readCommandLine, withoutFlag } from '../../base/command-line.ts'
import { usage } from '../../base/failure.ts'
import { givenLevel } from '../../base/levels.ts'
import { flagName } from '../../input/flags.ts'

/** The level, and the words that are left: those after `help`. */
export function readLevelHelp(argv: readonly string[]): { readonly level?: number; readonly words: readonly string[] } {
  const { words } = readCommandLine(withoutFlag(argv, 'level'))
  return { level: givenLevel(flagIn(argv, 'level') ?? ''), words: words.slice(1) }
}

/** Refuses words that name a subcommand whose endpoint the level does not have. */
export async function refuseAbsent(words: readonly string[], level: number): Promise<void> {
  const named = (await loadEndpoints(Object.values(catalogue))).filter(({ cli }) =>
    cli.name.split(' ').every((word, at) => word === words[at]),
  )
  const [endpoint] = named
  if (!endpoint || named.some(one => endpointAt(one, level) !== undefined)) return
  const { cli, method, path } = endpoint
  throw usage(
    `level ${level} does not have natter ${cli.name} (${method} ${baseOf(endpoint)}${path}: ${spanText(endpoint)})`,
    `natter help ${cli.name} shows it without a level.`,
  )
}

/** What a level has that the default level does not have, by subcommand. */
export async function levelHelp(level: number): Promise<string> {
  const rows = (await loadEndpoints(Object.values(catalogue))).flatMap(endpoint => listAdditions(endpoint, level))
  const width = Math.max(...rows.map(([name]) => name.length), 0)
  const lines = rows.map(([name, what]) => `  ${name.padEnd(width)}  ${what}`)
  const listed =
    lines.length === 0
      ? `Its subcommands are those of level ${defaultLevel}.`
      : `What level ${defaultLevel} does not have:\n\n${lines.join('\n')}`
  return `Feature level ${level}, version ${versionAt(level)}. Start natterd --level ${level} to serve it.

${listed}

natter help SUBCOMMAND --level ${level} shows one as it is at this level.
natter levels diff ${defaultLevel} ${level} also lists what changed in replies and events.
`
}

function listAdditions(endpoint: Endpoint, level: number): (readonly [name: string, what: string])[] {
  const { cli } = endpoint
  const known = endpointAt(endpoint, level)
  if (!known) return []
  if (known.since > defaultLevel) return [[cli.name, `since level ${known.since}`]]
  return Object.entries(known.params).flatMap(([name, { since = 0 }]) =>
    since > defaultLevel ? [[cli.name, `--${flagName(endpoint, name)}, since level ${since}`] as const] : [],
  )
}
