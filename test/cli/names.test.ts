// Names of channels and users on the command line: digits, parts of names, and what to do if several match.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { users } from '../../daemon/api/people/users.ts'
import { inProcess } from '../support/cli-in-process.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'

describe('names on the command line', () => {
  const daemon = sharedDaemon({ flags: ['--control'] })
  let env: Record<string, string>

  async function natter(...args: string[]) {
    return inProcess(args, { env })
  }

  async function json(...args: string[]) {
    const { code, stdout, stderr } = await natter(...args, '--json')
    assert.equal(code, 0, `natter ${args.join(' ')}: ${stderr}`)
    return JSON.parse(stdout)
  }

  async function channelId(name: string): Promise<number> {
    const { streams } = await json('channels', 'list')
    return streams.find((channel: { name: string }) => channel.name === name)?.stream_id
  }

  before(async () => {
    const { email, api_key } = daemon().ready.owner
    env = { NATTER_SITE: daemon().url, NATTER_EMAIL: email, NATTER_API_KEY: api_key }
    for (const name of ['amy', 'bob', 'ann', 'anna']) await person(daemon(), name)
    await json('channels', 'create', 'general')
    const other = { email: 'ann@other.example.com', full_name: 'Ann Other', password: 'a long password of Ann' }
    await daemon().owner.call(users.create, other)
  })

  describe('a channel whose name is a number', () => {
    test('is found by its name, and id:N is always an ID', async () => {
      await json('channels', 'create', '2024')
      const id = await channelId('2024')
      const sent = await json('send', '#2024>plans', 'by name')
      assert.equal((await json('messages', 'show', String(sent.id))).message.stream_id, id)
      assert.equal((await json('channels', 'show', '2024')).stream.stream_id, id)
      assert.equal((await json('messages', 'list', '--channel', '2024')).messages.at(-1).id, sent.id)
      assert.equal((await json('channels', 'show', `id:${id}`)).stream.name, '2024')
      assert.equal((await json('channels', 'show', String(id))).stream.name, '2024')
    })

    test('is created by subscribe only if no channel has this ID', async () => {
      const said = async (...args: string[]) => {
        const { stdout, stderr } = await natter(...args)
        return stdout + stderr
      }
      const general = await channelId('general')
      for (const word of [String(general), `#${general}`]) {
        assert.equal(await said('unsubscribe', word), 'unsubscribed from general\n')
        assert.equal(await said('subscribe', word), 'subscribed to general\n')
      }
      assert.equal(await said('subscribe', '7070'), 'created #7070 and subscribed\n')
      assert.equal(await said('unsubscribe', '7070'), 'unsubscribed from 7070\n')
      await json('channels', 'create', `${general}00`)
      assert.equal((await json('channels', 'id', `${general}00`)).stream_id, await channelId(`${general}00`))
    })

    test('is not confused with the channel that has this ID', async () => {
      const general = await channelId('general')
      await json('channels', 'create', String(general))
      const named = await channelId(String(general))
      const { code, stderr } = await natter('channels', 'archive', String(general))
      assert.equal(code, 2)
      assert.match(stderr, new RegExp(`id:${named} \\(${general}\\); id:${general} \\(general\\)`))
      const sent = await json('send', `#${general}>x`, 'to the name')
      assert.equal((await json('messages', 'show', String(sent.id))).message.stream_id, named)
      const other = await json('send', `#id:${general}>x`, 'to the ID')
      assert.equal((await json('messages', 'show', String(other.id))).message.stream_id, general)
      const missing = await natter('send', '#987654>x', 'nowhere')
      assert.equal(missing.code, 3)
      assert.match(missing.stderr, /no channel "#?987654"/)
    })

    test('is not taken for an ID because the list of channels cannot be had at the moment', async () => {
      const general = String(await channelId('general'))
      const control = new Control(daemon())
      await control.call('POST', '/faults', { kind: 'status', endpoint: 'get-streams', status: 503 })
      const { code, stdout } = await natter('topics', 'list', general)
      await control.call('DELETE', '/faults')
      assert.deepEqual([code, stdout], [1, ''])
    })
  })

  describe('a user', () => {
    test('is found by the first word of the name, or by the part of the address before the @', async () => {
      const { user } = await json('users', 'show', 'amy')
      assert.equal(user.email, 'amy@example.com')
      assert.equal((await json('users', 'show', 'Amy')).user.user_id, user.user_id)
      assert.equal((await json('users', 'show', `id:${user.user_id}`)).user.user_id, user.user_id)
      const { id } = await json('send', 'bob', 'hello')
      assert.equal((await json('messages', 'show', String(id))).message.type, 'private')
    })

    test('whose name matches others too is refused with the candidates', async () => {
      const { code, stderr } = await natter('users', 'show', 'ann')
      assert.equal(code, 2)
      assert.match(stderr, /2 users match "ann"/)
      assert.match(stderr, /id:\d+ \(ann@example.com[^;]*; id:\d+ \(ann@other.example.com, Ann Other\)/)
      assert.doesNotMatch(stderr, /anna/)
    })
  })

  describe('messages list', () => {
    test('starts at the oldest if asked for what comes after', async () => {
      const ids: number[] = []
      for (const text of ['one', 'two', 'three', 'four']) ids.push((await json('send', '#general>order', text)).id)
      const listed = async (...args: string[]) => {
        const { messages } = await json('messages', 'list', '--channel', 'general', '--topic', 'order', ...args)
        return messages.map(({ content }: { content: string }) => content)
      }
      assert.deepEqual(await listed('--anchor', 'oldest', '-n', '3'), ['one', 'two', 'three'])
      assert.deepEqual(await listed('--after', '2'), ['one', 'two'])
      assert.deepEqual(await listed('-n', '2'), ['three', 'four'])
      assert.deepEqual(await listed('--anchor', String(ids[1]), '-n', '1'), ['one', 'two'])
    })
  })
})
