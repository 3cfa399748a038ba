// cli.md: every subcommand. Those of endpoints come from the catalogue, the others from the command line's own tables.

import { batchFlags, type GlobalFlag, globalFlags } from '../../cli/base/globals.ts'
import type { ExtraArgument, ExtraFlag, ExtraSubcommand } from '../../cli/base/subcommand.ts'
import { everydayFlags, mustGive, paramFor, wordsFor } from '../../cli/catalogue/everyday.ts'
import { buildForm as whole } from '../../cli/catalogue/forms.ts'
import { buildShortcut } from '../../cli/catalogue/shortcuts.ts'
import { subcommandTable } from '../../cli/command-table.ts'
import { wordName } from '../../cli/input/flags.ts'

import type { Endpoint } from '../../daemon/api/define.ts'
import { withSpan } from '../../daemon/api/levels/span.ts'
import { presence } from './api.ts'
import { anchor, code, codeBlock, page, table } from './markdown.ts'
import { shapeText } from './shape-text.ts'
import type { CatalogueResource } from './sources.ts'

/** What the command line adds to the catalogue, from its own tables. */
const extraSubcommands = (await Promise.all(Object.values(subcommandTable).map(group => group.load())))
  .flat()
  .filter(extra => !extra.hidden)

export function cliPage(resources: readonly CatalogueResource[]): string {
  return page(
    'Command line reference',
    'Every endpoint is a subcommand of `natter`. `natter api METHOD PATH -f name=value` calls any endpoint by its path.',
    contents(resources, extraSubcommands),
    `## Flags of most subcommands\n\n${flagTable(globalFlags)}`,
    `## Flags of every subcommand of the API\n\n${flagTable(batchFlags)}`,
    ...resources.flatMap(({ endpoints }) => endpoints.flatMap(formsOf).flatMap(form => endpointParts(...form))),
    ...extraSubcommands.flatMap(extraParts),
  )
}

/** `--last-event-id` for `last_event_id`, unless the catalogue names it otherwise. */
function flagOf(endpoint: Endpoint, param: string): string {
  return `--${endpoint.cli.flags?.[param] ?? param.replaceAll('_', '-')}`
}

function contents(resources: readonly CatalogueResource[], extras: readonly ExtraSubcommand[]): string {
  const link = (name: string) => `[natter ${name}](#${anchor(`natter ${name}`)})`
  const rows = resources.flatMap(({ endpoints }) =>
    endpoints.flatMap(formsOf).map(([{ cli, summary }]) => [link(cli.name), summary]),
  )
  return table(['Subcommand', 'What it does'], [...rows, ...extras.map(({ name, about }) => [link(name), about])])
}

/** The endpoint's own subcommand, and the everyday names of some of its uses. */
function formsOf(endpoint: Endpoint): [Endpoint, readonly ExtraFlag[]][] {
  // natterd sends these itself; they have no subcommand.
  if (endpoint.served === 'outgoing') return []
  const uses = endpoint.cli.shortcuts ?? []
  return [
    [whole(endpoint), everydayFlags(whole(endpoint))],
    ...uses.map((use): [Endpoint, readonly ExtraFlag[]] => [buildShortcut(use, endpoint), use.switches ?? []]),
  ]
}

function endpointParts(endpoint: Endpoint, everyday: readonly ExtraFlag[]): string[] {
  const { cli, summary, method, path, params } = endpoint
  const args = wordsFor(endpoint)
  const flags = Object.entries(params).filter(([name]) => !args.includes(name))
  return [
    `## natter ${cli.name}`,
    `${summary}. Calls [${method} ${path}](${endpoint.access === 'control' ? 'control' : 'api'}.md#${anchor(`${method} ${path}`)}).`,
    codeBlock('sh', usage(endpoint)),
    table(
      ['Argument', 'Type', 'Presence', 'About'],
      args.map(name => row(code(word(name, endpoint)), endpoint, name)),
    ),
    table(
      ['Flag', 'Type', 'Presence', 'About'],
      flags.map(([name]) => row(code(flagOf(endpoint, name)), endpoint, name)),
    ),
    flagTable(everyday),
    codeBlock('sh', cli.examples.join('\n')),
  ]
}

function usage(endpoint: Endpoint): string {
  const { cli, params } = endpoint
  const args = wordsFor(endpoint).map(name =>
    mustGive(endpoint, name) ? word(name, endpoint) : `[${word(name, endpoint)}]`,
  )
  const others = Object.entries(params).filter(([name]) => !wordsFor(endpoint).includes(name))
  const needed = others
    .filter(([name]) => mustGive(endpoint, name))
    .map(([name]) => `${flagOf(endpoint, name)} ${placeholder(name)}`)
  const rest = others.length > needed.length ? ['[flags]'] : []
  return ['natter', cli.name, ...args, ...needed, ...rest].join(' ')
}

function extraParts(extra: ExtraSubcommand): string[] {
  const { name, about, args = [], flags = [], passedFlags, more, examples } = extra
  return [
    `## natter ${name}`,
    about.endsWith('.') ? about : `${about}.`,
    codeBlock('sh', `natter ${name} ${extra.passes ?? extraUsage(extra)}`.trimEnd()),
    table(
      ['Argument', 'About'],
      args.map(argument => [code(argumentText(argument)), argument.about]),
    ),
    flagTable(flags),
    passedFlags ? 'The flags of the daemon are those of [natterd](daemon.md#flags).' : '',
    more ? codeBlock('text', more) : '',
    codeBlock('sh', examples.join('\n')),
  ]
}

function extraUsage({ args = [], flags = [] }: ExtraSubcommand): string {
  return [...args.map(argumentText), ...(flags.length > 0 ? ['[flags]'] : [])].join(' ')
}

function argumentText({ name, optional, many }: ExtraArgument): string {
  const title = `${placeholder(name)}${many ? '...' : ''}`
  return optional ? `[${title}]` : title
}

function flagTable(flags: readonly (GlobalFlag | ExtraFlag)[]): string {
  return table(
    ['Flag', 'About'],
    flags.map(flag => {
      const short = 'short' in flag && flag.short ? `-${flag.short}, ` : ''
      return [code(`${short}--${flag.name}${flag.value ? ` ${flag.value}` : ''}`), flag.about]
    }),
  )
}

function row(title: string, endpoint: Endpoint, name: string): string[] {
  const param = paramFor(endpoint, name)
  const isOptional = (param.presence === 'required' || param.presence === 'path') && !mustGive(endpoint, name)
  return [
    title,
    shapeText(param.shape),
    isOptional ? 'optional' : param.presence === 'path' ? 'required' : presence(param),
    withSpan(param.about, param),
  ]
}

function word(name: string, endpoint: Endpoint): string {
  const { shape } = paramFor(endpoint, name)
  return shape.ref ? wordName(name, shape).toUpperCase() : placeholder(name)
}

function placeholder(name: string): string {
  return name.toUpperCase()
}
