// The content of archives, over random histories: everything if all users allow it, and nothing private of users who do not.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Message } from '../../../../daemon/domain/model/message-store/index.ts'
import { State, type User } from '../../../../daemon/domain/model/state.ts'
import { type ArchiveContent, collectContent } from '../../../../daemon/domain/organization/exports/content.ts'
import { seeMessage } from '../../../../daemon/domain/rules/index.ts'
import type { Scene, Step } from '../../../support/act.ts'
import { furnished, histories } from '../../../support/histories.ts'
import { World } from '../../../support/in-process.ts'

const runs = { numRuns: Number(process.env.NATTER_HISTORIES ?? 15) }
/** Sections that no archive has rows of. */
const leftOut = ['invitations', 'emailChanges', 'webhookDeliveries']
const personal = ['drafts', 'savedSnippets', 'alertWords', 'mutedUsers', 'userTopics', 'messageFlags', 'reminders']

describe('the content of an export', () => {
  test('is the whole organization but its passwords if everyone allows it, whatever happened before', () => {
    fc.assert(
      fc.property(histories(60), steps => {
        const { state, people: everybody } = played(steps, () => true)
        const actors = everybody.map(({ id }) => state.users.get(id)!)
        const isOpen = (channelId: number | undefined) =>
          channelId !== undefined && !state.channels.get(channelId)!.inviteOnly
        // A channel with protected history can have messages that no user may read, so no user can allow their export.
        for (const { id, channelId } of state.messages.rows())
          fc.pre(isOpen(channelId) || actors.some(actor => seeMessage.allows({ state, actor }, id)))
        const content = collectContent(state, 2)
        const wanted = state.save()
        // The notification bot is not a reader.
        const people = (row: { userId: number }) => !state.users.get(row.userId)!.bot
        wanted.messageFlags = ([...wanted.messageFlags!] as { userId: number }[]).filter(people)
        const found = loaded(content).save()
        for (const name of Object.keys(wanted))
          if (!leftOut.includes(name)) assert.deepEqual(rowsOf(found, name), rowsOf(wanted, name), name)
      }),
      runs,
    )
  })

  test('has a message if it is public, or if someone who allows it may read it, and no other', () => {
    fc.assert(
      fc.property(histories(60), fc.nat({ max: 255 }), (steps, allowing) => {
        const { state, people } = played(steps, (_user, index) => (allowing & (1 << index)) !== 0)
        const consenting = people.map(({ id }) => state.users.get(id)!).filter(allows)
        const found = loaded(collectContent(state, 2)).messages
        for (const { id, channelId } of state.messages.rows()) {
          const open = channelId !== undefined && !state.channels.get(channelId)!.inviteOnly
          const wanted = open || consenting.some(actor => seeMessage.allows({ state, actor }, id))
          assert.equal(found.has(id), wanted, `message ${id}`)
        }
        assert.equal(found.lastId, state.messages.lastId, 'IDs go on where they were')
      }),
      runs,
    )
  })

  test('has nothing personal of users who do not allow it, and of no one in a public export', () => {
    fc.assert(
      fc.property(histories(60), steps => {
        const { state } = played(steps, (_user, index) => index % 2 === 0)
        for (const [kind, mayBeThere] of [
          [1, () => false],
          [2, allows],
        ] as const) {
          const saved = loaded(collectContent(state, kind)).save()
          for (const name of personal)
            for (const row of rowsOf(saved, name).filter(isRow) as { userId: number }[])
              assert.ok(mayBeThere(state.users.get(row.userId)!), `${name} of user ${row.userId}`)
          for (const user of rowsOf(saved, 'users').filter(isRow) as User[])
            if (!mayBeThere(state.users.get(user.id)!)) assert.equal(user.settings.enter_sends, undefined)
        }
      }),
      runs,
    )
  })

  test('leaves conversations, private channels and what bots are configured with out of a public export', () => {
    const world = new World()
    const { people, channels } = furnished(world)
    const [owner, , , bob] = people
    world.run(owner!, 'send-message', { type: 'direct', to: [bob!.id], content: 'psst' })
    world.run(bob!, 'send-message', { type: 'channel', to: channels[1], topic: 'x', content: 'hidden' })
    world.run(bob!, 'send-message', { type: 'channel', to: channels[0], topic: 'x', content: 'open' })
    const config_data = { key: 'secret' }
    world.run(bob!, 'create-bot', {
      full_name: 'Hook',
      short_name: 'hook',
      bot_type: 2,
      service_name: 'github',
      config_data,
    })
    world.run(owner!, 'update-settings', { allow_private_data_export: true })
    for (const kind of [1, 2] as const)
      for (const { bot } of loaded(collectContent(world.state, kind)).users.values())
        if (bot?.service) assert.deepEqual(bot.service, { name: 'github', config: {} })
    const texts = (kind: 1 | 2) =>
      [...loaded(collectContent(world.state, kind)).messages.rows()].map(({ content }: Message) => content)
    assert.ok(!texts(1).includes('psst') && !texts(1).includes('hidden'))
    assert.ok(texts(1).includes('open'))
    assert.ok(texts(2).includes('psst'))
  })

  test('has the records of finished exports, which cannot be deleted where they are imported', () => {
    const world = new World()
    const [owner] = furnished(world).people
    const row = { id: 1, userId: owner!.id, kind: 1, requested: world.now } as const
    world.state.exports.put({ ...row, status: 'done', path: 'exports/1/a.tar.gz', file: 'f'.repeat(64) })
    world.state.exports.put({ ...row, id: 2, status: 'pending' })
    const prior = { ...row, status: 'prior' } as const
    assert.deepEqual([...loaded(collectContent(world.state, 1)).exports.values()], [prior])
    world.state.exports.put(prior)
    assert.throws(() => world.run(owner!, 'delete-realm-export', { export_id: 1 }), /another server/)
  })
})

