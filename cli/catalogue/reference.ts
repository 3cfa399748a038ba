// Every subcommand as plain data, from the catalogue and from the table of the others: for `natter commands`, completions and the man page.

import { baseOf, type Endpoint, loadEndpoints } from '../../daemon/api/define.ts'
import { withSpan } from '../../daemon/api/levels/span.ts'
import type { ExtraFlag, SubcommandTable } from '../base/subcommand.ts'
import { flagName, isChoice, isList, isSwitch, valueName, wordName } from '../input/flags.ts'
import { controlGlobals, everydayFlags, mustGive, paramFor, wordsFor } from './everyday.ts'
import { buildForm as whole } from './forms.ts'
import { buildShortcut } from './shortcuts.ts'
import { allPages } from './words.ts'

export interface FlagEntry extends ExtraFlag {
  readonly required?: boolean
}

interface ArgumentEntry {
  readonly name: string
  readonly about: string
  readonly value: string
  readonly required: boolean
  readonly many: boolean
}

export interface Entry {
  readonly name: string
  readonly about: string
  readonly args: readonly ArgumentEntry[]
  readonly flags: readonly FlagEntry[]
  /** The global flags it accepts; absent for all. */
  readonly globals?: readonly string[]
  readonly examples: readonly string[]
  /** For subcommands of the API. */
  readonly route?: string
  readonly id?: string
  /** Whether it only reads, changes something on the server, or changes something on this machine. */
  readonly impact: 'read' | 'write' | 'local'
}

export async function reference(table: SubcommandTable): Promise<Entry[]> {
  const endpoints = await loadEndpoints(allPages())
  const others = (await Promise.all(Object.values(table).map(group => group.load()))).flat()
  return [
    ...endpoints.flatMap(endpoint => [
      buildEntry(whole(endpoint)),
      ...(endpoint.cli.shortcuts ?? []).map(shortcut =>
        buildEntry(buildShortcut(shortcut, endpoint), shortcut.switches ?? []),
      ),
    ]),
    ...others
      .filter(extra => !extra.hidden)
      .map(({ name, about, args = [], flags = [], passedFlags = [], globals, examples }) => ({
        name,
        about,
        args: args.map(({ name, about, optional = false, many = false }) => ({
          name,
          about,
          value: name,
          required: !optional,
          many,
        })),
        flags: [...flags, ...passedFlags],
        ...(globals && { globals }),
        examples,
        impact: 'local' as const,
      })),
  ]
}

function buildEntry(endpoint: Endpoint, flags = everydayFlags(endpoint)): Entry {
  const { cli, summary, method, path, params } = endpoint
  const args = wordsFor(endpoint)
  return {
    name: cli.name,
    about: summary,
    args: args.map(name => {
      const { shape, about } = paramFor(endpoint, name)
      const many = isList(shape) && name === args.at(-1)
      return {
        name: wordName(name, shape),
        about,
        value: valueName(shape),
        required: mustGive(endpoint, name),
        many,
      }
    }),
    flags: [
      ...flags.map(({ name, value, about }) => ({ name, about, ...(value && { value }) })),
      ...Object.entries(params)
        .filter(([name]) => !args.includes(name))
        .map(([name, param]) => ({
          name: flagName(endpoint, name),
          ...(!isSwitch(param.shape) && { value: valueName(param.shape) }),
          about: withSpan(param.about, param),
          ...(mustGive(endpoint, name) && { required: true }),
          ...(isList(param.shape) && !isChoice(param.shape) && { repeatable: true }),
        })),
    ],
    ...(endpoint.access === 'control' && { globals: controlGlobals }),
    examples: cli.examples,
    route: `${method} ${baseOf(endpoint)}${path}`,
    id: endpoint.id,
    impact: method === 'GET' ? 'read' : 'write',
  }
}
