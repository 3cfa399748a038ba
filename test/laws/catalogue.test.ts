// Laws of the catalogue itself: what every page of it must be.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { globalFlags } from '../../cli/base/globals.ts'
import { everydayFlags } from '../../cli/catalogue/everyday.ts'
import type { Endpoint, Page } from '../../daemon/api/define.ts'
import { type CodeEntry, commonCodes, errorCodes } from '../../daemon/api/errors.ts'
import { catalogue } from '../../daemon/api/index.ts'
import { newestLevel } from '../../daemon/api/levels/releases.ts'
import { decode, encode } from '../../daemon/api/wire.ts'
import { resources } from '../../daemon/domain/index.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'

const entries = await catalogueEndpoints()
const endpoints = entries.map(({ endpoint }) => endpoint)

describe('the catalogue', () => {
  test('an ID, a method with a path, and a subcommand name one endpoint each', () => {
    assert.deepEqual(twice(endpoints.map(({ id }) => id)), [])
    // A number and a text in the same place are two paths.
    const shapeOf = (endpoint: Endpoint) =>
      endpoint.path.replace(/\{(\w+)/g, (_match, name) => `{${endpoint.params[name]!.shape.type}`)
    assert.deepEqual(twice(endpoints.map(endpoint => `${endpoint.method} ${shapeOf(endpoint)}`)), [])
    assert.deepEqual(twice(endpoints.map(({ cli }) => cli.name)), [])
    assert.deepEqual(twice(Object.values(catalogue).flatMap(({ words }: Page) => words)), [])
  })

  test('the domain serves every page of it, and nothing else', () => {
    const served = resources.flatMap(({ api }) => Object.values(api).map(({ id }) => id))
    assert.deepEqual(served.sort(), endpoints.map(({ id }) => id).sort())
    for (const { api, commands } of resources)
      for (const [key, { id, served }] of Object.entries(api))
        assert.equal(commands[key] === undefined, served !== undefined, `${id}: a command, or an edge that serves it`)
  })

  for (const { endpoint, page, resource } of entries) {
    const { id, cli, path, params } = endpoint
    test(`${id}: names, levels and words fit together`, () => {
      assert.match(id, /^[a-z]+(-[a-z]+)*$/)
      assert.match(path, /^(\/(\w|-)+|\/\{\w+(\.\.\.)?\})+$/)
      assert.ok(endpoint.since >= 1 && endpoint.since <= newestLevel, `since ${endpoint.since}`)
      assert.match(endpoint.summary, /^[A-Z].*[^.]$/, 'a summary is a sentence without its full stop')
      const [first] = cli.name.split(' ')
      assert.ok(page.words.includes(first!), `'${first}' is not among the words of ${resource} in api/index.ts`)
    })

    test(`${id}: every {name} of the path is a parameter of the path, and the other way round`, () => {
      const named = [...path.matchAll(/\{(\w+)(\.\.\.)?\}/g)].map(([, name]) => name!)
      const declared = Object.entries(params).filter(([, { presence }]) => presence === 'path')
      assert.deepEqual(named.sort(), declared.map(([name]) => name).sort())
    })

    test(`${id}: the subcommand reports what a call without a reply did`, () => {
      const silent = endpoint.method !== 'GET' && Object.keys(endpoint.reply).length === 0
      assert.ok(!silent || cli.done, '`done` is missing')
      for (const [, name] of cli.done?.matchAll(/\{(\w+)\}/g) ?? [])
        assert.ok(
          (name === 'count' && cli.counts) || [params, endpoint.reply].some(known => Object.hasOwn(known, name!)),
          `${name} is no parameter or field`,
        )
    })

    test(`${id}: a switch that is on by default says what turning it off does`, () => {
      for (const [name, { fallback, off }] of Object.entries(params)) {
        assert.equal(
          off !== undefined,
          fallback === true,
          `${name}: \`off\` belongs to switches that are on by default`,
        )
        assert.ok(off === undefined || off.length > 5, name)
      }
    })

    test(`${id}: arguments and flags of the subcommand are parameters, and no flag is given twice`, () => {
      const { args = [], flags = {} } = cli
      for (const name of [...args, ...Object.keys(flags)])
        assert.ok(Object.hasOwn(params, name), `${name} is no parameter`)
      const others = Object.keys(params).filter(name => !args.includes(name))
      assert.deepEqual(twice(others.map(name => flags[name] ?? name.replaceAll('_', '-'))), [])
      if (cli.shows !== undefined) assert.ok(Object.hasOwn(endpoint.reply, cli.shows), `shows ${cli.shows}`)
    })

    test(`${id}: has two examples or more, which a shell can read and which call this subcommand`, () => {
      assert.ok(cli.examples.length >= 2)
      for (const example of cli.examples) {
        const words = lastCommand(example)
        assert.deepEqual(words.slice(0, 1 + cli.name.split(' ').length), ['natter', ...cli.name.split(' ')], example)
        const given = words.slice(1 + cli.name.split(' ').length)
        const others = [...everydayFlags(endpoint), ...globalFlags]
        for (const word of given.filter(word => word.startsWith('--')))
          assert.ok(
            flagsOf(params, cli.flags).has(word) || others.some(({ name }) => word === `--${name}`),
            `${word} in: ${example}`,
          )
      }
    })

    test(`${id}: lists refusals that exist, are its own to make, and no one twice`, () => {
      for (const code of endpoint.refusals) {
        const kind: CodeEntry | undefined = errorCodes[code]
        assert.ok(kind && !kind.outside, code)
        assert.ok(!commonCodes.includes(code), `${code} can come from any call`)
      }
      assert.deepEqual(twice(endpoint.refusals), [])
    })

    test(`${id}: the default of an absent parameter is a value that could have been sent`, () => {
      for (const [name, { presence, fallback }] of Object.entries(params)) {
        if (presence !== 'defaulted') continue
        const { fields } = encode({ ...endpoint, path: '/' }, { [name]: fallback })
        const decoded = decode({ ...endpoint, params: { [name]: params[name]! } }, {}, fields)
        assert.ok('params' in decoded, `${name}: ${JSON.stringify(decoded)}`)
        assert.deepEqual(decoded.params[name], fallback)
      }
    })
  }
})

function twice(names: readonly string[]): string[] {
  return names.filter((name, index) => names.indexOf(name) !== index)
}

const everywhere = ['--json', '--profile', '--site', '--dry-run', '--curl', '--quiet']

function flagsOf(params: Endpoint['params'], flags: Readonly<Record<string, string>> = {}): Set<string> {
  // A channel and a topic have the same flag everywhere, also where they may stand as an argument.
  const names = Object.entries(params).flatMap(([name, { shape }]) => [
    flags[name] ?? name.replaceAll('_', '-'),
    ...(['channel', 'topic'].includes(shape.ref) ? [shape.ref as string] : []),
  ])
  return new Set([...names.flatMap(name => [`--${name}`, `--no-${name}`]), ...everywhere])
}

/** The words of the last command of a pipeline, quotes taken away. */
function lastCommand(line: string): string[] {
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\|)|([^\s'"|]+)/g)]
  assert.equal(line.replace(/'[^']*'|"[^"]*"|[^\s'"|]+|\||\s/g, ''), '', `a shell cannot read: ${line}`)
  const pipe = words.findLastIndex(([, , , bar]) => bar !== undefined)
  return words.slice(pipe + 1).map(([, single, double, , plain]) => single ?? double ?? plain ?? '')
}
