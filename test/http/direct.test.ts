// The direct server (daemon/http/direct.ts) and node:http: whichever of the two reads a request, it is answered alike, and
// a connection may go from the one to the other at any request.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { events } from '../../daemon/api/events.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon, startDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, any>>
}

describe('requests read off the socket', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--control'] })
  const { head, form } = requests(() => daemon().ready.owner)
  /** Sends each piece when the one before is answered, on one connection. */
  const talk = (...pieces: string[]) => talkTo(daemon().url, pieces)

  test('one after the other on one connection', async () => {
    const answers = await talk(
      head('GET /api/v1/users/me'),
      form('title=a&content=b'),
      head('GET /api/v1/saved_snippets'),
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    )
    assert.equal(answers[1]!.headers.connection, 'keep-alive')
    assert.equal(answers[2]!.body.saved_snippets.at(-1).title, 'a')
  })

  test('several at once are answered in their order', async () => {
    const together = `${form('title=first&content=b')}${head('GET /api/v1/nowhere')}${form('title=&content=b')}`
    const answers = await talkTo(daemon().url, [together], 3)
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 404, 400],
    )
  })

  test('are dated by a clock that was frozen or moved, and the header has the same place in both', async t => {
    for (const flags of [[], ['--plain-http']]) {
      const frozen = await startDaemon(t, { flags: ['--memory', '--clock', 'frozen@2030-01-01T00:00:00Z', ...flags] })
      const { head } = requests(() => frozen.ready.owner)
      const ask = async () => Object.entries((await talkTo(frozen.url, [head('GET /api/v1/users/me')]))[0]!.headers)[0]
      assert.deepEqual(await ask(), ['date', 'Tue, 01 Jan 2030 00:00:00 GMT'])
      await new Control(frozen).call('POST', '/clock/resume')
      await new Control(frozen).call('POST', '/clock/advance', { by: '1d' })
      const [name, date] = (await ask())!
      assert.equal(name, 'date')
      assert.match(date, /^Wed, 02 Jan 2030 /)
    }
  })

  test('cut anywhere', async () => {
    const whole = form('title=cut&content=in+two')
    for (let at = 1; at < whole.length; at += 29) {
      const answers = await talkTo(daemon().url, [whole.slice(0, at), whole.slice(at)], 1)
      assert.equal(answers.length, 1, `cut at ${at}`)
      assert.equal(answers[0]!.status, 200)
    }
  })

  test('whose body comes in many pieces, or with the next request in the last', async () => {
    const content = `title=long&content=${'x'.repeat(9000)}`
    const whole = form(content) + head('GET /api/v1/users/me')
    const pieces = whole.match(/.{1,1500}/gs)!
    assert.deepEqual(
      (await talkTo(daemon().url, pieces, 2)).map(({ status }) => status),
      [200, 200],
    )
  })

  test('and then in another form: node:http goes on with the connection', async () => {
    const chunked = `${head('POST /api/v1/saved_snippets', 'Transfer-Encoding: chunked', 'Content-Type: application/x-www-form-urlencoded')}`
    for (const other of [
      `${chunked}11\r\ntitle=c&content=d\r\n0\r\n\r\n`,
      head('HEAD /api/v1/users/me'),
      head('GET /livez'),
      form('title=c&content=d', 'X-Note: caf\u00e9'),
      form('title=c&content=d', 'X-Note: once', 'X-Note: twice'),
    ]) {
      const answers = await talk(form('title=a&content=b'), other, form('title=e&content=f'))
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200],
        other,
      )
    }
  })

  test('that ask to go on are told to, and what follows is taken', async () => {
    const answers = await talkTo(daemon().url, [form('title=a&content=b', 'Expect: 100-continue')], 2)
    assert.deepEqual(
      answers.map(({ status }) => status),
      [100, 200],
    )
  })

  test('that say goodbye are hung up on', async () => {
    const [answer] = await talk(form('title=a&content=b', 'Connection: close'))
    assert.equal(answer!.headers.connection, 'close')
  })

  test('that are no HTTP are refused', async () => {
    for (const noise of [
      'GET /api/v1/users/me HTTP/1.1\r\nHost natter\r\n\r\n',
      head('GET /api/v1/users/me', 'Bad Name: x'),
      head('GET /api/v1/users/me', 'Content-Length: 5', 'Content-Length: 6'),
      head('GET /api/v1/users/me', 'Content-Length: -1'),
      head('GET /api/v1/users/me', 'Content-Length: 3', 'Transfer-Encoding: chunked'),
    ]) {
      const answers = await talk(noise)
      assert.deepEqual(
        answers.map(({ status }) => status),
        [400],
        noise,
      )
    }
  })

  test('get the same answer from both', async () => {
    for (const [line, fields] of [
      ['GET /api/v1/users/me', []],
      ['GET /api/v1/users/me?client_gravatar=false&what=1', []],
      ['GET /api/v1/users/%', []],
      ['GET /api/v1/users/999', []],
      ['PUT /api/v1/users/me', []],
      ['GET /api/v1/nowhere', []],
      ['DELETE /api/v1/saved_snippets/77', []],
      ['POST /api/v1/saved_snippets', ['Content-Type: application/json', 'Content-Length: 0']],
    ] as const) {
      const [short] = await talk(head(line, ...fields))
      const [long] = await talk(head(line, ...fields, 'Connection: close'))
      assert.deepEqual(comparable(short!), comparable(long!), line)
    }
  })

  test('a poll that waits while the clock is moved gets the new date from both', async t => {
    const other = await startDaemon(t, { flags: ['--memory', '--clock', 'frozen@2030-01-01T00:00:00Z'] })
    const { head } = requests(() => other.ready.owner)
    const control = new Control(other)
    const poll = async (...fields: string[]) => {
      const { queue_id } = await other.owner.call(events.register, { event_types: ['saved_snippets'] })
      const answer = talkTo(other.url, [head(`GET /api/v1/events?queue_id=${queue_id}&last_event_id=-1`, ...fields)])
      await control.waiting(queue_id!)
      await control.advance('1s')
      await other.owner.call(savedSnippets.create, { title: 'a', content: 'b' })
      return (await answer)[0]!.headers.date
    }
    assert.equal(await poll(), 'Tue, 01 Jan 2030 00:00:01 GMT')
    assert.equal(await poll('Connection: close'), 'Tue, 01 Jan 2030 00:00:02 GMT')
  })

  test('a request inside the body of another is never answered', async () => {
    // The inner one begins exactly where the first read of 64 KiB ends.
    const first = 'GET /api/v1/nope HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
    const outer = 'POST /api/v1/saved_snippets HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n'
    const before = 'x'.repeat(65_536 - first.length - outer.length)
    const inner = 'GET /api/v1/server_settings HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
    const body = (before + inner).padEnd(100_000, 'y')
    const answers = await talkTo(daemon().url, [first + outer + body], 2)
    assert.deepEqual(
      answers.map(({ status }) => status),
      [404, 401],
    )
  })

  test('more than one read of requests at once: each is answered, in order', async () => {
    const count = 1000
    const lines = Array.from({ length: count }, (_, n) => head(`GET /api/v1/none/${n}`))
    const answers = await talkTo(daemon().url, [lines.join('')], count)
    assert.deepEqual(
      answers.map(({ body }) => body.msg.replace(/^.*\//, '').replace(/\D+$/, '')),
      lines.map((_, n) => String(n)),
    )
  })

  test('who sends and does not read is not read from any more', async () => {
    const socket = connect(Number(new URL(daemon().url).port), '127.0.0.1')
    socket.on('error', () => {})
    const total = 100_000
    const request = head('GET /api/v1/server_settings')
    socket.write(request.repeat(total))
    socket.pause()
    const taken = () => socket.bytesWritten - socket.writableLength
    // The daemon answers others all the while, and takes no more of this one.
    for (let seen = -1, same = 0; same < 40; ) {
      assert.equal((await daemon().owner.raw('GET', '/api/v1/users/me')).status, 200)
      same = seen === taken() ? same + 1 : 0
      seen = taken()
      assert.ok(seen < total * request.length, 'the daemon read everything')
    }
    socket.destroy()
  })

  test('noise in the body of a request that was refused before gets no answer of its own', async () => {
    const request = head('POST /api/v1/saved_snippets', 'Transfer-Encoding: chunked').replace('127.0.0.1', 'elsewhere')
    for (const version of ['HTTP/1.1', 'HTTP/1.0']) {
      const begin = `${request.replace('HTTP/1.1', version)}4\r\nt`
      const together = await talkTo(daemon().url, [`${begin}itl\r\nnoise`], 1)
      const after = await talkTo(daemon().url, [begin, 'itl\r\nnoise'], 2)
      assert.equal(together.length, 1)
      assert.deepEqual([after.length, after[0]!.status], [1, 403])
    }
  })

  test('a request that noise cuts off has one answer, also while the code for pages is loading', async t => {
    // In a new daemon: the first requests for pages wait until the code for them is loaded.
    const { url } = await startDaemon(t, { flags: ['--memory'] })
    const cutOff = 'TRACE /static/icon.svg HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: identity\r\n\r\nnoise'
    const answers = await talkTo(url, [`DELETE /static/icon.svg HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n${cutOff}`], 3)
    assert.equal(answers.length, 2)
  })

  test('a page that answers before its body arrives does so before noise in the body is refused', async () => {
    await daemon().owner.raw('GET', '/static/icon.svg')
    const answers = await talk(`${head('POST /static/%zz', 'Transfer-Encoding: chunked')}noise`)
    assert.deepEqual(
      answers.map(({ body }) => body.msg),
      ["'/static/%zz' is not a valid url component"],
    )
  })

  test('a poll whose client has gone no longer waits', async () => {
    const { queue_id } = await daemon().owner.call(events.register, {})
    const socket = connect(Number(new URL(daemon().url).port), '127.0.0.1')
    socket.write(head(`GET /api/v1/events?queue_id=${queue_id}&last_event_id=-1`))
    const waits = async () => (await new Control(daemon()).call('GET', '/queues')).queues[0].waiting as boolean
    await until(waits)
    socket.destroy()
    await until(async () => !(await waits()))
  })
})