function played(steps: readonly Step[], consents: (user: User, index: number) => boolean) {
  const world = new World()
  const scene = furnished(world)
  for (const [index, user] of scene.people.entries())
    if (consents(user, index))
      world.run(user, 'update-settings', { allow_private_data_export: true, enter_sends: true })
    else world.run(user, 'update-settings', { enter_sends: true })
  act(scene, steps)
  return { ...scene, state: world.state }
}

function act(scene: Scene, steps: readonly Step[]): void {
  const { world, people, acts } = scene
  for (const step of steps) {
    const [endpoint, params] = acts[step.what % acts.length]!(scene, step) ?? []
    // Refused or not: whatever it leaves behind is the history.
    if (endpoint) world.attempt(people[step.who % people.length]!, endpoint, params!)
    world.now += 1000
  }
}

function allows(user: User): boolean {
  return user.settings.allow_private_data_export === true
}

/** As an import does it: part by part, through JSON. */
function loaded({ sections }: ArchiveContent): State {
  const state = new State()
  for (const { name, head, rows, keep } of sections) {
    const lines = [...rows].flatMap(row => [...keep(row as never)])
    for (let at = 0; at === 0 || at < lines.length; at += 3) {
      const part = [...(head ? [head] : []), ...lines.slice(at, at + 3)]
      state.take(name, JSON.parse(JSON.stringify(part)))
    }
  }
  return state
}

/** In an order that compares; messages without the numbers that their places happen to have. */
function rowsOf(saved: Record<string, Iterable<unknown>>, name: string): unknown[] {
  const rows = JSON.parse(JSON.stringify([...saved[name]!])) as Record<string, unknown>[]
  if (name === 'messages') return rows.slice(1)
  if (name === 'users') for (const row of rows) delete row.password
  return rows
    .map(row => JSON.stringify(row))
    .sort()
    .map(row => JSON.parse(row))
}

/** Not the head of a section. */
function isRow(row: unknown): boolean {
  return !Object.hasOwn(row as object, 'last_id')
}
