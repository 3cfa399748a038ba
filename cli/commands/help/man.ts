// The man page, from the same tables as the help: `natter help --man | man -l -`.

import { type GlobalFlag, globalFlags } from '../../base/globals.ts'
import type { SubcommandTable } from '../../base/subcommand.ts'
import { version } from '../../base/version.ts'
import { type Entry, reference } from '../../catalogue/reference.ts'
import { topics } from './topics.ts'

export async function manPage(table: SubcommandTable): Promise<string> {
  const entries = await reference(table)
  // What `help all` and `help flags` say is here anyway.
  const others = Object.entries(topics).filter(([name]) => name !== 'all' && name !== 'flags')
  const sections = await Promise.all(others.map(async ([name, topic]) => [name, await topic.text(table)] as const))
  return [
    `.TH NATTER 1 "" "natter ${version()}" "User Commands"`,
    '.SH NAME',
    'natter \\- team chat from the command line',
    '.SH SYNOPSIS',
    '.B natter',
    '.I noun',
    '.RI [ verb ]',
    '.RI [ arguments ]',
    '.RI [ flags ]',
    '.SH SUBCOMMANDS',
    ...entries.flatMap(entryLines),
    '.SH FLAGS OF EVERY SUBCOMMAND',
    ...globalFlags.flatMap(flagLines),
    ...sections.flatMap(([name, text]) => [
      `.SH ${name.toUpperCase().replace('-', ' ')}`,
      '.nf',
      ...text.trimEnd().split('\n').map(escapeRoff),
      '.fi',
    ]),
    '.SH SEE ALSO',
    'natterd \\-\\-help',
    '',
  ].join('\n')
}

function entryLines({ name, about, args, flags, examples, route }: Entry): string[] {
  const words = args.map(({ name, required, many }) => {
    const title = `${name.replaceAll('_', '-')}${many ? '...' : ''}`
    return required ? `<${title}>` : `[${title}]`
  })
  return [
    `.SS natter ${[name, ...words].map(escapeRoff).join(' ')}`,
    `${escapeRoff(about)}${route ? escapeRoff(` (${route})`) : ''}`,
    ...flags.flatMap(flagLines),
    '.PP',
    '.nf',
    ...examples.map(line => `    ${escapeRoff(line)}`),
    '.fi',
  ]
}

function flagLines({ name, short, value, about }: GlobalFlag): string[] {
  const both = `${short ? `-${short}, ` : ''}--${name}`
  return ['.TP', `.B ${escapeRoff(both)}${value ? ` ${escapeRoff(value)}` : ''}`, escapeRoff(about)]
}

/** Escapes dashes, backslashes, and dots and quotes that would be requests at the start of a line. */
function escapeRoff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1')
}
