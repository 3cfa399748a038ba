// Rules that hold for the subcommand of every endpoint.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readCommandLine } from '../../cli/base/command-line.ts'
import { globalFlags } from '../../cli/base/globals.ts'
import type { ExtraFlag } from '../../cli/base/subcommand.ts'
import { fillIn } from '../../cli/catalogue/everyday.ts'
import { buildForm as whole } from '../../cli/catalogue/forms.ts'
import { buildShortcut, buildTarget, saidBy } from '../../cli/catalogue/shortcuts.ts'
import { addEndpoint, newProgram } from '../../cli/catalogue/subcommands.ts'
import { flagName, type Given } from '../../cli/input/flags.ts'
import { controlPages } from '../../daemon/api/control.ts'
import type { Endpoint, Page } from '../../daemon/api/define.ts'
import { catalogue } from '../../daemon/api/index.ts'

const pages = await Promise.all(
  [...Object.entries<Page>(catalogue), ...Object.entries<Page>(controlPages)].map(async ([name, page]) => ({
    name,
    page,
    endpoints: Object.values<Endpoint>(await page.load()).filter(endpoint => endpoint.served !== 'outgoing'),
  })),
)

const uses = pages.flatMap(({ endpoints }) =>
  endpoints.flatMap(endpoint => (endpoint.cli.shortcuts ?? []).map(shortcut => ({ endpoint, shortcut }))),
)

/** Fields that fit beside each other without choosing. */
const widestTable = 7

describe('every endpoint', () => {
  for (const { name, page, endpoints } of pages)
    for (const endpoint of endpoints)
      test(`${endpoint.id} has a subcommand that its examples fit`, async () => {
        const { cli } = endpoint
        assert.ok(page.words.includes(cli.name.split(' ')[0]!), `${name} does not list the first word of "${cli.name}"`)
        for (const param of [...(cli.args ?? []), ...Object.keys(cli.flags ?? {})])
          assert.ok(Object.hasOwn(endpoint.params, param), `"${cli.name}" names an unknown param ${param}`)
        assert.ok(cli.examples.length >= 2)
        for (const example of cli.examples) {
          const form = whole(endpoint)
          const filled = await fillIn(form, await parsed(form, example), nobody)
          const given = new Set([...filled.given.keys(), ...Object.keys(filled.values)])
          for (const [param, { presence, shape }] of Object.entries(form.params))
            if ((presence === 'required' || presence === 'path') && shape.ref !== 'secret')
              assert.ok(given.has(param), `${example} lacks ${param}`)
        }
      })

  for (const endpoint of pages.flatMap(({ endpoints }) => endpoints)) {
    const { shows, columns } = endpoint.cli
    const fields = Object.keys(endpoint.reply)
    const shown = endpoint.reply[shows ?? (fields.length === 1 ? fields[0]! : '')]
    // What is not a list is a record, whose fields can be chosen too.
    const record = shows && shown?.properties ? Object.keys(shown.properties) : fields
    const known = shown?.items || !columns ? Object.keys(shown?.items?.properties ?? {}) : record
    // Messages and logs have a form of their own.
    if (known.length <= widestTable && !columns) continue
    if (shows === 'messages' || endpoint.cli.log) continue
    test(`${endpoint.id} shows a table of fields that there are, and not of too many`, () => {
      assert.ok(columns, `"${endpoint.cli.name}" lists ${known.length} fields and names no columns`)
      for (const column of columns) assert.ok(known.includes(column), column)
    })
  }

  for (const { endpoint, shortcut } of uses)
    test(`${shortcut.cli.name} fits the endpoint it is a use of`, async () => {
      const sets = [shortcut.sets ?? {}, ...(shortcut.switches ?? []).map(item => item.sets)].flatMap(Object.keys)
      for (const param of [...shortcut.params, ...sets]) assert.ok(endpoint.params[param], `no param ${param}`)
      for (const example of shortcut.cli.examples) {
        const given = saidBy(shortcut, await parsed(buildShortcut(shortcut, endpoint), example, shortcut.switches))
        const filled = await fillIn(buildTarget(shortcut, endpoint), given, nobody)
        for (const [param, { presence }] of Object.entries(endpoint.params))
          if (presence === 'required' || presence === 'path')
            assert.ok(filled.given.has(param) || param in filled.values, `${example} lacks ${param}`)
      }
    })

  test('has a subcommand with a name that no other has', () => {
    const names = pages.flatMap(({ endpoints }) => endpoints.map(endpoint => endpoint.cli.name))
    names.push(...uses.map(({ shortcut }) => shortcut.cli.name))
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    )
  })

  test('has no flag with the name of a global flag', () => {
    const taken = new Set([...globalFlags.map(flag => flag.name), 'help'])
    for (const { endpoints } of pages)
      for (const endpoint of endpoints)
        for (const param of Object.keys(endpoint.params))
          if (!endpoint.cli.args?.includes(param))
            assert.ok(
              !taken.has(flagName(endpoint, param)),
              `${endpoint.cli.name}: --${flagName(endpoint, param)} is taken`,
            )
  })
})

/** Examples are read, not sent, so any ID will do for a name. */
const nobody = {
  names: { find: async () => 1, channelName: async () => 'lunch' },
  now: async () => new Date(),
  stdin: async () => '',
  piped: true,
  secret: async () => '',
}

/** What the subcommand understands of an example line; pipes before it are left out. */
async function parsed(
  endpoint: Endpoint,
  example: string,
  flags?: readonly ExtraFlag[],
): Promise<ReadonlyMap<string, Given>> {
  const words = shellWords(example)
  const start = words.indexOf('natter')
  assert.ok(start >= 0, `"${example}" does not call natter`)
  let found: ReadonlyMap<string, Given> | undefined
  const program = newProgram()
  addEndpoint(
    program,
    endpoint,
    async (_, given) => {
      found = given
    },
    readCommandLine(words.slice(start + 1)),
    flags,
  )
  await program.parseAsync(words.slice(start + 1), { from: 'user' })
  assert.ok(found, `"${example}" does not reach ${endpoint.cli.name}`)
  return found
}

/** Enough of a shell for lines to copy: quotes, and words until a pipe or a redirection after natter. */
function shellWords(line: string): string[] {
  const words = [...line.matchAll(/(?:'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"])+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"/g, (_, single, double) => single ?? double.replace(/\\(.)/g, '$1')),
  )
  const natter = words.indexOf('natter')
  const end = words.findIndex((word, index) => index > natter && ['|', '>', '<', '&&'].includes(word))
  return end < 0 ? words : words.slice(0, end)
}
