// An older backup is restored under clients that are connected: each hears every event once, or reports the gap. None ends, none is silent.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { bots } from '../../daemon/api/bots/bots.ts'
import { events as api } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { createClient, type GapEvent } from '../../daemon/client/index.ts'
import { backupToFile } from '../../daemon/maintenance/backup.ts'
import { newShell, Watched } from '../support/cli.ts'
import { type Caller, host } from '../support/daemon.ts'
import { fakeChat } from '../support/fake-chat.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'

let scratch: string

before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'natter-restored-'))
})

after(() => rmSync(scratch, { recursive: true, force: true }))

const restored = /the server was restored from a backup/

describe('an older backup under live clients', () => {
  test('ends every queue; tail, bot run and natter/client register again, report the gap and go on', async t => {
    const data = join(scratch, 'store')
    const flags = ['--preset', 'dev', '--port', String(await freePort())]
    const first = await host(data, { flags })
    t.after(() => first.discard())
    const { owner } = first
    const { user_id: botId, api_key: botKey } = await owner.call(bots.create, {
      full_name: 'Listener',
      short_name: 'listener',
    })
    const say = (content: string) => owner.call(messages.send, { type: 'direct', to: [owner.id, botId], content })
    await say('before')
    const file = join(scratch, 'natter.tar')
    await backupToFile(file, { folder: data, withoutSecret: false, now: new Date() })

    const shell = newShell(t)
    const account = (email: string, key: string) => ({
      env: { NATTER_SITE: first.url, NATTER_EMAIL: email, NATTER_API_KEY: key },
    })
    const tail = new Watched(t, shell.spawn(['tail', '--json'], account(owner.email!, owner.key!)))
    const handler = join(shell.home, 'handler.mjs')
    writeFileSync(handler, 'export default () => {}')
    const { email } = await botOf(owner, botId)
    const bot = new Watched(t, shell.spawn(['bot', 'run', handler, '--json'], account(email, botKey)))
    const library = followedBy(t, owner)
    const { queue_id } = await owner.call(api.register, { event_types: ['message'] })
    for (const follower of [tail, bot]) await follower.said(/ready|listens/)
    await library.ready
    for (let i = 1; i <= 5; i++) await say(`lost ${i}`)
    await until(() => heardBy(tail).length === 5 && repliedBy(bot).length === 5 && library.heard.length === 5)
    const { events } = await owner.call(api.get, { queue_id, last_event_id: -1 })
    assert.equal(events.length, 5)

    await first.end()
    // Times of messages are in seconds: what is sent from here on is newer than what was heard.
    const heardAt = (events.at(-1) as unknown as { message: { timestamp: number } }).message.timestamp
    await until(() => Date.now() / 1000 > heardAt + 1)
    const { code, stderr } = await shell.run(['restore', file, '--data', data, '--replace'])
    assert.equal(code, 0, stderr)
    assert.match(stderr, /all event queues have ended/)
    // More than were lost: their IDs go past those that the clients know.
    const second = await host(data, { flags })
    t.after(() => second.discard())
    for (let i = 1; i <= 8; i++) await say(`after ${i}`)
    await owner.refused(api.get, { queue_id, last_event_id: events.at(-1)!.id as number }, 'BAD_EVENT_QUEUE_ID')

    await until(() => gapsOf(tail).length === 1 && restored.test(bot.stderr) && library.gaps.length === 1)
    assert.match(gapsOf(tail)[0].reason, restored)
    assert.match(library.gaps[0]!.reason, restored)
    assert.deepEqual([library.gaps[0]!.after_event_id >= 0, library.gaps[0]!.after_message_id! > 0], [true, true])
    await say('now')
    const wanted = [...numbered('lost', 5), ...numbered('after', 8), 'now']
    await until(() => [heardBy(tail), repliedBy(bot), library.heard].every(heard => heard.includes('now')))
    for (const heard of [heardBy(tail), repliedBy(bot), library.heard]) assert.deepEqual(heard, wanted)
    await second.end()
  })

  test('a queue ID never comes again, even if randomness has a seed and a backup is restored twice', async t => {
    const data = join(scratch, 'seeded')
    const flags = ['--preset', 'dev', '--random', '7']
    const first = await host(data, { flags })
    await first.end()
    const file = join(scratch, 'seeded.tar')
    await backupToFile(file, { folder: data, withoutSecret: false, now: new Date() })
    const ids: string[] = []
    const register = async (kept: boolean) => {
      const daemon = await host(data, { flags })
      if (kept) await daemon.compact()
      ids.push((await daemon.owner.call(api.register, {})).queue_id)
      await daemon.end()
    }
    await register(false)
    for (const kept of [false, true]) {
      assert.equal((await newShell(t).run(['restore', file, '--data', data, '--replace'])).code, 0)
      await register(kept)
    }
    // The snapshot remembers the restore, too.
    await register(false)
    assert.equal(new Set(ids).size, ids.length, ids.join())
    assert.equal(new Set(ids.map(id => id.slice(0, 36))).size, ids.length, ids.join())
  })
})

describe('a queue that no longer has the events after the last one read', () => {
  test('is given up by tail and natter/client, which register again and report the gap', async t => {
    const chat = await fakeChat(t)
    const tail = new Watched(t, newShell(t, chat.env).spawn(['tail', '--type', 'message,typing', '--json']))
    await tail.said(/ready/)
    const { NATTER_SITE: url, NATTER_EMAIL: email, NATTER_API_KEY: key } = chat.env
    const library = followedBy(t, { url: url!, email, key }, ['message', 'typing'])
    await library.ready
    chat.say('one')
    await until(() => heardBy(tail).length === 1 && library.heard.length === 1)
    chat.refuseQueues()
    await until(() => gapsOf(tail).length === 1 && library.gaps.length === 1)
    chat.say('two')
    await until(() => heardBy(tail).length === 2 && library.heard.length === 2)
    assert.deepEqual(
      [heardBy(tail), library.heard],
      [
        ['one', 'two'],
        ['one', 'two'],
      ],
    )
  })
})

const numbered = (word: string, count: number) => Array.from({ length: count }, (_, i) => `${word} ${i + 1}`)

const parsed = ({ lines }: Watched) => lines.map(line => JSON.parse(line))
const heardBy = (tail: Watched): string[] => parsed(tail).flatMap(({ message }) => (message ? [message.content] : []))
const gapsOf = (tail: Watched) => parsed(tail).filter(({ type }) => type === '_gap')
/** The messages that the handler was called with. */
const repliedBy = (bot: Watched): string[] => parsed(bot).flatMap(({ received }) => (received ? [received.text] : []))

function followedBy(t: TestContext, { url, email, key }: Pick<Caller, 'url' | 'email' | 'key'>, types = ['message']) {
  const client = createClient({ site: url, email: email!, apiKey: key! })
  const stopping = new AbortController()
  const heard: string[] = []
  const gaps: GapEvent[] = []
  const ready = new Promise<void>(resolve => {
    const options = { types: types as ['message'], gaps: true, signal: stopping.signal, onReady: resolve } as const
    const following = (async () => {
      for await (const event of client.events(options))
        if (event.type === 'gap') gaps.push(event)
        else heard.push(event.message.content)
    })()
    t.after(async () => {
      stopping.abort()
      await following
    })
  })
  return { heard, gaps, ready }
}

async function botOf(owner: Caller, id: number): Promise<{ email: string }> {
  const { body } = await owner.raw('GET', `/api/v1/users/${id}`)
  return { email: String((body.user as { email: string }).email) }
}
