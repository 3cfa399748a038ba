// cli.md: every subcommand. Those of endpoints come from the catalogue, the others from the command line's own tables.

import type { Endpoint, Param } from '../../daemon/api/define.ts'
import { presence } from './api.ts'
import { anchor, code, codeBlock, page, table } from './markdown.ts'
import { shapeText } from './shape-text.ts'
import type { CatalogueResource } from './sources.ts'

/** A subcommand that no endpoint describes. */
export interface ExtraSubcommand {
  readonly name: string
  readonly about: string
  readonly usage?: string
  readonly flags?: readonly GlobalFlag[]
  readonly examples: readonly string[]
}

/** A flag that every subcommand understands. */
export interface GlobalFlag {
  readonly name: string
  readonly value?: string
  readonly about: string
}

/** What the command line adds to the catalogue: hand its own tables to `cliPage` here. */
const extraSubcommands: readonly ExtraSubcommand[] = []
const globalFlags: readonly GlobalFlag[] = []

export function cliPage(
  resources: readonly CatalogueResource[],
  extras: readonly ExtraSubcommand[] = extraSubcommands,
  globals: readonly GlobalFlag[] = globalFlags,
): string {
  return page(
    'Command line reference',
    'Every endpoint is a subcommand of `natter`. `natter api METHOD PATH -f name=value` calls any endpoint by its path.',
    contents(resources, extras),
    globals.length > 0 ? `## Flags of every subcommand\n\n${flagTable(globals)}` : '',
    ...resources.flatMap(({ endpoints }) => endpoints.flatMap(endpointParts)),
    ...extras.flatMap(extraParts),
  )
}

/** `--last-event-id` for `last_event_id`, unless the catalogue names it otherwise. */
export function flagOf(endpoint: Endpoint, param: string): string {
  return `--${endpoint.cli.flags?.[param] ?? param.replaceAll('_', '-')}`
}

function contents(resources: readonly CatalogueResource[], extras: readonly ExtraSubcommand[]): string {
  const link = (name: string) => `[natter ${name}](#${anchor(`natter ${name}`)})`
  const rows = resources.flatMap(({ endpoints }) => endpoints.map(({ cli, summary }) => [link(cli.name), summary]))
  return table(['Subcommand', 'What it does'], [...rows, ...extras.map(({ name, about }) => [link(name), about])])
}

function endpointParts(endpoint: Endpoint): string[] {
  const { cli, summary, method, path, params } = endpoint
  const args = cli.args ?? []
  const flags = Object.entries(params).filter(([name]) => !args.includes(name))
  return [
    `## natter ${cli.name}`,
    `${summary}. Calls [${method} ${path}](api.md#${anchor(`${method} ${path}`)}).`,
    codeBlock('sh', usage(endpoint)),
    table(
      ['Argument', 'Type', 'Presence', 'About'],
      args.map(name => row(code(placeholder(name)), params[name]!)),
    ),
    table(
      ['Flag', 'Type', 'Presence', 'About'],
      flags.map(([name, param]) => row(code(flagOf(endpoint, name)), param)),
    ),
    codeBlock('sh', cli.examples.join('\n')),
  ]
}

function usage(endpoint: Endpoint): string {
  const { cli, params } = endpoint
  const args = (cli.args ?? []).map(name => (isNeeded(params[name]!) ? placeholder(name) : `[${placeholder(name)}]`))
  const others = Object.entries(params).filter(([name]) => !cli.args?.includes(name))
  const needed = others
    .filter(([, param]) => isNeeded(param))
    .map(([name]) => `${flagOf(endpoint, name)} ${placeholder(name)}`)
  const rest = others.length > needed.length ? ['[flags]'] : []
  return ['natter', cli.name, ...args, ...needed, ...rest].join(' ')
}

function extraParts({ name, about, usage, flags = [], examples }: ExtraSubcommand): string[] {
  return [
    `## natter ${name}`,
    about,
    usage ? codeBlock('sh', usage) : '',
    flagTable(flags),
    codeBlock('sh', examples.join('\n')),
  ]
}

function flagTable(flags: readonly GlobalFlag[]): string {
  return table(
    ['Flag', 'About'],
    flags.map(({ name, value, about }) => [code(`--${name}${value ? ` ${value}` : ''}`), about]),
  )
}

function row(name: string, param: Param): string[] {
  return [name, shapeText(param.shape), param.presence === 'path' ? 'required' : presence(param), param.about]
}

function placeholder(name: string): string {
  return name.toUpperCase()
}

function isNeeded({ presence }: Param): boolean {
  return presence === 'required' || presence === 'path'
}
