// `natter commands`: lists every subcommand, for programs and people.

import { exitCodes, Failure } from '../../base/failure.ts'
import { formatFlags } from '../../base/globals.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { print } from '../../base/writer.ts'
import { printFormatted } from '../../print/output.ts'

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'commands',
    about:
      'List every subcommand; with --json, also its route, arguments, flags, examples and whether it changes anything',
    args: [{ name: 'word', about: 'only subcommands with this word in their name or description', optional: true }],
    globals: [...formatFlags, 'color', 'quiet'],
    examples: [
      'natter commands',
      'natter commands topic --json',
      'natter commands --jq \'.[] | select(.impact=="read").name\'',
    ],
    async run({ args, globals, table }) {
      const { reference } = await import('../../catalogue/reference.ts')
      const word = args[0]?.toLowerCase() ?? ''
      const found = (await reference(table)).filter(({ name, about }) =>
        `${name} ${about}`.toLowerCase().includes(word),
      )
      if (await printFormatted(found, globals)) return
      if (found.length === 0)
        throw new Failure(exitCodes.notFound, `no subcommand has "${args[0]}" in its name or description`, {
          hint: 'Run `natter commands` to see all of them.',
        })
      const width = Math.max(...found.map(({ name }) => name.length))
      for (const { name, about } of found) print(`${name.padEnd(width)}  ${about}\n`)
    },
  },
]
