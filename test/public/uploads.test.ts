// Uploads, as clients of the public server know them: names, types, addresses, and who may fetch a file.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { type HttpReply, multipart, send } from '../support/http.ts'
import { pixel } from '../support/images.ts'
import { listen, person } from '../support/world.ts'
import { ask, assertHas, ok } from './support/cases.ts'

let owner: Caller
let amy: Caller
let bob: Caller

describe('uploads', () => {
  sharedDaemon({ flags: ['--memory'] }, async daemon => {
    owner = daemon.owner
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
  })
  describe('POST /user_uploads', names)
  describe('GET /user_uploads/…', fetching)
  describe('attachments', attachments)
  describe('GET /thumbnail', thumbnails)
  describe('images of people and of the organization', images)
})

async function put(
  filename: string,
  text: string | Uint8Array = 'zulip!',
  contentType = 'text/plain',
): Promise<string> {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  const form = multipart(new Map([['file', { filename, contentType, bytes }]]))
  const { body } = await send(`${amy.url}/api/v1/user_uploads`, { method: 'POST', auth: amy.auth, ...form })
  assert.equal(body.result, 'success', JSON.stringify(body))
  assert.equal(body.uri, body.url)
  return body.url
}

function images(): void {
  const header = (width: number, height: number) => {
    const size = Buffer.alloc(8)
    size.writeUInt32BE(width, 0)
    size.writeUInt32BE(height, 4)
    return Buffer.concat([pixel.png.subarray(0, 16), size, pixel.png.subarray(24)])
  }
  const tiff = Buffer.from('49492a000800000002000001030001000000050000000101030001000000050000000000000000', 'hex')
  const rows: [title: string, bytes: Uint8Array, pictures: number, emoji: number][] = [
    ['a PNG', pixel.png, 200, 200],
    ['a TIFF', tiff, 200, 400],
    ['a TIFF that ends in its header', tiff.subarray(0, 14), 400, 400],
    ['90 million pixels', header(9000, 10_000), 200, 200],
    ['more than 90 million pixels', header(9001, 10_000), 400, 400],
  ]
  let made = 0
  for (const [title, bytes, pictures, emoji] of rows)
    for (const [line, status] of [
      ['/users/me/avatar', pictures],
      ['/realm/icon', pictures],
      ['/realm/logo?night=false', pictures],
      [`/realm/emoji/picture${++made}`, emoji],
    ] as const)
      test(`POST ${line} with ${title}: ${status}`, async () => {
        const form = multipart(new Map([['file', { filename: 'x.png', contentType: 'image/png', bytes }]]))
        const reply = await send(`${owner.url}/api/v1${line}`, { method: 'POST', auth: owner.auth, ...form })
        assertHas(reply, { status, body: status === 400 ? { code: 'BAD_IMAGE' } : {} })
      })
}

function get(path: string, who: Caller | undefined = amy, query?: string): Promise<HttpReply> {
  return send(amy.url + encodeURI(path), { auth: who?.auth, ...(query !== undefined && { query }) })
}

