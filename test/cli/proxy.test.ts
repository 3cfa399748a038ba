// `natter proxy`: a server behind it answers as if it were called directly, and what was said is in the recording, without secrets.

import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, createServer as createSocketServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { events } from '../../daemon/api/events.ts'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { users } from '../../daemon/api/people/users.ts'
import { createClient } from '../../daemon/client/index.ts'
import { accountAt, newShell, Watched } from '../support/cli.ts'
import { Control } from '../support/control.ts'
import { Caller, sharedDaemon, startDaemon } from '../support/daemon.ts'
import { send } from '../support/http.ts'
import { listen, startProxy, startProxyAlone, upstream } from '../support/proxies.ts'
import { until } from '../support/until.ts'
import { loadZulipJs } from '../support/zulip-js.ts'

const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })

describe('natter proxy', () => {
  test('passes calls, polls, uploads and errors through, and records them without the key', async t => {
    const { owner } = daemon()
    const proxy = await startProxyAlone(t, daemon().url)
    const caller = new Caller(proxy.url, owner.email, owner.key, owner.id)
    const { queue_id } = (await caller.call(events.register, { event_types: ['message'] })) as { queue_id: string }
    const polling = caller.call(events.get, { queue_id, last_event_id: -1 })
    await caller.call(messages.send, { type: 'channel', to: 'general', topic: 't', content: 'through the proxy' })
    const { events: heard } = await polling
    assert.equal((heard[0] as any).message.content, 'through the proxy')
    await caller.call(uploads.upload, {
      file: { filename: 'a.txt', contentType: 'text/plain', bytes: Buffer.alloc(2_000_000, 'x') },
    } as never)
    await caller.refused(users.show, { user_id: 99_999 }, 'BAD_REQUEST')
    const wrong = await send(`${proxy.url}/api/v1/users/me`, { auth: `${owner.email}:${'x'.repeat(32)}` })
    assert.equal(wrong.status, 401)
    assert.match(String(wrong.headers['www-authenticate']), /^Basic/)
    const [head, ...lines] = await proxy.stop()
    assert.equal(head!.natter_recording, 1)
    assert.deepEqual(lines.at(-1), { end: 6 })
    const calls = lines.slice(0, -1).sort((a, b) => a.call - b.call)
    assert.deepEqual(
      calls.map(({ endpoint, status, user }) => [endpoint, status, user]),
      [
        ['register-queue', 200, owner.email],
        ['get-events', 200, owner.email],
        ['send-message', 200, owner.email],
        ['upload-file', 200, owner.email],
        ['get-user', 400, owner.email],
        ['get-own-user', 401, owner.email],
      ],
    )
    assert.equal(calls[2]!.sent.content, 'through the proxy')
    assert.ok(calls[3]!.sent.file.size > 2_000_000)
    assert.ok(!readFileSync(proxy.file, 'utf8').includes(owner.key!))
  })

  test('refuses pages of other sites, and names that are not of this machine', async t => {
    const proxy = await startProxy(t, daemon().url)
    const foreign = [{ Host: 'evil.example' }, { Origin: 'https://evil.example' }, { Origin: 'null' }]
    for (const headers of foreign) {
      const { status, body } = await send(`${proxy.url}/api/v1/server_settings`, { headers })
      assert.equal(status, 403, JSON.stringify(headers))
      assert.match(body.msg, /loopback names only/)
    }
    const own = await send(`${proxy.url}/api/v1/server_settings`, { headers: { Origin: proxy.url } })
    assert.equal(own.status, 200)
    const [, ...lines] = await proxy.stop()
    assert.deepEqual(lines.at(-1), { end: 1 })
  })

  test('zulip-js works through it', async t => {
    const { owner } = daemon()
    const proxy = await startProxy(t, daemon().url)
    const { zulip, restore } = loadZulipJs()
    t.after(restore)
    const client = await zulip({ username: owner.email, apiKey: owner.key, realm: proxy.url })
    const sent = await client.messages.send({ type: 'stream', to: 'general', subject: 't', content: 'by zulip-js' })
    assert.equal(sent.result, 'success')
    const lines = await proxy.stop()
    assert.match(lines.find(line => line.endpoint === 'send-message')!.user_agent, /node-fetch/)
  })

  test('natter tail and natter/client follow a server of the public dialect through it', async t => {
    const server = await startDaemon(t, { flags: ['--memory', '--preset', 'dev', '--dialect', 'zulip'] })
    const { owner } = server
    const proxy = await startProxy(t, server.url)
    const tail = new Watched(t, newShell(t, accountAt(proxy.url, owner.email, owner.key)).spawn(['tail', '--count=2']))
    await tail.said(/ready/)
    const client = createClient({ site: proxy.url, email: owner.email!, apiKey: owner.key! })
    const stream = client.events({ types: ['message'] })
    const params = { type: 'stream', to: 'general', topic: 't' } as const
    await owner.call(messages.send, { ...params, content: 'first' })
    const heard = stream.next()
    await until(async () => (await new Control(server).call('GET', '/queues')).queues.length === 2)
    await owner.call(messages.send, { ...params, content: 'second' })
    assert.equal(((await heard).value as any).message.content, 'second')
    assert.match((await tail.until(2)).join('\n'), /: first\n.*: second/)
    assert.equal(await tail.ended, 0)
    await stream.return(undefined)
    await proxy.stop()
  })

  test('continues a recording with --append, after its last whole line', async t => {
    const line =
      '{"call":7,"time":1,"user":null,"method":"GET","path":"/api/v1/x","endpoint":null,"sent":{},"status":200,"answer":{}}'
    const before = `{"natter_recording":1,"version":"0"}\n${line}\n{"end":1}\n{"call":8,"ti`
    const proxy = await startProxy(t, daemon().url, ['--append'], before)
    await send(`${proxy.url}/api/v1/server_settings`)
    const lines = await proxy.stop()
    assert.deepEqual(
      lines.map(({ call, end }) => call ?? end),
      [undefined, 7, 8, 2],
    )
    const begun = await startProxy(t, daemon().url, ['--append'], '{"natter_recording":1,"ver')
    const [first, end] = await begun.stop()
    assert.deepEqual([first!.natter_recording, end!.end], [1, 0])
  })

  test('replaces no file with --disguise, with or without --append, and continues a recording that a crash left', async t => {
    const shell = newShell(t)
    const file = join(shell.home, 'talk.ndjson')
    const args = ['proxy', file, '--to', daemon().url, '--disguise']
    writeFileSync(file, 'notes')
    for (const flags of [[], ['--append']]) {
      const { code, stderr } = await shell.run([...args, ...flags, '--', 'true'])
      assert.equal(code, 2, stderr)
      assert.match(stderr, /talk\.ndjson exists\n {2}Choose another name: a disguised recording cannot be continued/)
    }
    assert.equal(readFileSync(file, 'utf8'), 'notes')
    rmSync(file)
    writeFileSync(`${file}.partial`, '{"natter_recording":1,"version":"0"}\n{"call":1,"path":"/api/v1/x"}\n')
    const { code, stderr } = await shell.run([...args, '--append', '--', 'true'])
    assert.equal(code, 0, stderr)
    assert.match(readFileSync(file, 'utf8'), /\n\{"call":1,.*\n\{"end":1\}\n$/)
  })

  test('unpacks a compressed answer for the recording alone', async t => {
    const packed = gzipSync('{"result":"success","api_key":"secret","msg":"é"}')
    const site = await upstream(t, (_, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(packed))
    const proxy = await startProxy(t, site)
    const reply = await send(`${proxy.url}/api/v1/users/me`)
    assert.equal(reply.headers['content-encoding'], 'gzip')
    const [, call] = await proxy.stop()
    assert.deepEqual(call!.answer, { result: 'success', api_key: '***', msg: 'é' })
  })

  test('speaks HTTPS with the server, and only if it trusts the certificate', async t => {
    const fixture = (kind: string) => join(import.meta.dirname, `../fixtures/tls/good-${kind}.pem`)
    const [cert, key] = [readFileSync(fixture('cert')), readFileSync(fixture('key'))]
    const secure = createSecureServer({ cert, key }, (_, response) => response.end('{"result":"success"}'))
    const site = (await listen(t, secure)).replace('http:', 'https:')
    const trusting = await startProxyAlone(t, site, { NODE_EXTRA_CA_CERTS: fixture('cert') })
    assert.equal((await send(`${trusting.url}/api/v1/users/me`)).body.result, 'success')
    await trusting.stop()
    const wary = await startProxy(t, site)
    const { status, body } = await send(`${wary.url}/api/v1/users/me`)
    assert.equal(status, 502)
    assert.match(body.msg, /SELF_SIGNED|DEPTH_ZERO/)
    await wary.stop()
  })

  test('does not follow a redirect to another server: no key goes there', async t => {
    const asked: string[] = []
    const other = await upstream(t, (request, response) => {
      asked.push(request.url!)
      response.end()
    })
    const site = await upstream(t, (_, response) =>
      response.writeHead(302, { Location: `${other}/api/v1/users/me` }).end(),
    )
    const proxy = await startProxy(t, site)
    const reply = await send(`${proxy.url}/api/v1/users/me`, { auth: 'amy@example.com:key' })
    assert.deepEqual([reply.status, reply.headers.location], [302, `${other}/api/v1/users/me`])
    assert.deepEqual(asked, [])
    await proxy.stop()
  })

  test('answers 502 when the server is gone or answers nonsense, and cuts what the server cuts', async t => {
    const cut = await upstream(t, (_, response) => {
      response.writeHead(200, { 'Content-Length': 100 })
      response.write('{"result"')
      setImmediate(() => response.destroy())
    })
    const nonsense = await listen(
      t,
      createSocketServer(socket => socket.on('error', () => {}).end('hello\n')),
    )
    for (const [site, status] of [
      ['http://127.0.0.1:9', 502],
      [nonsense, 502],
      [cut, undefined],
    ] as const) {
      const proxy = await startProxy(t, site)
      const reply = await send(`${proxy.url}/api/v1/users/me`).catch(() => undefined)
      assert.equal(reply?.status, status)
      if (reply) assert.match(reply.body.msg, /cannot be reached or does not speak HTTP/)
      const [, call] = await proxy.stop()
      assert.deepEqual([call!.lost, call!.status], [true, null])
    }
  })

  test('passes on what a slow server has sent so far, and Ctrl-C does not wait for the rest', async t => {
    const answers: ServerResponse[] = []
    const site = await upstream(t, (_, response) => {
      answers.push(response)
      response.write('{"result":')
    })
    const proxy = await startProxy(t, site)
    const ask = async () => (await fetch(`${proxy.url}/api/v1/users/me`)).body!.pipeThrough(new TextDecoderStream())
    const slow = (await ask()).getReader()
    assert.equal((await slow.read()).value, '{"result":')
    answers[0]!.end('"success"}')
    assert.equal((await slow.read()).value, '"success"}')
    const never = (await ask()).getReader()
    assert.equal((await never.read()).value, '{"result":')
    const cut = assert.rejects(never.read())
    const [, whole, half] = await proxy.stop()
    await cut
    assert.deepEqual([whole!.status, whole!.answer], [200, { result: 'success' }])
    assert.deepEqual([half!.status, half!.lost], [null, true])
  })

  test('a body stays a body, however its length is given', async t => {
    const paths: (string | undefined)[] = []
    const site = await upstream(t, (request, response) => {
      paths.push(request.url)
      request.resume().on('end', () => response.end('{}'))
    })
    const proxy = await startProxy(t, site)
    const hidden = 'GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n'
    const lengths = [
      `Connection: content-length\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
      `Transfer-Encoding: chunked\r\n\r\n${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`,
    ]
    for (const text of lengths)
      await new Promise(resolve => {
        const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1')
        socket.once('data', () => socket.destroy()).once('close', resolve)
        socket.write(`DELETE /api/v1/users/me/status HTTP/1.1\r\nHost: localhost\r\n${text}`)
      })
    assert.equal((await proxy.stop()).length, 4)
    assert.deepEqual(paths, ['/api/v1/users/me/status', '/api/v1/users/me/status'])
  })

  test('goes on after statuses of every kind, a change of the protocol, and JSON that nests too deeply', async t => {
    const heads = [
      '099 Odd\r\nContent-Length: 0\r\n\r\n',
      '101 Change\r\n\r\n',
      '200 \x1b[31m\x80\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}',
      '101 Change\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
      `200 OK\r\nContent-Length: 100000\r\n\r\n${'['.repeat(50_000)}${']'.repeat(50_000)}`,
    ]
    const hostile = await listen(
      t,
      createSocketServer(socket => {
        socket.on('error', () => {}).on('data', () => socket.end(`HTTP/1.1 ${heads.shift()}`, 'latin1'))
      }),
    )
    const proxy = await startProxy(t, hostile)
    for (const status of [99, 101]) {
      const odd = await send(`${proxy.url}/api/v1/users/me`)
      assert.equal(odd.status, 502)
      assert.match(odd.body.msg, new RegExp(`a status that is no answer: ${status}`))
    }
    assert.equal((await send(`${proxy.url}/api/v1/users/me`)).status, 200)
    const changed = await send(`${proxy.url}/api/v1/users/me`)
    assert.equal(changed.status, 502)
    assert.match(changed.body.msg, /changed to another protocol/)
    assert.equal((await send(`${proxy.url}/api/v1/users/me`)).status, 200)
    const lines = await proxy.stop()
    assert.deepEqual([lines.length, lines[5]!.status, lines[5]!.answer], [7, 200, null])
  })

  const refused: readonly (readonly [readonly string[], RegExp])[] = [
    [['talk.ndjson'], /no server given/],
    [['talk.ndjson', '--to', 'chat.example.com'], /not the address of a server/],
    [['talk.ndjson', '--to', 'http://me:key@127.0.0.1'], /must not have a user or a password/],
    [['talk.ndjson', '--to', 'http://127.0.0.1', '--port', '99999'], /--port: must be a number up to 65535/],
    [['.', '--to', 'http://127.0.0.1'], /exists/],
    [['none/talk.ndjson', '--to', 'http://127.0.0.1'], /cannot write none\/talk.ndjson: ENOENT/],
  ]
  for (const [args, expected] of refused)
    test(`refuses ${args.join(' ')}`, async t => {
      const { code, stderr } = await newShell(t).run(['proxy', ...args])
      assert.notEqual(code, 0)
      assert.match(stderr, expected)
    })
})
