// Limits of a profile: what is refused before it leaves, what is left out of events, and how a limit is lifted.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { placesIn } from '../../cli/transport/places.ts'
import type { Page } from '../../daemon/api/define.ts'
import { catalogue } from '../../daemon/api/index.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Shell, Watched } from '../support/cli.ts'
import { sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { overStdio, use } from '../support/mcp.ts'

let daemon: TestDaemon
let shell: Shell
/** IDs of messages, one in each place. */
let inGeneral: number
let inRandom: number
let direct: number
let me: number

sharedDaemon({ flags: ['--memory', '--preset', 'dev', '--control'] }, async started => {
  daemon = started
})

const send = (to: string, content: string) =>
  daemon.owner.call(messages.send, { type: 'channel', to, topic: 'limits', content }).then(({ id }) => id)

const asFields = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields).flatMap(([name, value]) => ['-f', `${name}=${value}`])

describe('limits of a profile', () => {
  before(async () => {
    const { ready, url } = daemon
    shell = new Shell(mkdtempSync(join(tmpdir(), 'natter-home-')))
    const account = ['--site', url, '--user', ready.owner.email, '--api-key', ready.owner.api_key]
    for (const name of ['reader', 'narrow', 'silent']) await natter(['profile', 'add', name, ...account])
    const file = join(shell.home, '.config/natter/profiles.json')
    const book = JSON.parse(readFileSync(file, 'utf8'))
    for (const profile of Object.values<Record<string, unknown>>(book.profiles))
      profile.control_token = ready.control_token
    writeFileSync(file, JSON.stringify(book))
    await natter(['profile', 'set', 'reader', '--read-only'])
    await natter(['profile', 'set', 'narrow', '--channels', 'General,#id:999', '--no-direct'])
    await natter(['profile', 'set', 'silent', '--no-direct'])
    me = (await daemon.owner.call(users.me, {})).user_id
    inGeneral = await send('general', 'in general')
    inRandom = await send('random', 'in random')
    direct = (await daemon.owner.call(messages.send, { type: 'direct', to: [me], content: 'to myself' })).id
  })

  after(() => rmSync(shell.home, { recursive: true, force: true }))

  const natter = async (args: readonly string[], input?: string) => {
    const outcome = await shell.run(args, input === undefined ? {} : { input })
    return { ...outcome, all: `${outcome.stdout}${outcome.stderr}` }
  }

  const refused = async (profile: string, args: readonly string[], limit: RegExp, lift: RegExp) => {
    const { code, stderr } = await natter([...args, '--profile', profile])
    assert.equal(code, 4, `${args.join(' ')}: ${stderr}`)
    assert.match(stderr, limit, args.join(' '))
    assert.match(stderr, lift, args.join(' '))
  }

  const allowed = async (profile: string, args: readonly string[]) => {
    const { code, stderr } = await natter([...args, '--profile', profile])
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
  }

  test('--read-only refuses what changes something, whatever the way', async () => {
    const lift = /natter profile set reader --read-write/
    for (const args of [
      ['send', '#general>lunch', 'hello'],
      ['messages', 'delete', String(inGeneral), '--yes'],
      ['flags', 'add', 'read', String(inGeneral)],
      ['typing', 'start', '--to', String(me)],
      ['api', 'POST', '/messages', '-f', 'type=stream'],
      ['api', 'PATCH', '/unknown/route'],
      ['clock', 'freeze'],
      ['accounts', 'amy@example.com'],
      ['mcp', '--toolsets', 'read,write'],
    ])
      await refused('reader', args, /^natter: profile reader is read-only: /, lift)
    const { stdout } = await natter(
      ['send', '--batch', '-', '--profile', 'reader', '#general>lunch'],
      '{"content":"hi"}\n',
    )
    assert.match(stdout, /PROFILE_LIMIT.*profile reader is read-only/)
    assert.doesNotMatch((await natter(['messages', 'list', '--profile', 'reader'])).stdout, /^hello|^hi/m)
  })

  test('--read-only allows what only reads', async () => {
    for (const args of [
      ['messages', 'list'],
      ['users', 'list'],
      ['messages', 'render', '**hi**'],
      ['tail', '--idle', '100ms'],
      ['queues', 'register'],
      ['why', String(inGeneral), 'amy@example.com'],
      ['requests', 'list'],
    ])
      await allowed('reader', args)
  })

  test('a message that is refused uploads none of its files, in a batch either', async () => {
    const file = join(shell.home, 'report.txt')
    writeFileSync(file, 'all is well')
    const uploads = async () => JSON.parse((await natter(['uploads', 'list', '--json'])).stdout).attachments
    const before = await uploads()
    const limit = /^natter: profile narrow is limited to the channels General, id:999: POST \/api\/v1\/messages names/
    await refused('narrow', ['send', '#random>lunch', 'hello', '--file', file], limit, /--all-channels/)
    const line = JSON.stringify({ content: 'hello', file })
    const { stdout } = await natter(['send', '#random>lunch', '--batch', '-', '--profile', 'narrow'], line)
    assert.equal(JSON.parse(stdout).code, 'PROFILE_LIMIT')
    assert.deepEqual(await uploads(), before)
    await allowed('narrow', ['send', '#general>lunch', 'hello', '--file', file])
    assert.equal((await uploads()).length, before.length + 1)
  })

  test('--channels and --no-direct refuse other places, by name, ID, message and narrow', async () => {
    const other = /^natter: profile narrow is limited to the channels General, id:999: /
    const dm = /^natter: profile narrow has no direct messages: /
    const wide = /natter profile set narrow --all-channels/
    const talk = /natter profile set narrow --direct/
    const random = String(
      (
        await natter([
          'api',
          'GET',
          '/get_stream_id',
          '-f',
          'stream=random',
          '--profile',
          'reader',
          '--jq',
          '.stream_id',
        ])
      ).stdout,
    ).trim()
    for (const args of [
      ['send', '#random>lunch', 'hello'],
      ['send', 'hello', '--type', 'channel', '--to', random, '--topic', 'x'],
      ['messages', 'list'],
      ['messages', 'list', '--channel', 'random'],
      ['messages', 'list', '--narrow', `[["channel",${random}]]`],
      ['messages', 'list', '--narrow', `channel:general with:${inRandom}`],
      ['messages', 'list', '--narrow', '-channel:random'],
      ['messages', 'list', '--message-ids', String(inRandom)],
      ['messages', 'show', String(inRandom)],
      ['messages', 'edit', String(inRandom), 'changed'],
      ['messages', 'move', String(inGeneral), '--channel', 'random'],
      ['reactions', 'add', String(inRandom), 'heart'],
      ['flags', 'add', 'read', String(inGeneral), String(inRandom)],
      ['topics', 'list', 'random'],
      ['channels', 'show', 'random'],
      ['channels', 'create', 'new'],
      ['subscribe', 'random'],
      ['unsubscribe', 'random'],
      ['subscriptions', 'edit-list', '--add', 'random'],
      ['subscriptions', 'edit-list', '--delete', 'general,random'],
      ['api', 'GET', `/messages/${inRandom}/history`],
      ['api', 'GET', `/users/me/${random}/topics`],
      ['api', 'GET', `/messages?anchor=newest&num_before=1&num_after=0`],
      ['api', 'POST', '/mark_all_as_read'],
      ['api', 'POST', '/messages', ...asFields({ method: 'GET', anchor: 'newest', type: 'channel', to: 'general' })],
      ['api', 'GET', '/unknown/route'],
      ['messages', 'export', 'out', '--channel', 'random'],
      ['org', 'export', '--yes'],
      ['clock', 'show'],
      ['mcp', '--toolsets', 'control'],
    ])
      await refused('narrow', args, other, wide)
    for (const args of [
      ['send', 'hello', '--to', String(me)],
      ['messages', 'list', '--narrow', 'is:dm'],
      ['messages', 'show', String(direct)],
    ])
      await refused('narrow', args, dm, talk)
  })

  test('--channels allows the channels that it names, and what names no place', async () => {
    for (const args of [
      ['send', '#general>limits', 'hello'],
      ['messages', 'list', '--channel', 'general'],
      ['messages', 'list', '--narrow', `channel:general with:${inGeneral}`],
      ['messages', 'show', String(inGeneral)],
      ['flags', 'add', 'read', String(inGeneral)],
      ['topics', 'list', 'general'],
      ['channels', 'list'],
      ['users', 'list'],
    ])
      await allowed('narrow', args)
  })

  test('--no-direct alone allows every channel', async () => {
    for (const args of [
      ['messages', 'list', '--channel', 'random'],
      ['messages', 'list', '--narrow', '-is:dm'],
      ['send', '#random>limits', 'hello'],
    ])
      await allowed('silent', args)
    await refused('silent', ['messages', 'list'], /has no direct messages: .*\n {2}Name a channel/, /--direct/)
    await refused('silent', ['messages', 'show', String(direct)], /has no direct messages/, /--direct/)
  })

  test('a queue returns events of the allowed places only', async t => {
    const tail = new Watched(
      t,
      shell.spawn(['tail', '--type', 'message,reaction,typing', '--json', '--count', '2', '--profile', 'narrow']),
    )
    await tail.said(/ready/)
    await send('random', 'unheard')
    await daemon.owner.call(messages.send, { type: 'direct', to: [me], content: 'unheard' })
    await natter(['reactions', 'add', String(inRandom), 'heart', '--profile', 'silent'])
    await send('general', 'heard')
    await natter(['reactions', 'add', String(inGeneral), 'heart', '--profile', 'narrow'])
    const [message, reaction] = await tail.until(2)
    assert.match(message!, /"content":"heard"/)
    assert.match(reaction!, new RegExp(`"message_id":${inGeneral}`))
    assert.equal(await tail.ended, 0)
    assert.doesNotMatch(tail.lines.join(), /unheard/)
  })

  test('a recorded payload of a webhook is posted again within the limits only', async () => {
    const { email } = daemon.ready.owner
    const sent = { api_key: '***', stream: 'random', topic: 'again', payload: '{"again":true}' }
    const call = {
      call: 1,
      time: 1,
      user: email,
      method: 'POST',
      path: '/api/v1/external/json',
      endpoint: 'post-webhook',
    }
    const lines = [{ natter_recording: 1, version: '0' }, { ...call, sent, status: 200, answer: {} }, { end: 1 }]
    const file = join(shell.home, 'posted.ndjson')
    writeFileSync(file, lines.map(line => `${JSON.stringify(line)}\n`).join(''))
    const [again, there] = [
      ['replay', file, '--against', 'natter'],
      ['replay', file, '--against', daemon.url],
    ]
    for (const args of [again, there, ['replay', file]]) {
      await refused('reader', args!, /^natter: profile reader is read-only: /, /--read-write/)
      await refused('narrow', args!, /^natter: profile narrow is limited to the channels/, /--all-channels/)
    }
    assert.doesNotMatch((await natter(['messages', 'list', '--profile', 'reader'])).stdout, /again/)
  })

  test('a bot and the tools of an agent have the limits of their profile', async t => {
    const client = await overStdio(t, { HOME: shell.home }, ['--profile', 'narrow', '--toolsets', 'read,write,api'])
    const ask = async (name: string, args: object) => (await use(client, name, args as Record<string, unknown>)).text
    const limit =
      /profile narrow is limited to the channels General, id:999: .*natter profile set narrow --all-channels/s
    assert.match(await ask('get_messages', {}), limit)
    assert.match(await ask('get_messages', { channel: 'random' }), limit)
    assert.match(await ask('send_message', { channel: 'random', topic: 'x', content: 'x' }), limit)
    assert.match(await ask('call_api', { endpoint: 'get-message', params: { message_id: inRandom } }), limit)
    assert.match(await ask('send_message', { direct_to: ['me'], content: 'x' }), /has no direct messages/)
    assert.match(await ask('get_messages', { channel: 'general' }), /in general/)
    const unread = await use(client, 'get_unread')
    assert.ok(
      unread.data.conversations.every(({ channel }: { channel?: string }) => channel === 'general'),
      unread.text,
    )
    await checkBot(t)
  })

  async function checkBot(t: TestContext) {
    const file = join(shell.home, 'handler.mjs')
    writeFileSync(
      file,
      "export default async (message, bot) => { await bot.send({ channel: 'random', topic: 'x' }, 'out') }\n",
    )
    const bot = new Watched(t, shell.spawn(['bot', 'run', file, '--all', '--count', '1', '--profile', 'narrow']))
    await bot.said(/listens/)
    const { api_key } = await daemon.owner.call((await import('../../daemon/api/bots/bots.ts')).bots.create, {
      full_name: 'Caller',
      short_name: 'caller',
    })
    const caller = (to: string) =>
      shell.run([
        'send',
        `#${to}>limits`,
        'hello bot',
        '--site',
        daemon.url,
        '--user',
        'caller-bot@example.com',
        '--api-key',
        api_key,
      ])
    await caller('random')
    await caller('general')
    assert.equal(await bot.ended, 0, bot.stderr)
    const told = `${bot.lines.join('\n')}${bot.stderr}`
    assert.match(told, /#general > limits/)
    assert.match(told, /profile narrow is limited to the channels/)
    assert.doesNotMatch(told, /#random>limits/)
  }

  test('NATTER_READ_ONLY makes every account read-only, and a misspelled value is refused', async () => {
    const owner = {
      NATTER_SITE: daemon.url,
      NATTER_EMAIL: daemon.ready.owner.email,
      NATTER_API_KEY: daemon.ready.owner.api_key,
    }
    const withVariable = (value: string) =>
      shell.with({ ...owner, NATTER_READ_ONLY: value }).run(['send', '#general>x', 'hi'])
    const on = await withVariable('1')
    assert.equal(on.code, 4)
    assert.match(
      on.stderr,
      /^natter: NATTER_READ_ONLY is set: POST \/api\/v1\/messages changes something\n {2}To lift the limit, unset NATTER_READ_ONLY\.\n$/,
    )
    assert.equal((await withVariable('0')).code, 0)
    const odd = await withVariable('on')
    assert.equal(odd.code, 2)
    assert.match(odd.stderr, /NATTER_READ_ONLY: "on" is not 1 or 0/)
  })

  test('profile set shows, lifts and refuses, and a login keeps the limits', async () => {
    assert.match((await natter(['profile', 'list'])).stdout, /narrow.*channels General, id:999; no direct messages/)
    assert.match(
      (await natter(['config', 'explain', '--profile', 'reader'])).stdout,
      /limit +read-only +profile reader/,
    )
    const { url, ready } = daemon
    await natter([
      'profile',
      'add',
      'reader',
      '--site',
      url,
      '--user',
      ready.owner.email,
      '--api-key',
      ready.owner.api_key,
    ])
    await refused('reader', ['send', '#general>x', 'hi'], /read-only/, /--read-write/)
    assert.match(
      (await natter(['profile', 'set', 'narrow', '--all-channels', '--direct'])).stderr,
      /^profile narrow: no limits\n$/,
    )
    await allowed('narrow', ['messages', 'list'])
    for (const [args, text] of [
      [[], /no limit given/],
      [['--read-only', '--read-write'], /cannot be combined/],
      [['--channels', 'general', '--all-channels'], /cannot be combined/],
      [['--channels', 'general,,x'], /not a list of channels/],
    ] as const) {
      const { code, stderr } = await natter(['profile', 'set', 'narrow', ...args])
      assert.equal(code, 2)
      assert.match(stderr, text)
    }
    const file = join(shell.home, '.config/natter/profiles.json')
    const book = JSON.parse(readFileSync(file, 'utf8'))
    for (const limits of [{ read_only: 'yes' }, true, 5, '', [], null]) {
      book.profiles.narrow.limits = limits
      writeFileSync(file, JSON.stringify(book))
      assert.match((await natter(['users', 'me', '--profile', 'narrow'])).stderr, /is not a profiles file/)
    }
  })
})

describe('the places that a call names', () => {
  const samples: Readonly<Record<string, string>> = { channel: '5', message: '5', terms: '[["channel","general"]]' }
  const refsIn = (shape: Record<string, any>): string[] => [
    ...(shape.ref ? [shape.ref] : []),
    ...(shape.anyOf ?? []).flatMap(refsIn),
    ...(shape.items ? refsIn(shape.items) : []),
    ...Object.values<Record<string, any>>(shape.properties ?? {}).flatMap(refsIn),
  ]

  test('are found for every parameter of the catalogue that refers to a channel, a message or a narrow', async () => {
    for (const page of Object.values<Page>(catalogue))
      for (const endpoint of Object.values(await page.load()))
        for (const [name, { shape }] of Object.entries(endpoint.params)) {
          const ref = refsIn(shape).find(ref => Object.hasOwn(samples, ref))
          const nested = name === 'subscription_data' ? '[{"stream_id":5}]' : undefined
          const fields = [[name, nested ?? samples[ref!]!]] as const
          if (ref) assert.notDeepEqual(placesIn(endpoint, fields), [], `${name} of ${endpoint.id}`)
        }
  })
})