function names(): void {
  const rows: [filename: string, last: string][] = [
    ['report.pdf', 'report.pdf'],
    ['отчёт.pdf', 'отчёт.pdf'],
    ['foo bar--baz.png', 'foo-bar-baz.png'],
    ['café menu (1).png', 'café-menu-1.png'],
    ['данные  за  май.csv', 'данные-за-май.csv'],
    ['日本語.txt', '日本語.txt'],
    ['a_b.c-d.txt', 'a_b.c-d.txt'],
    ['x%20y.txt', 'x-y.txt'],
    ['**', 'uploaded-file'],
    ['what?.txt', 'what.txt'],
    ['tilde~and!.txt', 'tildeand.txt'],
    ['-dash-.txt', '-dash-.txt'],
    [`${'x'.repeat(251)}.txt`, `${'x'.repeat(251)}.txt`],
    [`${'x'.repeat(300)}.txt`, `${'x'.repeat(251)}.txt`],
    [`${'x'.repeat(300)}`, 'x'.repeat(255)],
  ]
  for (const [filename, last] of rows)
    test(`names ${JSON.stringify(filename.slice(-40))} ${JSON.stringify(last.slice(-40))}`, async () => {
      const url = await put(filename)
      assert.equal(url.split('/').at(-1), last)
      const { status, text } = await get(url)
      assert.deepEqual([status, text], [200, 'zulip!'])
    })

  const kept: [filename: string, name: string, last: string][] = [
    ['.. ', '.. ', 'uploaded-file'],
    ['.!', '.!', 'uploaded-file'],
    ['foo bar--baz', 'foo bar--baz', 'foo-bar-baz'],
    ['some file (with spaces).png', 'some file (with spaces).png', 'some-file-with-spaces.png'],
    ['.().', '.().', 'uploaded-file'],
  ]
  for (const [filename, name, last] of kept)
    test(`keeps ${JSON.stringify(name)} beside its address, under any name of the field`, async () => {
      const file = { filename, contentType: 'text/plain', bytes: new TextEncoder().encode('x') }
      const form = multipart(new Map([['f1', file]]))
      const { body } = await send(`${amy.url}/api/v1/user_uploads`, { method: 'POST', auth: amy.auth, ...form })
      assertHas(body, { result: 'success', filename: name, url: (url: string) => url.endsWith(`/${last}`) })
    })

  test('refuses two files', async () => {
    const file = { filename: 'a.txt', contentType: 'text/plain', bytes: new Uint8Array(1) }
    const form = multipart(
      new Map([
        ['f1', file],
        ['f2', file],
      ]),
    )
    assert.equal(
      (await send(`${amy.url}/api/v1/user_uploads`, { method: 'POST', auth: amy.auth, ...form })).status,
      400,
    )
  })

  test('tells caches that a file is private and does not change', async () => {
    const { headers } = await get(await put('kept.txt'))
    assert.deepEqual(String(headers['cache-control']).split(', ').sort(), ['immutable', 'private'])
  })

  test('refuses a body without a file', async () => {
    assert.equal((await ask(amy, 'POST /user_uploads', {})).status, 400)
  })
}

