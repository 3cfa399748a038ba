// Uploaded files: who may fetch them, which messages link them, how much room they take.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { channels } from '../../../daemon/api/channels/channels.ts'
import type { Upload } from '../../../daemon/api/define.ts'
import { uploads as api } from '../../../daemon/api/files/uploads.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { organization } from '../../../daemon/api/organization/organization.ts'
import { unfinishedPath } from '../../../daemon/local/atomic-file.ts'
import { type Caller, host, sharedDaemon, startDaemon } from '../../support/daemon.ts'
import { send as request } from '../../support/http.ts'
import { pixel } from '../../support/images.ts'
import { until } from '../../support/until.ts'
import { listen, people } from '../../support/world.ts'

let amy: Caller
let bob: Caller
let cat: Caller

const daemon = sharedDaemon({}, async running => {
  ;[amy, bob, cat] = await people(running, 'amy', 'bob', 'cat')
  await amy.call(channels.create, { name: 'private', subscribers: [amy.id, bob.id], invite_only: true })
})

function file(content: string | Buffer = 'words', filename = 'notes.txt', contentType = 'text/plain'): Upload {
  return { filename, contentType, bytes: Buffer.from(content) }
}

async function share(caller: Caller, content: string): Promise<number> {
  const { id } = await caller.call(messages.send, { type: 'channel', to: 'private', topic: 'files', content })
  return id
}

const status = async (caller: Caller, url: string) => (await caller.raw('GET', url)).status

describe('POST /user_uploads', () => {
  test('keeps a file that its owner can fetch, and tells them', async () => {
    const heard = await listen(amy, ['attachment'])
    const { url, uri, filename } = await amy.call(api.upload, { file: file('héllo', 'my notes.txt') })
    assert.match(url, /^\/user_uploads\/1\/[0-9a-f]{2}\/[0-9a-f-]{36}\/my-notes\.txt$/)
    assert.deepEqual([uri, filename], [url, 'my notes.txt'])
    const reply = await amy.raw('GET', url)
    assert.deepEqual([reply.status, reply.text], [200, 'héllo'])
    assert.equal(reply.headers['content-type'], 'text/plain; charset="utf-8"')
    assert.equal(reply.headers['content-disposition'], 'inline; filename="my notes.txt"')
    assert.equal(reply.headers['x-content-type-options'], 'nosniff')
    const { attachments, upload_space_used } = await amy.call(api.list, {})
    const [attachment] = attachments
    assert.equal(upload_space_used, 6)
    assert.deepEqual(
      { ...attachment, id: 0, create_time: 0 },
      {
        id: 0,
        name: 'my notes.txt',
        path_id: url.slice('/user_uploads/'.length),
        size: 6,
        create_time: 0,
        messages: [],
      },
    )
    assert.ok(Math.abs(attachment!.create_time - Date.now()) < 60_000)
    assert.deepEqual(await heard(), [{ type: 'attachment', op: 'add', attachment, upload_space_used }])
    await amy.call(api.remove, { attachment_id: attachment!.id })
  })

  test('what a browser could run is offered for saving, never shown', async () => {
    for (const [name, type] of [
      ['page.html', 'text/html'],
      ['picture.svg', 'image/svg+xml'],
      ['thing', 'application/octet-stream'],
      ['thing.constructor', 'application/octet-stream'],
      ['thing.__proto__', ''],
    ] as const) {
      const { url } = await amy.call(api.upload, { file: file('<script>alert(1)</script>', name, type) })
      const { headers } = await amy.raw('GET', url)
      assert.match(String(headers['content-disposition']), /^attachment;/)
      assert.match(String(headers['content-security-policy']), /sandbox/)
    }
  })

  test('a script is served as text, so that no page of this origin runs it', async () => {
    for (const type of ['text/javascript', 'application/x-javascript', 'Text/ECMAScript; version=6', 'text/jscript']) {
      const { url } = await amy.call(api.upload, { file: file('alert(1)', 'a.js', type) })
      const { headers } = await amy.raw('GET', url)
      assert.equal(headers['content-type'], 'text/plain; charset=utf-8', type)
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.match(String(headers['content-disposition']), /^attachment;/)
    }
  })

  test('the same bytes from many at once are kept once, and everyone gets an address', async () => {
    const bytes = Buffer.alloc(300_000, 'the same ')
    const all = await Promise.all(Array.from({ length: 40 }, () => amy.call(api.upload, { file: file(bytes) })))
    assert.equal(new Set(all.map(({ url }) => url)).size, 40)
    for (const { url } of all.slice(0, 3)) assert.equal((await amy.raw('GET', url)).text, bytes.toString())
  })

  test('odd names become harmless addresses', async () => {
    for (const name of ['../../etc/passwd', '日本.png', '"; x="', '.htaccess', 'a'.repeat(500)]) {
      const { url } = await amy.call(api.upload, { file: file('x', name.replaceAll('"', '%22')) })
      assert.match(url, /^\/user_uploads\/1\/[\w-]+\/[\w-]+\/[\p{L}\w.-]+$/u)
      assert.equal(await status(amy, encodeURI(url)), 200)
    }
  })

  test('a request without a file, and a file that is too large, are refused with the limit named', async () => {
    await amy.refused(api.upload, {}, 'BAD_REQUEST')
    const mebibyte = Buffer.alloc(1024 * 1024)
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="zeros"\r\n\r\n'
    /** The refusal of a body that is announced with this length. It is sent in pieces, and so is never in memory. */
    const refusal = async (length: number, pieces: Iterable<Uint8Array | string>) => {
      const headers = { 'Content-Type': 'multipart/form-data; boundary=b', 'Content-Length': length }
      const upload = httpRequest(`${amy.url}/api/v1/user_uploads`, { method: 'POST', auth: amy.auth!, headers })
      upload.on('error', () => {})
      Readable.from(pieces).pipe(upload, { end: false })
      const [answer] = (await once(upload, 'response')) as [IncomingMessage]
      const text = (await answer.setEncoding('utf8').toArray()).join('')
      upload.destroy()
      return JSON.parse(text)
    }
    const pieces = [head, ...Array<Buffer>(100).fill(mebibyte), 'x\r\n--b--\r\n']
    const large = await refusal(
      pieces.reduce((sum, piece) => sum + piece.length, 0),
      pieces,
    )
    assert.deepEqual([large.code, large.msg], ['BAD_REQUEST', 'file: must be at most 100 MiB'])
    assert.match((await refusal(102 * mebibyte.length, [head])).msg, /100 MiB/)
  })

  test('the organization has no more room than it was given', async t => {
    const small = await startDaemon(t, { flags: ['--upload-quota', '1'] })
    await small.owner.call(api.upload, { file: file(Buffer.alloc(1_000_000)) })
    const refused = await small.owner.refused(api.upload, { file: file(Buffer.alloc(100_000)) }, 'REALM_UPLOAD_QUOTA')
    assert.match(refused.msg, /1 MiB/)
    const { id } = (await small.owner.call(api.list, {})).attachments[0]!
    await small.owner.call(api.remove, { attachment_id: id })
    await small.owner.call(api.upload, { file: file(Buffer.alloc(100_000)) })
  })
})

