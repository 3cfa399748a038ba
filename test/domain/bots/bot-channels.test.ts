// The default channels of a bot, as its owner sees them after losing access to one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { threePeople } from '../../support/domain-world.ts'

test('a channel that the owner of a bot may no longer know of has no name for them', () => {
  const { world, amy, bob } = threePeople()
  const plans = world.channel('plans', [amy, bob], { inviteOnly: true })
  const { user_id } = world.run(amy, 'create-bot', {
    short_name: 'helper',
    full_name: 'Helper',
    default_sending_stream: 'plans',
    default_events_register_stream: 'plans',
  })
  const shown = () => [
    world.run(amy, 'get-bots', {}).bots[0].default_sending_stream,
    world.section(amy, 'realm_bot').realm_bots[0].default_events_register_stream,
  ]
  assert.deepEqual(shown(), ['plans', 'plans'])
  world.unsubscribe(amy, plans)
  world.state.channels.put({ ...plans, name: 'layoffs' })
  assert.deepEqual(shown(), [null, null])
  world.heard(amy)
  const { bot } = { bot: world.run(amy, 'update-bot', { bot_id: user_id, default_all_public_streams: true }) }
  assert.equal(bot.default_sending_stream, null)
  assert.doesNotMatch(JSON.stringify(world.heard(amy)), /layoffs/)
})