function fetching(): void {
  const dispositions: [filename: string, type: string, expected: string][] = [
    ['plain.txt', 'text/plain', 'inline; filename="plain.txt"'],
    ['picture.png', 'image/png', 'inline; filename="picture.png"'],
    ['page.html', 'text/html', 'attachment; filename="page.html"'],
    ['picture.svg', 'image/svg+xml', 'attachment; filename="picture.svg"'],
    ['paper.pdf', 'application/pdf', 'inline; filename="paper.pdf"'],
    ['song.mp3', 'audio/mpeg', 'inline; filename="song.mp3"'],
    ['film.webm', 'video/webm', 'inline; filename="film.webm"'],
    ['film.mkv', 'video/x-matroska', 'attachment; filename="film.mkv"'],
    ['data.bin', 'application/octet-stream', 'attachment; filename="data.bin"'],
    ['two words.txt', 'text/plain', 'inline; filename="two words.txt"'],
    ['отчёт.txt', 'text/plain', "inline; filename*=utf-8''%D0%BE%D1%82%D1%87%D1%91%D1%82.txt"],
  ]
  for (const [filename, type, expected] of dispositions)
    test(`${filename} as ${type} is ${expected.split(';')[0]}`, async () => {
      const { headers } = await get(await put(filename, 'x', type))
      assert.equal(headers['content-disposition'], expected)
    })

  const latin = Uint8Array.from([...'Min svävare'].map(char => char.charCodeAt(0)))
  const types: [title: string, filename: string, text: string | Uint8Array, type: string, expected: string][] = [
    ['ASCII', 'a.txt', 'No high bytes', 'text/plain', 'text/plain; charset="ascii"'],
    ['UTF-8', 'a.txt', 'नाम', 'text/plain', 'text/plain; charset="utf-8"'],
    ['Latin-1', 'a.txt', latin, 'text/plain', 'text/plain; charset="ISO-8859-1"'],
    ['ISO-2022-JP', 'a.txt', '\u001b$BF|K\\8l\u001b(B', 'text/plain', 'text/plain; charset="ISO-2022-JP"'],
    ['an unknown encoding', 'a.txt', Uint8Array.of(0x69, 0x64, 0x8e, 0x65), 'text/plain', 'text/plain'],
    ['an encoding that the sender names', 'a.txt', 'नाम', 'text/plain; charset=big5', 'text/plain; charset="big5"'],
    ['other text as it is', 'a.csv', 'a,b', 'text/csv', 'text/csv'],
    ['no type but a name', 'a.txt', 'zulip!', 'application/octet-stream', 'text/plain; charset="ascii"'],
    ['no type and no telling name', 'somefile', 'zulip!', 'application/octet-stream', 'application/octet-stream'],
  ]
  for (const [title, filename, text, type, expected] of types)
    test(`the type of ${title}`, async () => {
      assert.equal((await get(await put(filename, text, type))).headers['content-type'], expected)
    })

  test('takes a key in the address', async () => {
    const url = await put('keyed.txt')
    assert.equal((await send(amy.url + url, { query: `api_key=${amy.key}` })).text, 'zulip!')
    assert.equal((await send(amy.url + url, { query: `api_key=${'x'.repeat(32)}` })).status, 401)
    assert.equal((await send(amy.url + url, { query: 'api_key=' })).status, 401)
    assert.equal((await send(amy.url + url, { query: `api_key=${bob.key}` })).status, 404)
    assert.equal((await send(amy.url + url)).status, 401)
  })

  test('download/ offers every file for saving', async () => {
    const url = (await put('saved.txt')).replace('/user_uploads/', '/user_uploads/download/')
    const { status, headers, text } = await get(url)
    assert.deepEqual(
      [status, headers['content-disposition'], text],
      [200, 'attachment; filename="saved.txt"', 'zulip!'],
    )
    assert.equal((await send(amy.url + url)).status, 401)
  })

  test('a temporary address needs no key, and a wrong one is refused with 400', async () => {
    const url = await put('отчёт.txt')
    const { url: address } = await ok(amy, `GET ${encodeURI(url)}`)
    assert.equal((await send(amy.url + encodeURI(address))).text, 'zulip!')
    const parts = address.split('/')
    for (const wrong of [
      address.replace(parts[3], '0'.repeat(20)),
      address.replace('отчёт', 'other'),
      '/user_uploads/temporary/x/y.txt',
    ])
      assertHas(await send(amy.url + encodeURI(wrong)), { status: 400, body: { result: 'error', code: 'BAD_REQUEST' } })
  })

  test('a file belongs to its owner and to the readers of a message that links it', async () => {
    const url = await put('shared.txt')
    assert.equal((await get(url, bob)).status, 404)
    await ok(amy, 'POST /messages', { type: 'direct', to: [bob.id], content: `[it](${url})` })
    assert.equal((await get(url, bob)).status, 200)
    assert.equal((await get(url, owner)).status, 404)
    assert.equal((await get(url.replace('shared', 'other'), amy)).status, 404)
  })
}