describe('/user_uploads/…', () => {
  test('is for everyone who can read a message that links the file', async () => {
    const { url } = await amy.call(api.upload, { file: file() })
    assert.deepEqual([await status(amy, url), await status(bob, url), await status(cat, url)], [200, 404, 404])
    const message_id = await share(amy, `see [this](${url})`)
    assert.deepEqual([await status(bob, url), await status(cat, url)], [200, 404])
    assert.equal((await request(daemon().url + url)).status, 401)
    await amy.call(messages.delete, { message_id }).catch(() => daemon().owner.call(messages.delete, { message_id }))
    assert.equal(await status(bob, url), 404)
    assert.deepEqual((await amy.call(api.list, {})).attachments.at(-1)!.messages, [])
  })

  test('in a web-public channel it is for everyone, while the organization is open to spectators', async () => {
    const { owner } = daemon()
    const anybody = async (url: string) => (await request(daemon().url + url)).status
    const open = (enable_spectator_access: boolean) => owner.call(organization.update, { enable_spectator_access })
    await open(true)
    const made = await owner.call(channels.create, { name: 'web', subscribers: [amy.id], is_web_public: true })
    const { url } = await amy.call(api.upload, { file: file('for all') })
    assert.equal(await anybody(url), 401)
    const there = { type: 'channel', to: 'web', topic: 'files' } as const
    const { id } = await amy.call(messages.send, { ...there, content: `[a](${url})` })
    assert.deepEqual([await anybody(url), await status(cat, url)], [200, 200])
    assert.equal((await request(daemon().url + url, { headers: { Authorization: 'Basic bm86bm8=' } })).status, 401)
    await open(false)
    assert.deepEqual([await anybody(url), await status(cat, url)], [401, 200])
    await open(true)
    await amy.call(messages.update, { message_id: id, content: 'not any more' })
    assert.equal(await anybody(url), 401)
    await amy.call(messages.update, { message_id: id, content: `[a](${url})` })
    assert.equal(await anybody(url), 200)
    await owner.call(channels.archive, { stream_id: made.id })
    assert.equal(await anybody(url), 401)
    assert.equal(await anybody('/user_uploads/1/no/such/file'), 401)
  })

  test('naming someone’s file does not share it', async () => {
    const { url } = await amy.call(api.upload, { file: file() })
    await cat.call(messages.send, { type: 'direct', to: [bob.id], content: `[mine](${url})` })
    assert.deepEqual([await status(bob, url), await status(cat, url)], [404, 404])
    assert.deepEqual((await amy.call(api.list, {})).attachments.at(-1)!.messages, [])
  })

  test('a part of a file can be asked for, and HEAD tells how large it is', async () => {
    const text = Array.from({ length: 100_000 }, (_, n) => String(n)).join(' ')
    const { url } = await amy.call(api.upload, { file: file(text) })
    const ask = (Range: string) => amy.raw('GET', url, { headers: { Range } })
    for (const [range, first, last] of [
      ['bytes=0-0', 0, 0],
      ['bytes=100-300099', 100, 300_099],
      ['bytes=588880-', 588_880, text.length - 1],
      ['bytes=-7', text.length - 7, text.length - 1],
      ['bytes=5-99999999999', 5, text.length - 1],
    ] as const) {
      const { status, text: part, headers } = await ask(range)
      assert.equal(status, 206, range)
      assert.equal(headers['content-range'], `bytes ${first}-${last}/${text.length}`)
      assert.equal(part, text.slice(first, last + 1))
    }
    for (const range of ['bytes=7-3', 'bytes=0-1,5-6', 'lines=1-2', 'bytes=-', 'bytes=x-'])
      assert.deepEqual([(await ask(range)).status, (await ask(range)).text.length], [200, text.length], range)
    const beyond = await ask(`bytes=${text.length}-`)
    assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, `bytes */${text.length}`])
    assert.match(beyond.body.msg, /^The file has 588889 bytes/)
    const head = await amy.raw('HEAD', url)
    assert.deepEqual([head.status, head.headers['content-length'], head.text], [200, String(text.length), ''])
    assert.equal((await amy.raw('HEAD', url, { headers: { Range: 'bytes=-7' } })).headers['content-length'], '7')
    const { url: empty } = await amy.call(api.upload, { file: file('') })
    assert.deepEqual(
      [(await amy.raw('GET', empty)).text, (await amy.raw('GET', empty)).headers['content-length']],
      ['', '0'],
    )
  })

  test('a file survives the daemon', async t => {
    const first = await startDaemon(t)
    const { url } = await first.owner.call(api.upload, { file: file('kept') })
    await first.end()
    const again = await host(first.data)
    assert.equal((await again.owner.raw('GET', url)).text, 'kept')
    await again.stop()
  })
})