function requests(owner: () => { email: string; api_key: string }) {
  const head = (line: string, ...fields: string[]) => {
    const { email, api_key } = owner()
    const basic = Buffer.from(`${email}:${api_key}`).toString('base64')
    return [`${line} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Basic ${basic}`, ...fields, '', ''].join('\r\n')
  }
  const form = (body: string, ...fields: string[]) =>
    head(
      'POST /api/v1/saved_snippets',
      'Content-Type: application/x-www-form-urlencoded',
      `Content-Length: ${body.length}`,
      ...fields,
    ) + body
  return { head, form }
}

/** Sends the pieces, and gives what comes back: as many answers as expected, and whatever else comes soon after. */
async function talkTo(url: string, pieces: readonly string[], expected = pieces.length): Promise<Answer[]> {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, noDelay: true })
  let text = ''
  socket.on('error', () => {})
  socket.setEncoding('utf8').on('data', chunk => {
    text += chunk
  })
  const answered = (count: number) => until(() => socket.closed || text.split('HTTP/1.1 ').length > count)
  for (const [index, piece] of pieces.entries()) {
    socket.write(piece, 'latin1')
    if (pieces.length === expected) await answered(index + 1)
    else await sleep(2)
  }
  await answered(expected)
  await sleep(20)
  socket.destroy()
  return answersIn(text)
}

function answersIn(text: string): Answer[] {
  const answers: Answer[] = []
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n')
    const [line, ...lines] = rest.slice(0, end).split('\r\n')
    const headers = Object.fromEntries(lines.map(each => [each.split(': ')[0]!.toLowerCase(), each.split(': ')[1]!]))
    const status = Number(line!.split(' ')[1])
    const after = rest.slice(end + 4)
    // HEAD says how long the body would be.
    const length = after.startsWith('HTTP/1.1') ? 0 : Number(headers['content-length'] ?? 0)
    const body = after.slice(0, length)
    answers.push({ status, headers, body: body === '' ? {} : JSON.parse(body) })
    rest = after.slice(length)
  }
  return answers
}

function comparable({ status, headers, body }: Answer) {
  const { date: _date, 'x-request-id': _id, connection: _connection, 'keep-alive': _alive, ...rest } = headers
  return { status, headers: rest, body }
}