function attachments(): void {
  test('are listed, told of and deleted', async () => {
    const heard = await listen(amy, ['attachment'])
    const url = await put('listed.txt')
    const { id: message } = await ok(amy, 'POST /messages', { type: 'direct', to: [bob.id], content: `[it](${url})` })
    const { attachments: all } = await ok(amy, 'GET /attachments')
    const file = all.find(({ name }: { name: string }) => name === 'listed.txt')
    assertHas(file, { path_id: url.replace('/user_uploads/', ''), size: 6, messages: [{ id: message }] })
    assert.ok(file.create_time > 1_000_000_000_000 && file.messages[0].date_sent > 1_000_000_000_000)
    await ok(amy, `DELETE /attachments/${file.id}`)
    const events = await heard()
    assertHas(events, [
      { op: 'add', attachment: { name: 'listed.txt', messages: [] } },
      { op: 'update', attachment: { messages: [{ id: message }] } },
      { op: 'remove', attachment: { id: file.id } },
    ])
    assert.equal((await get(url)).status, 404)
  })

  test('with letters of every script are shared by their address, written either way', async () => {
    for (const written of [(url: string) => url, encodeURI]) {
      const url = await put('отчёт за май.txt')
      const content = `[it](${written(url)})`
      const { id } = await ok(amy, 'POST /messages', { type: 'direct', to: [bob.id], content })
      const { attachments: all } = await ok(amy, 'GET /attachments')
      assertHas(all.at(-1), { name: 'отчёт за май.txt', messages: [{ id }] })
      assert.equal((await get(url, bob)).status, 200)
      const found = { anchor: 'newest', num_before: 1, num_after: 0, narrow: [['has', 'attachment']] }
      assertHas((await ok(bob, 'GET /messages', found)).messages, [{ id }])
    }
  })

  test('are shared by their whole address too, whatever its scheme', async () => {
    for (const site of [amy.url, amy.url.replace('http:', 'https:'), amy.url.replace('http:', '')]) {
      const url = await put('whole.txt')
      const { id } = await ok(amy, 'POST /messages', { type: 'direct', to: [bob.id], content: `[it](${site}${url})` })
      assertHas((await ok(amy, 'GET /attachments')).attachments.at(-1), { messages: [{ id }] })
      assert.equal((await get(url, bob)).status, 200)
    }
  })

  test('have an address below the organization in what is rendered', async () => {
    const url = await put('below.txt')
    const { rendered } = await ok(amy, 'POST /messages/render', { content: `[it](${amy.url}${url})` })
    assert.equal(rendered, `<p><a href="${url.slice(1)}">it</a></p>`)
  })

  test('of others cannot be deleted', async () => {
    await put('mine.txt')
    const { attachments: all } = await ok(amy, 'GET /attachments')
    assertHas(await ask(bob, `DELETE /attachments/${all[0].id}`), { status: 400, body: { code: 'BAD_REQUEST' } })
    assertHas(await ask(amy, 'DELETE /attachments/99999'), { status: 400, body: { code: 'BAD_REQUEST' } })
  })

  test('that an edit takes out of a message are listed in its reply', async () => {
    const url = await put('detached.txt')
    const { id } = await ok(amy, 'POST /messages', { type: 'direct', to: [bob.id], content: `[it](${url})` })
    const { detached_uploads } = await ok(amy, `PATCH /messages/${id}`, { content: 'nothing' })
    assertHas(detached_uploads, [{ name: 'detached.txt', messages: [] }])
  })
}

function thumbnails(): void {
  const at = (path: string, caller = amy) => send(`${amy.url}${path}`, { auth: caller.auth })

  test('serves the file itself, whatever size is asked for', async () => {
    const url = await put('picture.png', pixel.png, 'image/png')
    for (const size of ['full', 'thumbnail', 'other'])
      assert.equal((await at(`/thumbnail?url=${url.slice(1)}&size=${size}`)).status, 200)
    assert.equal((await at(`/user_uploads/thumbnail${url.replace('/user_uploads', '')}/840x560.webp`)).status, 200)
    assert.equal((await at(`/user_uploads/thumbnail${url.replace('/user_uploads', '')}/bogus`)).status, 404)
    assert.equal((await at(`/thumbnail?url=${url.slice(1)}&size=full`, bob)).status, 404)
  })

  test('refuses files elsewhere, and asks for both parameters', async () => {
    assert.equal((await at('/thumbnail?url=https://example.com/a.png&size=full')).status, 403)
    assertHas(await at('/thumbnail?url=user_uploads/1/a.png'), {
      status: 400,
      body: { code: 'REQUEST_VARIABLE_MISSING', var_name: 'size' },
    })
  })

  test('a missing file is a page for browsers, and an error for programs that ask for JSON', async () => {
    const path = '/user_uploads/1/aa/missing.txt'
    const page = await at(path)
    assert.deepEqual([page.status, page.text], [404, '<p>This file does not exist or has been deleted.</p>'])
    const headers = { Accept: 'application/json' }
    assertHas(await send(`${amy.url}${path}`, { auth: amy.auth, headers }), {
      status: 404,
      body: { code: 'BAD_REQUEST', msg: 'This file does not exist or has been deleted.' },
    })
    assertHas(await ask(amy, `GET ${path}`), { status: 404, body: { code: 'BAD_REQUEST' } })
  })
}