describe('GET /attachments', () => {
  test('lists the messages that link a file, and editing changes them', async () => {
    const { url } = await amy.call(api.upload, { file: file('abc') })
    const heard = await listen(amy, ['attachment', 'message', 'update_message'])
    const message_id = await share(amy, `[a](${url}) and [again](${daemon().url}${url})`)
    const { attachments } = await amy.call(api.list, {})
    const attachment = attachments.at(-1)!
    assert.deepEqual(
      attachment.messages!.map(({ id }) => id),
      [message_id],
    )
    const events = await heard()
    assert.deepEqual(
      events.map(({ type, op }) => [type, op]),
      [
        ['attachment', 'update'],
        ['message', undefined],
      ],
    )
    assert.deepEqual(events[0]!.attachment, attachment)
    assert.equal(attachment.messages![0]!.date_sent, events[1]!.message.timestamp * 1000)
    const same = await amy.call(messages.update, { message_id, content: `still [a](${url})` })
    assert.deepEqual(same.detached_uploads, [])
    const { detached_uploads } = await amy.call(messages.update, { message_id, content: 'no more' })
    assert.deepEqual(detached_uploads, [{ ...attachment, messages: [] }])
    const changes = await heard()
    assert.deepEqual(changes.find(({ type }) => type === 'attachment')!.attachment.messages!, [])
    assert.equal(await status(bob, url), 404)
  })

  test('deleting a message takes it out of the list, and the owner of the file is told', async () => {
    const { url } = await amy.call(api.upload, { file: file('told') })
    const [first, second] = [await share(amy, `[a](${url})`), await share(bob, `[b](${url})`)]
    const heard = await listen(amy, ['attachment', 'delete_message'], {
      client_capabilities: { bulk_message_deletion: true },
    })
    await amy.call(messages.delete, { message_id: first! })
    const { attachments, upload_space_used } = await amy.call(api.list, {})
    const attachment = attachments.at(-1)!
    assert.deepEqual(
      attachment.messages!.map(({ id }) => id),
      [second],
    )
    const events = await heard()
    assert.deepEqual(
      events.map(({ type }) => type),
      ['delete_message', 'attachment'],
    )
    assert.deepEqual(events[1], { type: 'attachment', op: 'update', attachment, upload_space_used })
    const { id } = await amy.call(messages.send, { type: 'direct', to: [bob.id], content: `[c](${url})` })
    await heard()
    await amy.call(messages.delete, { message_id: id })
    assert.deepEqual(
      (await heard()).map(({ type, op }) => [type, op]),
      [
        ['delete_message', undefined],
        ['attachment', 'update'],
      ],
    )
    assert.equal(await status(bob, url), 200)
  })

  test('has:attachment finds them, and pictures are shown', async () => {
    const { url } = await amy.call(api.upload, { file: file(pixel.png, 'dot.png', 'image/png') })
    const message_id = await share(amy, `[dot.png](${url})`)
    const { message } = await bob.call(messages.get, { message_id })
    assert.match(message.content, /class="message_inline_image"/)
    assert.match(message.content, /data-original-dimensions="\d+x\d+"/)
    const { messages: found } = await bob.call(messages.list, {
      anchor: 'newest',
      num_before: 1,
      num_after: 0,
      narrow: [['has', 'attachment']],
    })
    assert.deepEqual(
      found.map(({ id }) => id),
      [message_id],
    )
  })
})

