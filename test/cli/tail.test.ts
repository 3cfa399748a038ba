// `natter tail`, with a server that misbehaves on purpose.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { accountAt, fakeServer, json, newShell, Watched } from '../support/cli.ts'
import { launch } from '../support/daemon.ts'
import { fakeChat } from '../support/fake-chat.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'

describe('natter tail', () => {
  test('prints time, place, sender and text; history first, nothing twice', async t => {
    const chat = await fakeChat(t)
    for (const text of ['one', 'two', 'three']) chat.say(text)
    const tail = new Watched(t, newShell(t, { ...chat.env, TZ: 'UTC' }).spawn(['tail', '-n', '2']))
    await tail.until(2)
    chat.say('four\nlines')
    chat.say('hey \u001b[31m', {
      type: 'private',
      subject: '',
      display_recipient: [
        { id: 8, email: 'amy@example.com', full_name: 'Amy Adams' },
        { id: 9, email: 'bob@example.com', full_name: 'Bob Brown' },
      ],
    })
    assert.deepEqual(await tail.until(5), [
      '2023-11-14 22:13  #general > deploys  Bob Brown: two',
      '2023-11-14 22:13  #general > deploys  Bob Brown: three',
      '2023-11-14 22:13  #general > deploys  Bob Brown: four',
      '      lines',
      '2023-11-14 22:13  @ Bob Brown  Bob Brown: hey \\x1b[31m',
    ])
    assert.equal(tail.stderr, 'ready: listening for message events as amy@example.com (queue q1)\n')
    tail.child.kill('SIGINT')
    assert.equal(await tail.ended, 130)
    await until(() => chat.asked.at(-1) === 'DELETE /events')
  })

  test('prints other events as sentences, with the place of their message', async t => {
    const chat = await fakeChat(t)
    const words = ['tail', '--type', 'message,reaction,edit,delete,typing,presence', '--count', '6']
    chat.onRegister = () => {
      const id = chat.say('ship it')
      const user = { user_id: 9, email: 'bob@example.com', full_name: 'Bob Brown' }
      chat.tell({ type: 'reaction', op: 'add', message_id: id, emoji_name: 'tada', user_id: 9, user })
      chat.tell({ type: 'update_message', message_id: id, message_ids: [id], user_id: 9, content: 'shipped' })
      chat.tell({ type: 'typing', op: 'start', message_type: 'stream', stream_id: 5, topic: 'x', sender: user })
      chat.tell({ type: 'presence', user_id: 9, email: user.email, presence: { website: { status: 'idle' } } })
      chat.tell({ type: 'delete_message', message_ids: [id], message_type: 'stream', stream_id: 5, topic: 'deploys' })
    }
    const { code, stdout, stderr } = await newShell(t, chat.env).run(words)
    assert.equal(code, 0, stderr)
    const lines = stdout.trimEnd().split('\n')
    assert.deepEqual(
      lines.map(line => line.replace(/^[\d: -]+ {2}/, '')),
      [
        '#general > deploys  Bob Brown: ship it',
        '#general > deploys  Bob Brown reacted with :tada: to “ship it”',
        '#general > deploys  Bob Brown edited “ship it” to “shipped”',
        '#general > x  Bob Brown is typing',
        'bob@example.com is idle',
        '#general > deploys  deleted “ship it”',
      ],
    )
  })

  test('filters by channel, topic, sender, direct messages and mentions', async t => {
    const chat = await fakeChat(t)
    const shell = newShell(t, chat.env)
    const plain = {}
    const elsewhere = { subject: 'other' }
    const byAmy = { stream_id: 6, display_recipient: 'random', sender_id: 8, sender_email: 'amy@example.com' }
    const direct = { type: 'private', display_recipient: [{ id: 8 }, { id: 9 }], subject: '', stream_id: undefined }
    for (const [flags, wanted, last] of [
      [['--channel', '#general'], ['a', 'b'], plain],
      [['--topic', 'Other'], ['b'], elsewhere],
      [['--sender', 'amy@example.com'], ['c'], byAmy],
      [['--dm'], ['d'], direct],
      [['--dm', 'bob@example.com'], ['d'], direct],
      [['--channel', 'id:6'], ['c'], byAmy],
    ] as const) {
      chat.onRegister = () => {
        chat.say('a', plain)
        chat.say('b', elsewhere)
        chat.say('c', byAmy)
        chat.say('d', direct)
        chat.say('the end', last)
      }
      const { stdout } = await shell.run([
        'tail',
        '--jq',
        '.message.content',
        '--until',
        'the end',
        '--within',
        '2m',
        ...flags,
      ])
      assert.equal(stdout, [...wanted, 'the end', ''].join('\n'), flags.join(' '))
    }
    const wrong = await shell.run(['tail', '--channel', 'genral'])
    assert.equal(wrong.code, 3)
    assert.match(wrong.stderr, /Did you mean general/)
  })

  test('goes on over lost connections and expired queues, filling in what was missed', async t => {
    const chat = await fakeChat(t)
    const tail = new Watched(t, newShell(t, chat.env).spawn(['tail', '--jq', '.message.content // .type']))
    await tail.said(/ready/)
    chat.say('one')
    await tail.until(1)
    chat.drop(2)
    await tail.said(/retrying/)
    chat.say('two')
    await tail.until(2)
    chat.expireQueues()
    chat.say('three')
    chat.say('four')
    await tail.until(4)
    chat.say('five')
    assert.deepEqual(await tail.until(5), ['one', 'two', 'three', 'four', 'five'])
  })

  test('says on stderr where a gap is, if parts of events are printed', async t => {
    for (const chosen of [
      ['--jq', '.message.content'],
      ['--fields', 'message.content'],
    ]) {
      const chat = await fakeChat(t)
      const words = ['tail', '--type', 'message,typing', '--count', '2', ...chosen]
      const tail = newShell(t, chat.env).run(words)
      await chat.heard('GET /events', 1)
      chat.say('one')
      await chat.heard('GET /events', 2)
      chat.expireQueues()
      await chat.heard('GET /events', 3)
      chat.say('two')
      const { stdout, stderr } = await tail
      assert.match(stderr, /--- gap: .*may be missing: typing ---/)
      assert.match(stdout, /^.*one.*\n.*two.*\n$/)
    }
  })

  test('marks a gap that it could not fill', async t => {
    const chat = await fakeChat(t)
    const tail = new Watched(t, newShell(t, chat.env).spawn(['tail', '--type', 'message,typing', '--json']))
    await tail.said(/ready/)
    chat.say('one')
    await tail.until(1)
    chat.expireQueues()
    chat.say('two')
    await tail.until(3)
    const gap = JSON.parse(tail.lines[2]!)
    assert.deepEqual([gap.type, gap.lost_types, gap.messages_filled], ['_gap', ['typing'], 1])
    chat.historyWorks = false
    chat.expireQueues()
    await tail.until(4)
    assert.deepEqual(JSON.parse(tail.lines[3]!).lost_types, ['message', 'typing'])
    chat.historyWorks = true
    chat.beginAnew()
    chat.say('a new world')
    await tail.until(6)
    assert.equal(JSON.parse(tail.lines[4]!).message.content, 'a new world')
    assert.equal(JSON.parse(tail.lines[5]!).reason, 'the server was reset')
  })

  test('repeats nothing when the newest message is deleted while the queue expires', async t => {
    const chat = await fakeChat(t)
    for (const text of ['before', 'our time']) chat.say(text)
    const shell = newShell(t, chat.env)
    const tail = new Watched(t, shell.spawn(['tail', '--jq', '.message.content // .reason']))
    await tail.said(/ready/)
    chat.say('one')
    chat.delete(chat.say('two'))
    await tail.until(2)
    chat.expireQueues()
    await tail.said(/ready/)
    await chat.heard('POST /register', 2)
    chat.say('three')
    assert.deepEqual(await tail.until(3), ['one', 'two', 'three'])
    // A cursor alone cannot tell a deletion from a server that was set back.
    const words = ['tail', '--cursor', 'cursor.json', '--jq', '.message.content // .reason', '--count', '1']
    const first = new Watched(t, shell.spawn(words))
    await first.said(/ready/)
    chat.delete(chat.say('four'))
    assert.equal(await first.ended, 0)
    chat.expireQueues()
    const second = new Watched(t, shell.spawn(words))
    await second.said(/ready/)
    chat.say('five')
    assert.equal(await second.ended, 0)
    assert.deepEqual(second.lines, ['messages were deleted, or the server was set back', 'five'])
  })

  test('--cursor goes on where it stopped, even when killed, and without its queue', async t => {
    const chat = await fakeChat(t)
    const shell = newShell(t, chat.env)
    const words = ['tail', '--cursor', 'cursor.json', '--jq', '.message.content']
    const first = new Watched(t, shell.spawn(words))
    await first.said(/ready/)
    for (const text of ['one', 'two']) chat.say(text)
    await first.until(2)
    await until(() => lastMessageIn(join(shell.home, 'cursor.json')) === 2)
    first.child.kill('SIGKILL')
    await first.ended
    chat.say('three')
    const second = await shell.run([...words, '--count', '1'])
    assert.deepEqual([second.code, second.stdout], [0, 'three\n'], second.stderr)
    assert.ok(!chat.asked.includes('DELETE /events'))
    chat.expireQueues()
    chat.say('four')
    chat.say('five')
    const third = await shell.run([...words, '--count', '2'])
    assert.deepEqual([third.code, third.stdout], [0, 'four\nfive\n'], third.stderr)
    const other = await shell.with({ NATTER_EMAIL: 'bob@example.com' }).run(words)
    assert.equal(other.code, 1)
    assert.match(other.stderr, /belongs to amy@example\.com/)
    writeFileSync(join(shell.home, 'cursor.json'), '{')
    assert.equal((await shell.run(words)).code, 1)
  })

  test('ends by itself: --count, --until, --idle, --within', async t => {
    const chat = await fakeChat(t)
    const shell = newShell(t, chat.env)
    assert.equal((await shell.run(['tail', '--idle', '100ms'])).code, 0)
    assert.equal((await shell.run(['tail', '--within', '100ms'])).code, 0)
    assert.equal((await shell.run(['tail', '--within', '100ms', '--count', '1'])).code, 8)
    assert.equal((await shell.run(['tail', '--idle', '100ms', '--until', 'x'])).code, 8)
    chat.onRegister = () => {
      for (const text of ['not done', 'dooone', 'more']) chat.say(text)
    }
    const until = await shell.run(['tail', '--until', '/^do+ne$/', '--jq', '.message.content'])
    assert.deepEqual([until.code, until.stdout], [0, 'not done\ndooone\n'], until.stderr)
    for (const flags of [
      ['--count', 'x'],
      ['--within', 'soon'],
      ['--until', '/(/'],
      ['--on-error', 'x'],
      ['--since', '?'],
    ])
      assert.equal((await shell.run(['tail', ...flags])).code, 2, flags.join(' '))
  })

  test('--exec runs a command with JSON on stdin and variables, never with content as code', async t => {
    const chat = await fakeChat(t)
    const shell = newShell(t, chat.env)
    const command = 'printf "%s|%s|%s\\n" "$NATTER_TOPIC" "$NATTER_CONTENT" "$(cat | wc -l | tr -d " ")"'
    chat.onRegister = () => {
      chat.say('$(touch pwned); `touch pwned`', { subject: "'; touch pwned" })
      chat.say('two')
    }
    const { code, stdout, stderr } = await shell.run(['tail', '--exec', command, '--count', '2', '--jobs', '2'])
    assert.equal(code, 0, stderr)
    const lines = stdout.trimEnd().split('\n').sort()
    assert.deepEqual(lines, ["'; touch pwned|$(touch pwned); `touch pwned`|1", 'deploys|two|1'])
    assert.ok(!existsSync(join(shell.home, 'pwned')))
    const stopped = await shell.run(['tail', '--exec', 'exit 3', '--on-error', 'stop'])
    assert.equal(stopped.code, 1)
    assert.match(stopped.stderr, /the command failed with exit code 3/)
  })

  test('--exec cuts a variable that is too long for a process, and gives all of it on stdin', async t => {
    const chat = await fakeChat(t)
    const command =
      'echo "$(printf %s "$NATTER_CONTENT" | wc -c | tr -d " ")|$(test $(wc -c) -gt 300000 && echo whole)"'
    chat.onRegister = () => void chat.say('x'.repeat(300_000))
    const { code, stdout, stderr } = await newShell(t, chat.env).run(['tail', '--exec', command, '--count', '1'])
    assert.deepEqual([code, stdout], [0, '32000|whole\n'], stderr)
  })

  test('--reply posts what a command prints, in the same place, and never answers itself', async t => {
    const chat = await fakeChat(t)
    chat.onRegister = () => {
      chat.say('mine', { sender_id: 8, sender_email: 'amy@example.com' })
      chat.say('hello')
      chat.say('psst', { type: 'private', display_recipient: [{ id: 8 }, { id: 9 }], subject: '' })
    }
    const words = ['tail', '--reply', 'echo "re: $NATTER_CONTENT"', '--count', '3']
    const { code, stderr } = await newShell(t, chat.env).run(words)
    assert.equal(code, 0, stderr)
    assert.deepEqual(chat.posted, [
      { type: 'channel', to: '5', topic: 'deploys', content: 're: hello' },
      { type: 'direct', to: '[8,9]', content: 're: psst' },
    ])
  })

  test('--forward-to posts each event, and retries with --on-error retry', async t => {
    const chat = await fakeChat(t)
    const got: string[] = []
    let failures = 1
    const hook = await fakeServer(t, (_, response, body) => {
      if (failures-- > 0) return json(response, {}, 500)
      got.push(JSON.parse(body).message.content)
      json(response, {})
    })
    const words = ['tail', '--forward-to', hook, '--on-error', 'retry', '--count', '1', '--quiet', '--json']
    chat.onRegister = () => void chat.say('on')
    const { code, stderr } = await newShell(t, chat.env).run(words)
    assert.deepEqual([code, got, stderr], [0, ['on'], ''])
  })

  test('with a real daemon: kill -9 and a restart lose nothing and repeat nothing', async t => {
    const data = mkdtempSync(join(tmpdir(), 'natter-tail-'))
    const flags = ['--port', String(await freePort())]
    const first = await launch(data, { flags })
    t.after(() => rmSync(data, { recursive: true, force: true }))
    const { email, api_key } = first.ready.owner
    const shell = newShell(t, accountAt(first.url, email, api_key))
    const say = async (text: string) => {
      const { code, stdout, stderr } = await shell.run(['send', text, '--to', email, '--jq', '.id'])
      assert.equal(code, 0, stderr)
      return Number(stdout)
    }
    const tail = new Watched(t, shell.spawn(['tail', '--cursor', 'place', '--jq', '.message.content']))
    await tail.said(/ready/)
    await say('before')
    await tail.until(1)
    await first.kill()
    await tail.said(/retrying/)
    const second = await launch(data, { flags })
    t.after(() => second.kill())
    const last = await say('after')
    await tail.until(2)
    // A kill between a line and its cursor would repeat the line, as the help says.
    await until(() => lastMessageIn(join(shell.home, 'place')) === last)
    tail.child.kill('SIGKILL')
    await tail.ended
    await say('meanwhile')
    const again = await shell.run(['tail', '--cursor', 'place', '--count', '1', '--jq', '.message.content'])
    assert.deepEqual([tail.lines, again.stdout], [['before', 'after'], 'meanwhile\n'], again.stderr)
  })
})

/** Undefined while it is not there yet, or being written. */
function lastMessageIn(cursor: string): number | undefined {
  try {
    return JSON.parse(readFileSync(cursor, 'utf8')).last_message_id
  } catch {
    return undefined
  }
}
