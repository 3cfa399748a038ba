// Texts that name the same thing again and again. Whom a text mentions is in markdown.test.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { render } from '../../../daemon/domain/markdown/index.ts'
import { renderPlace } from '../../../daemon/domain/messages/messages/send.ts'
import { roles } from '../../../daemon/domain/model/roles.ts'
import { DomainWorld } from '../../support/domain-world.ts'

test('a person, and the newest message of a topic, are looked up once for a text', t => {
  const world = new DomainWorld()
  const { state } = world
  const guest = world.account('guest', roles.guest)
  const namesakes = Array.from({ length: 5 }, (_, index) =>
    world.join(roles.member, { email: `x${index}@example.com`, fullName: 'x' }),
  )
  const channel = world.channel('general', [guest, ...namesakes])
  world.run(world.owner, 'update-realm', {
    can_access_all_users_group: { new: state.groups.find('name', 'role:members')!.id },
  })
  const id = world.send(namesakes[0]!, channel, 'lunch', 'Pizza')
  const walks = t.mock.method(state.subscriptions, 'channelsOfUser')
  const topics = t.mock.method(state.messages, 'inTopic')
  const asker = { state, actor: guest }
  const text = '@**x** #**general>lunch** #**general>LUNCH** #**general>Lunch** '
  const { mentions, html } = render(asker, text.repeat(150), renderPlace(asker))
  assert.deepEqual(mentions.userIds, [namesakes[0]!.id])
  assert.equal(html.split(`/with/${id}"`).length, 451)
  // Those of the guest, and those of the person.
  assert.equal(walks.mock.callCount(), 2)
  assert.equal(topics.mock.callCount(), 1)
})
