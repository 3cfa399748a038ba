// Links to messages, topics and channels: printed with --fields link, and accepted wherever an ID or a name is.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { messages } from '../../daemon/api/messages/messages.ts'
import { accountAt, Shell } from '../support/cli.ts'
import { sharedDaemon, type TestDaemon } from '../support/daemon.ts'

let daemon: TestDaemon
let shell: Shell
let channelId: number
let id: number

sharedDaemon({ flags: ['--memory', '--preset', 'dev', '--control'] }, async started => {
  daemon = started
})

describe('links', () => {
  before(async () => {
    const { email, api_key } = daemon.ready.owner
    const account = { ...accountAt(daemon.url, email, api_key), NATTER_CONTROL_TOKEN: daemon.ready.control_token! }
    shell = new Shell(mkdtempSync(join(tmpdir(), 'natter-home-')), account)
    id = (await daemon.owner.call(messages.send, { type: 'channel', to: 'general', topic: 'a > b', content: 'linked' }))
      .id
    channelId = (await daemon.owner.call(messages.get, { message_id: id })).message.stream_id!
  })

  after(() => rmSync(shell.home, { recursive: true, force: true }))

  const natter = async (...args: string[]) => {
    const { code, stdout, stderr } = await shell.run(args)
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
    return stdout.trim()
  }

  /** In a process of its own, since it writes to the descriptor of stdout. */
  const tail = async (...args: string[]) => {
    const { code, stdout, stderr } = await shell.natter(['tail', ...args])
    assert.equal(code, 0, stderr)
    return stdout
  }

  const topic = 'a.20.3E.20b'
  const near = () => `${daemon.url}/#narrow/channel/${channelId}-general/topic/${topic}/near/${id}`

  test('--fields link prints them: send, messages list, messages show and tail', async () => {
    const sent = await natter('send', '#general>a > b', 'another', '--fields', 'link')
    assert.match(
      sent,
      new RegExp(`^${daemon.url}/#narrow/channel/${channelId}-general/topic/a\\.20\\.3E\\.20b/near/\\d+$`),
    )
    assert.equal(await natter('messages', 'show', sent, '--fields', 'content'), 'another')
    const listed = await natter('messages', 'list', '--channel', 'general', '--topic', 'a > b', '--fields', 'link')
    assert.deepEqual(listed.split('\n'), [near(), sent])
    assert.deepEqual(
      JSON.parse(await natter('send', 'hi', '--to', 'amy@example.com', '--fields', 'id,link', '--json')).link.match(
        /dm\/[\d,]+-dm\/near\/\d+$/,
      )?.length,
      1,
    )
    const tailed = await tail('-n', '1', '--channel', near(), '--count', '1', '--fields', 'link')
    assert.deepEqual(JSON.parse(tailed), { link: sent })
    const since = await tail('--since', near(), '--channel', `id:${channelId}`, '--count', '1', '--fields', 'link')
    assert.deepEqual(JSON.parse(since), { link: sent })
  })

  test('a message, a topic and a channel are accepted as links of every spelling', async () => {
    const tails = [
      `#narrow/channel/${channelId}-general/topic/${topic}/near/${id}`,
      `#narrow/stream/${channelId}-general/topic/${topic}/near/${id}`,
      `#narrow/stream/${channelId}-general/subject/${topic}/with/${id}`,
    ]
    for (const link of [...tails, ...tails.map(tail => `${daemon.url}/${tail}`), ...tails.map(tail => `/${tail}`)]) {
      assert.equal(await natter('messages', 'show', link, '--fields', 'content'), 'linked')
      assert.match(await natter('messages', 'list', '--anchor', link, '--before', '0', '--after', '0'), /linked/)
      assert.match(await natter('messages', 'list', '--channel', link), /linked/)
    }
    await natter('reactions', 'add', near(), 'heart')
    await natter('flags', 'add', 'starred', near())
    assert.match(await natter('messages', 'list', '--message-ids', near()), /linked/)
    const reply = await natter('send', near(), 'in the same place', '--fields', 'link')
    assert.match(reply, /topic\/a\.20\.3E\.20b\/near\//)
    assert.match(await natter('topics', 'list', near()), /a > b/)
    assert.match(await natter('channels', 'show', near()), /general/)
    await natter('topics', 'follow', near())
    assert.match(await natter('why', near(), 'amy@example.com'), /amy/)
    const place = `${daemon.url}/#narrow/channel/${channelId}-general`
    assert.match(await natter('unsubscribe', place), /general/)
    assert.match(await natter('subscribe', near(), 'random'), /general/)
    assert.match(await natter('unsubscribe', `id:${channelId}`), /general/)
    await natter('subscriptions', 'edit-list', '--add', place, '--delete', 'random')
    const listed = await natter('subscriptions', 'list', '--fields', 'name')
    assert.match(listed, /^general$/m)
    assert.doesNotMatch(listed, /^random$/m)
    const direct = await natter('send', 'hi', '--to', 'amy@example.com', '--fields', 'link')
    assert.match(await natter('send', direct, 'again', '--fields', 'link'), /#narrow\/dm\//)
    assert.equal(
      await natter('messages', 'show', await natter('send', near(), near(), '--fields', 'link'), '--fields', 'content'),
      near(),
    )
  })

  test('a link to another server, or to something else than is needed, is refused', async () => {
    for (const [args, text] of [
      [
        ['messages', 'show', `https://chat.example.com/#narrow/channel/5-x/topic/y/near/1`],
        /is a link to another server than http/,
      ],
      [['send', `https://chat.example.com/#narrow/channel/5-x/topic/y`, 'hi'], /is a link to another server than http/],
      [['messages', 'show', `#narrow/channel/${channelId}-general`], /is a link to a conversation, not to a message/],
      [['topics', 'list', `#narrow/dm/9,10-dm/near/3`], /is a link to direct messages, not to a channel/],
      [['subscribe', `https://chat.example.com/#narrow/channel/5-x`], /is a link to another server than http/],
      [['unsubscribe', `#narrow/dm/9,10-dm`], /is a link to direct messages, not to a channel/],
      [['tail', '--channel', `https://chat.example.com/#narrow/channel/5-x`], /another server/],
    ] as const) {
      const { code, stderr } = await shell.run(args)
      assert.equal(code, 2, stderr)
      assert.match(stderr, text)
    }
  })
})