describe('DELETE /attachments/{attachment_id}', () => {
  test('removes a file of one’s own, and tells its owner', async () => {
    const { url } = await amy.call(api.upload, { file: file() })
    await share(amy, `[a](${url})`)
    const { id } = (await amy.call(api.list, {})).attachments.at(-1)!
    await bob.refused(api.remove, { attachment_id: id }, 'BAD_REQUEST')
    const heard = await listen(amy, ['attachment'])
    await amy.call(api.remove, { attachment_id: id })
    const { upload_space_used } = await amy.call(api.list, {})
    assert.deepEqual(await heard(), [{ type: 'attachment', op: 'remove', attachment: { id }, upload_space_used }])
    assert.deepEqual([await status(amy, url), await status(bob, url)], [404, 404])
    await amy.refused(api.remove, { attachment_id: id }, 'BAD_REQUEST')
  })

  test('its bytes go from the disk with the last file that has them, and what a crash left behind at the start', async t => {
    const first = await startDaemon(t)
    const kept = () => readdirSync(join(first.data, 'files')).length
    const soon = (count: number) => until(() => kept() === count)
    const { owner } = first
    const { url } = await owner.call(api.upload, { file: file('same', 'one.txt') })
    await owner.call(api.upload, { file: file('same', 'two.txt') })
    await owner.call(api.upload, { file: file('other') })
    assert.equal(kept(), 2)
    const [one, two, other] = (await owner.call(api.list, {})).attachments
    await owner.call(api.remove, { attachment_id: two!.id })
    await owner.call(api.remove, { attachment_id: other!.id })
    await soon(1)
    assert.equal((await owner.raw('GET', url)).text, 'same')
    await first.end()
    const orphan = join(first.data, 'files', '0'.repeat(64))
    writeFileSync(orphan, 'never named')
    writeFileSync(unfinishedPath(orphan), 'never finished')
    const again = await host(first.data)
    await soon(1)
    assert.equal((await again.owner.raw('GET', url)).text, 'same')
    // What it did not name it does not look at.
    writeFileSync(orphan, 'never named')
    await again.owner.call(api.remove, { attachment_id: one!.id })
    await soon(1)
    assert.equal(readFileSync(orphan, 'utf8'), 'never named')
    await again.stop()
  })

  test('keeping and removing the same bytes at the same time loses nothing', async () => {
    for (let round = 0; round < 20; round++) {
      const { url } = await amy.call(api.upload, { file: file('contested') })
      const { id } = (await amy.call(api.list, {})).attachments.at(-1)!
      const [, added] = await Promise.all([
        amy.call(api.remove, { attachment_id: id }),
        bob.call(api.upload, { file: file('contested') }),
      ])
      assert.deepEqual([await status(amy, url), await status(bob, added.url)], [404, 200])
      const mine = (await bob.call(api.list, {})).attachments.at(-1)!
      await bob.call(api.remove, { attachment_id: mine.id })
    }
  })
})
