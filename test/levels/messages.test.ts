// Changes about messages at newer levels, on both sides of their level, in spaces of a real daemon.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channels } from '../../daemon/api/channels/channels.ts'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { organization } from '../../daemon/api/organization/organization.ts'
import { users } from '../../daemon/api/people/users.ts'
import { pixel } from '../support/images.ts'
import { levelSpaces, listen } from '../support/levels.ts'
import type { TestSpace } from '../support/spaces.ts'

const spaceAt = levelSpaces()
const some = { type: 'channel', to: 'general', topic: 'levels', content: 'Hello' } as const
const frozen = { clock: 'frozen@2030-01-01T09:00:00Z' }

async function channelId({ owner }: TestSpace, stream = 'general'): Promise<number> {
  return (await owner.call(channels.id, { stream })).stream_id
}

async function group({ owner }: TestSpace, name: string): Promise<number> {
  const { realm_user_groups } = (await listen(owner, { fetch_event_types: ['realm_user_groups'], event_types: [] }))
    .state
  return realm_user_groups.find((one: { name: string }) => one.name === name).id
}

describe('message formatting', () => {
  async function shown({ owner }: TestSpace, content: string): Promise<string> {
    const { id } = await owner.call(messages.send, { ...some, content })
    return String((await owner.call(messages.get, { message_id: id })).message.content)
  }

  const other = 'https://pictures.example.com/a.jpg'
  const link = `<a href="${other}">${other}</a>`
  const box = `\n<div class="message_inline_image"><a href="${other}"><img src="${other}"></a></div>`
  const syntax = `![a "b"](${other})`
  const inline = `<img alt="a &quot;b&quot;" data-original-src="${other}" src="${other}">`
  const cases: [level: number, content: string, before: string, from: string][] = [
    [437, syntax, `<p>![a "b"](${link})</p>${box}`, `<p>${inline}</p>`],
    [
      451,
      'at <time:**noon** or so>',
      '<p>at <span class="timestamp-error">Invalid time format: **noon** or so</span></p>',
      '<p>at &lt;time:**noon** or so&gt;</p>',
    ],
    [467, syntax, `<p>${inline}</p>`, `<p>![a "b"](${link})</p>${box}`],
    [
      503,
      '<time:31 Dec 2017> <time:1514678400> <time:20171231T0530+0530>',
      '<p><time datetime="2017-12-31T00:00:00Z">31 Dec 2017</time> <time datetime="2017-12-31T00:00:00Z">1514678400</time> &lt;time:20171231T0530+0530&gt;</p>',
      '<p>&lt;time:31 Dec 2017&gt; &lt;time:1514678400&gt; <time datetime="2017-12-31T00:00:00Z">20171231T0530+0530</time></p>',
    ],
  ]
  for (const [level, content, before, from] of cases)
    test(`of ${content} is different from ${level} on`, async () => {
      assert.equal(await shown(await spaceAt(level - 1), content), before)
      assert.equal(await shown(await spaceAt(level), content), from)
    })

  test('of a time in the description of a channel follows the level in the event too', async () => {
    const rendered = async (level: number) => {
      const space = await spaceAt(level)
      const listener = await listen(space.owner, { event_types: ['stream'] })
      const stream_id = await channelId(space)
      await space.owner.call(channels.update, { stream_id, description: '<time:1514678400> <time:noon>' })
      const { stream } = await space.owner.call(channels.show, { stream_id })
      assert.equal((await listener.next())[0]!.rendered_description, stream.rendered_description)
      return stream.rendered_description
    }
    const time = '<time datetime="2017-12-31T00:00:00Z">1514678400</time>'
    assert.equal(await rendered(450), `<p>${time} <span class="timestamp-error">Invalid time format: noon</span></p>`)
    assert.equal(await rendered(451), `<p>${time} &lt;time:noon&gt;</p>`)
    assert.equal(await rendered(503), '<p>&lt;time:1514678400&gt; &lt;time:noon&gt;</p>')
  })

  test('shows uploaded images in the text from 437 on', async () => {
    const rendered = async (level: number) => {
      const space = await spaceAt(level)
      const file = { filename: 'a.png', contentType: 'image/png', bytes: pixel.png }
      const { url } = await space.owner.call(uploads.upload, { file })
      return (await shown(space, `- ![a pixel](${url})`)).replaceAll(url, 'URL')
    }
    assert.equal(await rendered(436), '<ul>\n<li>![a pixel](URL)</li>\n</ul>')
    for (const level of [437, 467])
      assert.equal(
        await rendered(level),
        '<ul>\n<li><img alt="a pixel" class="inline-image" data-original-content-type="image/png" data-original-dimensions="1x1" data-original-src="URL" src="URL"></li>\n</ul>',
      )
  })

  test('has a player for .mov files from 495 on', async () => {
    const plays = async (level: number) => {
      const space = await spaceAt(level)
      const file = { filename: 'a.mov', contentType: 'video/quicktime', bytes: Buffer.from('film') }
      const { url } = await space.owner.call(uploads.upload, { file })
      return (await shown(space, `[film](${url})`)).includes('<video preload="metadata"')
    }
    assert.deepEqual([await plays(494), await plays(495)], [false, true])
  })
})

