// Parameters over the wire: every way they may travel, and everything bad that may travel with them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { formOf, type HttpOptions, type HttpReply, multipart } from '../support/http.ts'

const snippets = `/api/v1${savedSnippets.create.path}`
const form = 'application/x-www-form-urlencoded'

/** The same fields in the query string, as a form, as multipart. */
function ways(fields: Readonly<Record<string, string>>): Record<string, HttpOptions> {
  const map = new Map(Object.entries(fields))
  return { query: formOf('GET', map), form: formOf('POST', map), multipart: multipart(map) }
}

describe('parameters', () => {
  const daemon = sharedDaemon({ alone: true, flags: ['--memory'] })
  const typing = (fields: Readonly<Record<string, string>>): Promise<HttpReply> =>
    daemon().owner.raw('POST', '/api/v1/typing', ways(fields).form)
  const raw = (body: string | Buffer, type = form) =>
    daemon().owner.raw('POST', '/api/v1/typing', { body, headers: { 'Content-Type': type } })
  const refused = (reply: HttpReply, words: RegExp) => {
    assert.equal(reply.status, 400, reply.text)
    assert.equal(reply.body.code, 'BAD_REQUEST', reply.text)
    assert.match(reply.body.msg, words)
  }

  /** The title of a snippet that was sent in this way. */
  const savedTitle = async (options: HttpOptions): Promise<string | undefined> => {
    const { body, text } = await daemon().owner.raw('POST', snippets, options)
    assert.equal(body.result, 'success', text)
    const { saved_snippets: list } = await daemon().owner.call(savedSnippets.list, {})
    return list.find(({ id }) => id === body.saved_snippet_id)?.title
  }

  for (const way of ['query', 'form', 'multipart'])
    test(`travel as ${way} for GET, POST, PATCH and DELETE alike`, async () => {
      const { owner } = daemon()
      const content = 'ünïcode + 100% & more = yes\r\n"quoted" 🎈'
      const created = await owner.raw('POST', snippets, ways({ title: 'a b', content })[way])
      assert.equal(created.status, 200, created.text)
      const path = `${snippets}/${created.body.saved_snippet_id}`
      const edited = await owner.raw('PATCH', path, ways({ title: 'c+d' })[way])
      assert.equal(edited.status, 200, edited.text)
      const { saved_snippets: list } = await owner.call(savedSnippets.list, {})
      const { title, content: kept } = list.at(-1)!
      assert.deepEqual({ title, kept }, { title: 'c+d', kept: content })
      const registered = await owner.raw('GET', '/api/v1/events', ways({ event_types: '["saved_snippets"]' })[way])
      const queue_id = String(registered.body.queue_id)
      const read = await owner.raw('GET', '/api/v1/events', ways({ queue_id, dont_block: 'true' })[way])
      assert.deepEqual(read.body.events, [], read.text)
      const gone = await owner.raw('DELETE', '/api/v1/events', ways({ queue_id })[way])
      assert.equal(gone.status, 200, gone.text)
    })

  test('a parameter of the body goes before its namesake in the query', async () => {
    const { owner } = daemon()
    const options = { ...ways({ title: 'body', content: 'x' }).form, query: 'title=query' }
    const { body } = await owner.raw('POST', snippets, options)
    const { saved_snippets: list } = await owner.call(savedSnippets.list, {})
    assert.equal(list.find(({ id }) => id === body.saved_snippet_id)?.title, 'body')
  })

  test('a parameter that comes twice is refused', async () => {
    refused(await raw('op=start&to=[2]&op=stop'), /^op: sent more than once/)
    refused(await daemon().owner.raw('GET', '/api/v1/users/me?x=1&x=2'), /^x: sent more than once/)
    const part = '--b\r\nContent-Disposition: form-data; name="op"\r\n\r\nstart\r\n'
    refused(await raw(`${part}${part}--b--\r\n`, 'multipart/form-data; boundary=b'), /^op: sent more than once/)
  })

  test('JSON that is declared as a form, as curl sends it, is named where a parameter is missing', async () => {
    const { body } = await raw('{"type": "direct", "op": "start"}')
    assert.equal(body.code, 'REQUEST_VARIABLE_MISSING')
    assert.match(
      body.msg,
      /^\w+: required\. The body is JSON, declared as application\/x-www-form-urlencoded: send form fields/,
    )
    assert.doesNotMatch((await raw('title=a')).body.msg, /JSON/)
  })

  test('a path parameter repeated in the body is ignored, and reported', async () => {
    const { saved_snippet_id } = await daemon().owner.call(savedSnippets.create, { title: 'x', content: 'x' })
    const options = ways({ saved_snippet_id: '999' }).form
    const { body } = await daemon().owner.raw('DELETE', `${snippets}/${saved_snippet_id}`, options)
    assert.deepEqual(body.ignored_parameters_unsupported, ['saved_snippet_id'])
  })

  test('`client` is understood by every endpoint, however long', async () => {
    const { body } = await daemon().owner.raw('GET', `/api/v1/users/me?client=${'x'.repeat(500)}`)
    assert.equal(body.ignored_parameters_unsupported, undefined)
  })

  test('ten thousand parameters are refused', async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`p${index}`, 'x']))
    refused(await typing(many), /^Too many parameters/)
    refused(await daemon().owner.raw('POST', '/api/v1/typing', ways(many).multipart), /^Too many parameters/)
    refused(await raw(`${'&'.repeat(100_000)}op=`), /op/)
  })

  test('deep JSON is refused, whatever shape is wanted', async () => {
    for (const deep of ['['.repeat(100_000), `${'['.repeat(50_000)}${']'.repeat(50_000)}`, '{"a":'.repeat(10_000)]) {
      refused(await typing({ op: 'start', to: deep }), /^to: must be/)
      const options = ways({ client_capabilities: deep }).form
      refused(await daemon().owner.raw('POST', '/api/v1/register', options), /^client_capabilities: must be/)
    }
  })

  test('bad JSON names the parameter, a wrong value inside names its place', async () => {
    refused(await typing({ op: 'start', to: '[1' }), /^to: must be valid JSON/)
    refused(await typing({ op: 'start', to: '' }), /^to: must be valid JSON/)
    refused(await typing({ op: 'start', to: '[2,"x"]' }), /^to\[1\]: must be an? .*integer/)
    refused(await typing({ op: 'start', to: '{}' }), /^to: must be a list/)
    refused(await typing({ op: 'begin' }), /^op: must be "start" or "stop"/)
    const narrow = ways({ narrow: '[["is","dm"],["is",7]]' }).form
    refused(await daemon().owner.raw('POST', '/api/v1/register', narrow), /^narrow\[1\]\[1\]: must be a string/)
  })

  test('integers are integers: no fraction, exponent, quotes, words or more than fits', async () => {
    const stream = (stream_id: string) => typing({ op: 'start', type: 'channel', topic: 'x', stream_id })
    for (const bad of [
      '12.0',
      '12.5',
      '1e3',
      '1E3',
      '"12"',
      'true',
      'null',
      '[12]',
      '',
      ' ',
      '0x1',
      '+1',
      '01',
      '--1',
      'NaN',
      'Infinity',
    ])
      refused(await stream(bad), /^stream_id: must be/)
    for (const large of ['9007199254740993', '9007199254740992', '1'.repeat(400), `-${'1'.repeat(400)}`])
      refused(await stream(large), /^stream_id: must be/)
    for (const bad of ['[12.0]', '[1e3]', '[2,9007199254740993]', '[true]', '[null]', '["2"]', '[-1]'])
      refused(await typing({ op: 'start', to: bad }), /^to\[\d\]: must be an? .*integer/)
    refused(await stream('12'), /there is no channel with ID 12|no such channel/)
    refused(await stream(' 12 '), /there is no channel with ID 12|no such channel/)
  })

  test('booleans are true and false', async () => {
    for (const bad of ['1', '0', 'yes', 'True', 'TRUE', '"true"', 'null', ''])
      refused(
        await daemon().owner.raw('GET', '/api/v1/events', { query: `dont_block=${encodeURIComponent(bad)}` }),
        /^dont_block: must be/,
      )
  })

  test('a word of a closed set may be quoted, text may not', async () => {
    const { owner } = daemon()
    assert.equal((await typing({ op: '"start"', to: `[${owner.id}]` })).status, 200)
    const { body } = await owner.raw('POST', snippets, ways({ title: '"quoted"', content: 'x' }).form)
    const { saved_snippets: list } = await owner.call(savedSnippets.list, {})
    assert.equal(list.find(({ id }) => id === body.saved_snippet_id)?.title, '"quoted"')
  })

  test('NUL is refused in names and values, also inside JSON', async () => {
    refused(
      await typing({ op: 'start', type: 'channel', stream_id: '1', topic: 'a\0b' }),
      /^topic: cannot contain a NUL/,
    )
    refused(await typing({ 'a\0b': 'x' }), /parameter name/)
    const options = ways({ event_types: '["a\\u0000b"]' }).form
    refused(await daemon().owner.raw('POST', '/api/v1/register', options), /^event_types\[0\]: cannot contain a NUL/)
  })

  test('lone surrogates are refused, also in keys', async () => {
    for (const [json, place] of [
      ['["ok","\\ud800"]', /^event_types\[1\]: must be valid Unicode/],
      ['["\\udc00\\ud800"]', /^event_types\[0\]: must be valid Unicode/],
    ] as const)
      refused(await daemon().owner.raw('POST', '/api/v1/register', ways({ event_types: json }).form), place)
    const options = ways({ client_capabilities: '{"\\ud800":true}' }).form
    refused(
      await daemon().owner.raw('POST', '/api/v1/register', options),
      /^client_capabilities key: must be valid Unicode/,
    )
  })

  test('bytes that are not UTF-8 become U+FFFD in query, form and multipart, in names and values', async () => {
    const bad = Buffer.from([0xc3, 0x28])
    const wrapped = (before: string, after: string) => Buffer.concat([Buffer.from(before), bad, Buffer.from(after)])
    const part = 'Content-Disposition: form-data; name='
    const multi = 'multipart/form-data; boundary=b'
    const titles = `--b\r\n${part}"content"\r\n\r\nx\r\n--b\r\n${part}"title"\r\n\r\n`
    for (const [title, body, type] of [
      ['\ufffd(', wrapped('content=x&title=', ''), form],
      ['\ufffd(', 'content=x&title=%c3%28', form],
      ['\ufffd', 'content=x&title=%ff', form],
      ['\ufffd\ufffd\ufffd', 'content=x&title=%ed%a0%80', form],
      ['\ufffd(', wrapped(titles, '\r\n--b--\r\n'), multi],
    ] as const)
      assert.equal(await savedTitle({ body, headers: { 'Content-Type': type } }), title)
    assert.equal(await savedTitle({ query: 'content=x&title=%ff' }), '\ufffd')
    const ignored = (reply: HttpReply) => reply.body.ignored_parameters_unsupported
    const op = `op=start&to=[${daemon().owner.id}]`
    assert.deepEqual(ignored(await raw(wrapped(`${op}&`, '=1'))), ['\ufffd('])
    assert.deepEqual(ignored(await raw(`${op}&%ff=1`)), ['\ufffd'])
  })

  test('a stray percent sign is text', async () => {
    for (const text of ['100% sure', '%', '%4', '%zz', 'a%', '%%41'])
      for (const options of [
        { body: `content=x&title=${text}`, headers: { 'Content-Type': form } },
        { query: `content=x&title=${text.replace(' ', '+')}` },
      ])
        assert.equal(await savedTitle(options), text.replace('%41', 'A'))
  })

  test('a replacement character that was really sent is text like any other', async () => {
    for (const options of Object.values(ways({ title: 'a\ufffdb', content: 'x' }))) {
      const { body } = await daemon().owner.raw('POST', snippets, options)
      assert.equal(body.result, 'success', JSON.stringify(body))
    }
  })

  test('names that JavaScript objects have anyway are unknown parameters like any other', async () => {
    const names = ['__proto__', 'constructor', 'hasOwnProperty', 'prototype', 'toString', 'valueOf']
    for (const options of Object.values(ways({ op: 'start', to: `[${daemon().owner.id}]` }))) {
      const query = [options.query, ...names.map(name => `${name}=x`)].filter(Boolean).join('&')
      const { body } = await daemon().owner.raw('POST', '/api/v1/typing', { ...options, query })
      assert.deepEqual(body.ignored_parameters_unsupported, names)
    }
    const polluting = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'
    const registered = await daemon().owner.raw(
      'POST',
      '/api/v1/register',
      ways({ client_capabilities: polluting }).form,
    )
    assert.equal(registered.body.result, 'success')
    for (const name of names) refused(await typing({ op: name }), /^op: must be/)
  })

  test('a file where text is wanted is refused', async () => {
    const file = { filename: 'x.txt', contentType: 'text/plain', bytes: Buffer.from('start') }
    refused(
      await daemon().owner.raw('POST', '/api/v1/typing', multipart(new Map([['op', file]]))),
      /^op: must be "start" or "stop", not a file/,
    )
  })

  test('all this changed nothing', async () => {
    assert.equal((await daemon().owner.raw('GET', '/readyz')).status, 200)
    assert.equal(daemon().stderr, '')
  })
})
