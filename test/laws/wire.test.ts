// The law of the wire: what is encoded is decoded as the same, on every way a request can carry it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Endpoint } from '../../daemon/api/define.ts'
import { typing } from '../../daemon/api/messages/typing.ts'
import { type Decoded, decode, encode, type Fields } from '../../daemon/api/wire.ts'
import { resources } from '../../daemon/domain/index.ts'
import { State } from '../../daemon/domain/model/state.ts'
import type { ServerFacts } from '../../daemon/domain/resource.ts'
import { ArrivingFiles } from '../../daemon/http/arriving-files.ts'
import type { Intake } from '../../daemon/http/body.ts'
import { HeldBytes } from '../../daemon/http/held-bytes.ts'
import { readFields, readParts } from '../../daemon/http/parameters.ts'
import { Routes } from '../../daemon/http/routes.ts'
import { UploadsInProgress } from '../../daemon/http/uploads-in-progress.ts'
import { memoryFiles } from '../../daemon/io/files.ts'
import { paramsOf, someText } from '../support/arbitrary.ts'
import { cases } from '../support/cases.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { startDaemon } from '../support/daemon.ts'
import { formOf, multipart } from '../support/http.ts'

const endpoints = (await catalogueEndpoints()).map(({ endpoint }) => endpoint)
const routes = new Routes(resources)
const arriving = new ArrivingFiles(
  { engine: { state: new State() }, server: {} as ServerFacts, files: memoryFiles() },
  { heldFiles: new HeldBytes(Infinity) } as Intake,
)

/** As the edge reads it: in the query, as a form, as a multipart body. */
async function carried(fields: Fields): Promise<Fields[]> {
  const files = [...fields.values()].some(value => typeof value !== 'string')
  const parts = multipart(fields)
  const uploads = new UploadsInProgress(arriving.begin(undefined), new HeldBytes(Infinity))
  const inParts = await readParts('', contentType(parts), [Buffer.from(parts.body!)], uploads)
  if (files) return [inParts]
  const forms = [formOf('GET', fields), formOf('POST', fields)].map(form =>
    readFields(form.query ?? '', contentType(form), form.body === undefined ? undefined : Buffer.from(form.body)),
  )
  return [...forms, inParts]
}

function contentType({ headers }: ReturnType<typeof formOf>): { 'content-type': string | undefined } {
  return { 'content-type': headers?.['Content-Type'] }
}

function pathOf(endpoint: Endpoint, path: string): Readonly<Record<string, string>> {
  if (endpoint.served === 'outgoing') return {}
  const found = routes.find(endpoint.method, path)
  assert.equal(found?.route.endpoint, endpoint, `${path} does not lead to ${endpoint.id}`)
  return found!.path
}

function withDefaults(endpoint: Endpoint, params: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const defaults = Object.entries(endpoint.params).filter(([, { presence }]) => presence === 'defaulted')
  return { ...Object.fromEntries(defaults.map(([name, { fallback }]) => [name, fallback])), ...params }
}

function understood(decoded: Decoded): Extract<Decoded, { params: unknown }> {
  assert.ok(!('rejected' in decoded), `rejected: ${JSON.stringify(decoded)}`)
  return decoded
}

