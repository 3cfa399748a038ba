// Reactions to messages.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { messages as api } from '../../../daemon/api/messages/messages.ts'
import { reactions } from '../../../daemon/api/messages/reactions.ts'
import { limits } from '../../../daemon/domain/limits.ts'
import { sharedDaemon } from '../../support/daemon.ts'
import { threePeople } from '../../support/domain-world.ts'
import { World } from '../../support/in-process.ts'
import { direct, listen, people } from '../../support/world.ts'

const daemon = sharedDaemon()

describe('reactions', () => {
  test('are added once and taken back once', async () => {
    const [wes, xia] = await people(daemon(), 'wes', 'xia')
    const id = await direct(wes, xia, 'party')
    const events = await listen(wes, ['reaction'])
    await xia.call(reactions.add, { message_id: id, emoji_name: 'tada' })
    await xia.refused(reactions.add, { message_id: id, emoji_name: 'tada' }, 'REACTION_ALREADY_EXISTS')
    await xia.refused(reactions.add, { message_id: id, emoji_name: 'no_such_emoji' }, 'BAD_REQUEST')
    const { message } = await wes.call(api.get, { message_id: id })
    const reaction = { emoji_name: 'tada', emoji_code: '1f389', reaction_type: 'unicode_emoji', user_id: xia.id }
    assert.deepEqual(message.reactions, [reaction])
    await wes.refused(reactions.remove, { message_id: id, emoji_name: 'tada' }, 'REACTION_DOES_NOT_EXIST')
    await xia.refused(reactions.remove, { message_id: id }, 'BAD_REQUEST')
    await xia.refused(reactions.remove, { message_id: id, emoji_code: 'zzz' }, 'BAD_REQUEST')
    await xia.call(reactions.remove, { message_id: id, emoji_code: '1f389' })
    assert.deepEqual(
      (await events()).map(({ op, emoji_name }) => [op, emoji_name]),
      [
        ['add', 'tada'],
        ['remove', 'tada'],
      ],
    )
  })

  test('are bounded: a message has at most 10,000', () => {
    const world = new World()
    const { owner, state } = world
    const id = world.run(owner, api.send.id, { type: 'direct', to: [owner.id], content: 'loved' }).id
    const reaction = { type: 'unicode_emoji', code: '1f389', name: 'tada' } as const
    const many = Array.from({ length: limits.reactionsPerMessage - 1 }, (_, i) => ({ ...reaction, userId: 1000 + i }))
    state.messages.setDetails(id, { reactions: many })
    world.run(owner, reactions.add.id, { message_id: id, emoji_name: 'tada' })
    const refusal = world.attempt(owner, reactions.add.id, { message_id: id, emoji_name: 'heart' })
    assert.equal(
      refusal?.message,
      'A message can have 10000 reactions, and has no room for more. Send a message instead.',
    )
    world.run(owner, reactions.remove.id, { message_id: id, emoji_name: 'tada' })
    world.run(owner, reactions.add.id, { message_id: id, emoji_name: 'heart' })
  })

  test('of an account and its bots are at most 1,000 to one message, so that others find room', () => {
    const { world, amy, bob } = threePeople()
    const id = world.run(amy, api.send.id, { type: 'direct', to: [bob.id], content: 'loved' }).id
    const made = world.run(amy, 'create-bot', { full_name: 'Bot', short_name: 'bot', bot_type: 1 })
    const own = [amy.id, made.user_id]
    const given = Array.from({ length: limits.reactionsPerAccount }, (_, i) => ({
      type: 'unicode_emoji' as const,
      code: `${i}`,
      name: 'tada',
      userId: own[i % 2]!,
    }))
    world.state.messages.setDetails(id, { reactions: given })
    const love = { message_id: id, emoji_name: 'heart' }
    assert.equal(
      world.attempt(amy, reactions.add.id, love)?.message,
      'You can have 1000 reactions to one message, your bots included, and have no room for more. Remove some first.',
    )
    assert.equal(world.attempt(bob, reactions.add.id, love), undefined)
    world.state.messages.setDetails(id, { reactions: given.slice(1) })
    assert.equal(world.attempt(amy, reactions.add.id, love), undefined)
  })
})