describe('PATCH /messages/{message_id}', () => {
  test('starts a topic only for people who may, from 441 on', async () => {
    const moved = async (level: number) => {
      const space = await spaceAt(level)
      const stream_id = await channelId(space)
      const { id } = await space.as('amy').call(messages.send, some)
      if (level > 440)
        await space.owner.call(channels.update, {
          stream_id,
          can_create_topic_group: { new: await group(space, 'role:nobody') },
        })
      const { body } = await space.as('amy').try(messages.update, { message_id: id, topic: 'a new one' })
      return body.msg === '' ? 'moved' : body.msg
    }
    assert.equal(await moved(440), 'moved')
    assert.match(await moved(441), /create new topics/)
  })

  test('says which messages are young enough although the one given is not, from 505 on', async () => {
    const answer = async (level: number, wait: string) => {
      const space = await spaceAt(level, frozen)
      await space.owner.call(organization.update, { move_messages_within_stream_limit_seconds: 3600 } as never)
      const amy = space.as('amy')
      const { id } = await amy.call(messages.send, some)
      await space.control.call('POST', '/clock/advance', { by: '2h' })
      const { id: young } = await amy.call(messages.send, some)
      await space.control.call('POST', '/clock/advance', { by: wait })
      const params = { message_id: id, topic: 'elsewhere', propagate_mode: 'change_all' }
      const { body } = await amy.try(messages.update, params)
      return [body.code, body.first_message_id_allowed_to_move === young]
    }
    assert.deepEqual(await answer(504, '1s'), ['BAD_REQUEST', false])
    assert.deepEqual(await answer(505, '1s'), ['MOVE_MESSAGES_TIME_LIMIT_EXCEEDED', true])
    assert.deepEqual(await answer(505, '2h'), ['BAD_REQUEST', false], 'none of them is')
  })

  test('takes the channel of the message for no move from 509 on', async () => {
    const answers = async (level: number) => {
      const space = await spaceAt(level)
      const stream_id = await channelId(space)
      await space.owner.call(organization.update, {
        can_move_messages_between_channels_group: { new: await group(space, 'role:administrators') },
      } as never)
      const { id } = await space.as('amy').call(messages.send, some)
      const status = async (params: object) =>
        (await space.as('amy').try(messages.update, { message_id: id, stream_id, ...params })).status
      return [await status({}), await status({ content: 'edited' }), await status({ topic: 'elsewhere' })]
    }
    assert.deepEqual(await answers(508), [400, 400, 400])
    assert.deepEqual(await answers(509), [400, 200, 200])
  })
})

describe('delete_message', () => {
  test('is sent for what a retention policy deletes from 452 on', async () => {
    const told = async (level: number) => {
      const space = await spaceAt(level, frozen)
      const { id } = await space.owner.call(messages.send, some)
      await space.owner.call(channels.update, { stream_id: await channelId(space), message_retention_days: 1 })
      await space.control.call('POST', '/clock/advance', { by: '1439m' })
      const listener = await listen(space.owner, { event_types: ['delete_message'] })
      await space.control.call('POST', '/clock/advance', { by: '2m' })
      await space.owner.refused(messages.get, { message_id: id }, 'BAD_REQUEST')
      return (await listener.next()).some(event => event.message_id === id)
    }
    assert.deepEqual([await told(451), await told(452)], [false, true])
  })

  test('names to an administrator who deactivates an account the messages that they can read', async () => {
    const space = await spaceAt(459)
    const [amy, { owner }] = [space.as('amy'), space]
    const capabilities = { client_capabilities: { bulk_message_deletion: true }, event_types: ['delete_message'] }
    await amy.call(channels.create, { name: 'secret', subscribers: [amy.id], invite_only: true })
    const { id: open } = await amy.call(messages.send, some)
    const { id: secret } = await amy.call(messages.send, { ...some, to: 'secret' })
    const { id: note } = await amy.call(messages.send, { type: 'direct', to: [amy.id], content: 'a note' })
    const { id: direct } = await amy.call(messages.send, { type: 'direct', to: [owner.id], content: 'hi' })
    const listener = await listen(owner, capabilities)
    await owner.call(users.deactivate, {
      user_id: amy.id,
      actions: {
        delete_public_channel_messages: true,
        delete_private_channel_messages: true,
        delete_direct_messages: true,
      },
    })
    const told = (await listener.next()).flatMap(event => event.message_ids)
    assert.deepEqual(
      [open, direct, secret, note].map(id => told.includes(id)),
      [true, true, false, false],
    )
  })
})

test('the recipient_id of two users is another from 482 on, that of more and of channels is not', async () => {
  const numbers = async (level: number) => {
    const { owner, as } = await spaceAt(level)
    const ids = [as('amy').id, as('bob').id]
    const queue = await listen(owner, { event_types: ['message'] })
    const sent = [
      await owner.call(messages.send, { type: 'direct', to: ids.slice(0, 1), content: 'to one' }),
      await owner.call(messages.send, { type: 'direct', to: ids.slice(0, 2), content: 'to two' }),
      await owner.call(messages.send, some),
    ]
    const read = await Promise.all(sent.map(({ id }) => owner.call(messages.get, { message_id: id })))
    const told = await queue.next()
    assert.deepEqual(
      told.map(({ message }) => message.recipient_id),
      read.map(({ message }) => message.recipient_id),
    )
    return read.map(({ message }) => message.recipient_id)
  }
  const [[pair, several, channel], [newPair, ...same]] = [await numbers(481), await numbers(482)]
  assert.notEqual(newPair, pair)
  assert.deepEqual(same, [several, channel])
})