describe('parameters on the wire', () => {
  for (const endpoint of endpoints) {
    test(`${endpoint.id}: decoding what was encoded gives it back, from query, form and multipart`, async () => {
      await fc.assert(
        fc.asyncProperty(paramsOf(endpoint), async params => {
          const { path, fields } = encode(endpoint, params)
          for (const read of await carried(fields)) {
            const decoded = understood(decode(endpoint, pathOf(endpoint, path), read))
            assert.deepEqual(decoded.params, withDefaults(endpoint, params))
            assert.deepEqual(decoded.ignored, [])
          }
        }),
        { numRuns: cases(10) },
      )
    })

    test(`${endpoint.id}: parameters it does not know are reported, sorted, and change nothing`, () => {
      const unknown = fc.dictionary(
        fc.oneof(someText, fc.constantFrom('__proto__', 'constructor', 'toString')),
        someText,
      )
      fc.assert(
        fc.property(paramsOf(endpoint), unknown, (params, extra) => {
          const { path, fields } = encode(endpoint, params)
          const names = Object.keys(extra).filter(name => !known(endpoint).has(name))
          const sent = new Map([...names.map(name => [name, extra[name]!] as const), ...fields])
          const decoded = understood(decode(endpoint, pathOf(endpoint, path), sent))
          assert.deepEqual(decoded.params, withDefaults(endpoint, params))
          assert.deepEqual(decoded.ignored, [...names].sort())
        }),
        { numRuns: cases(5) },
      )
    })

    for (const [name, { presence, alias, shape }] of Object.entries(endpoint.params)) {
      if (presence === 'required')
        test(`${endpoint.id}: without ${name} it is refused, and the refusal names it`, () => {
          const [params] = fc.sample(paramsOf(endpoint), { numRuns: 1, seed: 7 })
          const { path, fields } = encode(endpoint, { ...params, [name]: undefined })
          const decoded = decode(endpoint, pathOf(endpoint, path), fields)
          // Another missing one may be named first when both are gone; only this one is.
          assert.ok('rejected' in decoded)
          if (shape.format === 'binary') return assert.match(decoded.rejected.msg, new RegExp(`^${name}: `))
          assert.equal(decoded.rejected.code, 'REQUEST_VARIABLE_MISSING')
          assert.deepEqual(decoded.rejected.fields, { var_name: name })
        })
      if (alias !== undefined)
        test(`${endpoint.id}: ${alias} is read as ${name}, and both together are refused`, () => {
          fc.assert(
            fc.property(paramsOf(endpoint), params => {
              if (params[name] === undefined) return
              const { path, fields } = encode(endpoint, params)
              const value = fields.get(name)!
              const both = decode(endpoint, pathOf(endpoint, path), new Map([...fields, [alias, value]]))
              assert.ok('rejected' in both && both.rejected.code === 'REQUEST_CONFUSING_VAR')
              fields.delete(name)
              const older = understood(decode(endpoint, pathOf(endpoint, path), new Map([...fields, [alias, value]])))
              assert.deepEqual(older.params, withDefaults(endpoint, params))
            }),
            { numRuns: cases(5) },
          )
        })
    }
  }

  test('the daemon reports parameters that the endpoint does not support', async t => {
    const { owner } = await startDaemon(t, { flags: ['--memory'] })
    const fields = { zeta: '1', alpha: '2', __proto__x: '3', client: 'laws', constructor: 'x', type: 'direct' }
    const query = new URLSearchParams({ ...fields, op: 'start', to: JSON.stringify([owner.id]) }).toString()
    const reply = await owner.raw('POST', `/api/v1${typing.set.path}?${query}`)
    assert.deepEqual(reply.body, {
      result: 'success',
      msg: '',
      ignored_parameters_unsupported: ['__proto__x', 'alpha', 'constructor', 'zeta'],
    })
    const plain = endpoints.filter(
      ({ method, path, params }) =>
        method === 'GET' &&
        !path.includes('{') &&
        Object.values(params).every(({ presence }) => presence !== 'required'),
    )
    for (const { method, path } of plain) {
      const answer = await owner.raw(method, `/api/v1${path}?toString=1&dont_block=true&b=&a=%20`)
      // Some are for bots or for development only.
      if (answer.body.result === 'error') continue
      const expected = path === '/events' ? ['a', 'b', 'toString'] : ['a', 'b', 'dont_block', 'toString']
      assert.deepEqual(answer.body.ignored_parameters_unsupported, expected, path)
    }
  })
})

function known(endpoint: Endpoint): Set<string> {
  const names = new Set(['client'])
  for (const [name, { alias, presence }] of Object.entries(endpoint.params)) {
    if (presence !== 'path') names.add(name)
    if (alias !== undefined) names.add(alias)
  }
  return names
}
