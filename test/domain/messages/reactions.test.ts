// Reactions to messages.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { messages as api } from '../../../daemon/api/messages/messages.ts'
import { reactions } from '../../../daemon/api/messages/reactions.ts'
import { sharedDaemon } from '../../support/daemon.ts'
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
})
