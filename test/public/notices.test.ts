// The words of the notification bot, which are those of the public server: clients and tests of bots compare them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Control } from '../support/control.ts'
import { Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { listen, person } from '../support/world.ts'
import { ask, type Fields, ok } from './support/cases.ts'
import { amy, bob, cat, channel, daemon, openKitchen, owner, say } from './support/kitchen.ts'

describe('the notification bot', () => {
  openKitchen()
  describe('about channels', aboutChannels)
  describe('about subscriptions and bots', aboutPeople)
  describe('about moves', aboutMoves)
})

const who = () => `@_**${ownerName}|${owner.id}**`
let ownerName = ''

async function told(place: number, limit = 1): Promise<string[]> {
  ownerName ||= (await ok(owner, 'GET /users/me')).full_name
  const narrow = [{ operator: 'channel', operand: place }]
  const range = { anchor: 'newest', num_before: limit, num_after: 0, apply_markdown: false }
  return (await ok(owner, 'GET /messages', { ...range, narrow })).messages.map(({ content }: Fields) => content)
}

function aboutChannels(): void {
  const changes: [title: string, made: Fields, change: Fields, text: () => string][] = [
    ['a name', { name: 'tools' }, { new_name: 'shed' }, () => `${who()} renamed channel **tools** to **shed**.`],
    [
      'a description',
      {},
      { description: 'Plants.' },
      () =>
        `${who()} changed the description for this channel.\n\n* **Old description:**\n\`\`\`\` quote\n*No description.*\n\`\`\`\`\n` +
        '* **New description:**\n```` quote\nPlants.\n````',
    ],
    [
      'who has access',
      {},
      { is_private: true },
      () =>
        `${who()} changed the [access permissions](/help/channel-permissions) for this channel from **Public** to **Private, protected history**.`,
    ],
    [
      'who may post',
      {},
      () => ({ can_send_message_group: { new: { direct_members: [owner.id], direct_subgroups: [] } } }),
      () =>
        `${who()} changed the [posting permissions](/help/channel-posting-policy) for this channel:\n\n* **Old**: @_*role:everyone*\n* **New**: ${who()}`,
    ],
    [
      'a retention period',
      {},
      { message_retention_days: 10 },
      () =>
        `${who()} has changed the [message retention period](/help/message-retention-policy) for this channel:\n` +
        '* **Old retention period**: Forever\n* **New retention period**: 10 days\n\n' +
        'Messages in this channel will now be automatically deleted 10 days after they are sent.',
    ],
    [
      'the end of a retention period',
      { message_retention_days: 10 },
      { message_retention_days: 'unlimited' },
      () =>
        `${who()} has changed the [message retention period](/help/message-retention-policy) for this channel:\n` +
        '* **Old retention period**: 10 days\n* **New retention period**: Forever\n\n' +
        'Messages in this channel will now be retained forever.',
    ],
    [
      'which topics there may be',
      {},
      { topics_policy: 'disable_empty_topic' },
      () =>
        `${who()} changed the "Allow posting to the *general chat* topic?" setting from **Automatic** to **No *general chat* topic**.`,
    ],
  ] as never
  for (const [title, made, change, text] of changes)
    test(`reports ${title}`, async () => {
      const { id } = await channel([owner], made)
      await ok(owner, `PATCH /streams/${id}`, typeof change === 'function' ? (change as () => Fields)() : change)
      assert.deepEqual(await told(id), [text()])
    })

  const kinds: [kind: string, made: Fields, description: string][] = [
    ['Public', {}, '*No description.*'],
    ['Public', { description: 'Plants.' }, 'Plants.'],
    ['Private, shared history', { invite_only: true, history_public_to_subscribers: true }, '*No description.*'],
    ['Private, protected history', { invite_only: true, history_public_to_subscribers: false }, '*No description.*'],
  ]
  for (const [kind, made, description] of kinds)
    test(`begins a ${kind.toLowerCase()} channel with ${description}`, async () => {
      const { id } = await channel([owner], made)
      const [text] = await told(id)
      assert.equal(
        text,
        `**${kind}** channel created by ${who()}. **Description:**\n\`\`\`\` quote\n${description}\n\`\`\`\``,
      )
    })

  test('announces one new channel and several', async () => {
    const { id } = await channel([owner])
    await ok(owner, 'PATCH /realm', { new_stream_announcements_stream_id: id })
    await ok(owner, 'POST /users/me/subscriptions', { subscriptions: [{ name: 'one' }], announce: true })
    await ok(owner, 'POST /users/me/subscriptions', {
      subscriptions: [{ name: 'two' }, { name: 'a*b' }],
      announce: true,
    })
    const { stream_id } = await ok(owner, 'GET /get_stream_id?stream=a*b')
    assert.deepEqual(await told(id, 2), [
      `${who()} created a new channel #**one**.`,
      `${who()} created the following channels: #**two**, [#a&#42;b](#narrow/channel/${stream_id}-a.2Ab).`,
    ])
  })

  test('reports that a channel was archived and unarchived', async () => {
    const { id, name } = await channel([owner])
    await ok(owner, `DELETE /streams/${id}`)
    await ok(owner, `PATCH /streams/${id}`, { is_archived: false })
    assert.deepEqual(await told(id, 2), [
      `Channel #**${name}** has been archived.`,
      `Channel #**${name}** has been unarchived.`,
    ])
  })
}

function aboutPeople(): void {
  test('reports channels that others subscribed one to', async () => {
    const [first, second] = [await channel([owner]), await channel([owner])]
    const heard = await listen(cat, ['message'], { apply_markdown: false })
    const subscribe = (...names: string[]) =>
      ok(owner, 'POST /users/me/subscriptions', {
        subscriptions: names.map(name => ({ name })),
        principals: [cat.id],
      })
    await subscribe(first.name)
    const third = await channel([owner])
    await subscribe(third.name, second.name)
    assert.deepEqual(
      (await heard()).map(({ message }) => message.content),
      [
        `${who()} subscribed you to #**${first.name}**.`,
        `${who()} subscribed you to the following channels:\n\n* #**${second.name}**\n* #**${third.name}**`,
      ],
    )
  })

  test('tells owners of bots which channel is missing, and that one is empty', async () => {
    const empty = await channel([])
    const sends: [to: unknown, text: string][] = [
      [99_999, 'channel ID 99999, but there is no channel with that ID.'],
      ['Nowhere', 'channel #**Nowhere**, but that channel does not exist. Click [here](#channels/new) to create it.'],
      [empty.id, `channel #**${empty.name}**. The channel exists but does not have any subscribers.`],
    ]
    await ok(owner, 'DELETE /users/me/subscriptions', { subscriptions: [empty.name] })
    for (const [i, [to, text]] of sends.entries()) {
      const heard = await listen(amy, ['message'], { apply_markdown: false })
      const bot = await ok(amy, 'POST /bots', { full_name: `helper ${i}`, short_name: `helper${i}` })
      const profile = await ok(amy, `GET /users/${bot.user_id}`)
      const helper = new Caller(daemon.url, profile.user.email, bot.api_key, bot.user_id)
      await ask(helper, 'POST /messages', {
        type: 'channel',
        to,
        topic: 'x',
        content: 'hello',
      })
      const notices = (await heard()).filter(({ message }) => message.type === 'private')
      assert.deepEqual(
        notices.map(({ message }) => message.content),
        [`Your bot \`${profile.user.email}\` tried to send a message to ${text}`],
      )
    }
  })

  test('reports being added to a group and removed from it', async () => {
    const made = { name: 'cooks', description: '', members: [owner.id] }
    const { group_id } = await ok(owner, 'POST /user_groups/create', made)
    const heard = await listen(bob, ['message'], { apply_markdown: false })
    await ok(owner, `POST /user_groups/${group_id}/members`, { add: [bob.id] })
    await ok(owner, `POST /user_groups/${group_id}/members`, { delete: [bob.id] })
    assert.deepEqual(
      (await heard()).map(({ message }) => message.content),
      [`${who()} added you to the group @_*cooks*.`, `${who()} removed you from the group @_*cooks*.`],
    )
  })
}

function aboutMoves(): void {
  const bothNotices = { send_notification_to_old_thread: true, send_notification_to_new_thread: true }

  test('links both places, and the message', async () => {
    const place = await channel([owner, amy])
    const id = await say(amy, 'old place', 'hello', place.id)
    await say(amy, 'old place', 'hello', place.id)
    await ok(owner, `PATCH /messages/${id}`, { topic: 'new place', propagate_mode: 'change_one', ...bothNotices })
    const link = `${daemon.url}/#narrow/channel/${place.id}-${place.name.replace(' ', '-')}/topic/new.20place/near/${id}`
    assert.deepEqual(await told(place.id, 2), [
      `[A message](${link}) was moved here from #**${place.name}>old place** by ${who()}.`,
      `A message was moved from this topic to #**${place.name}>new place** by ${who()}.`,
    ])
  })

  test('the link in the notice leads to the newest message of the other topic', async () => {
    const place = await channel([owner, amy])
    const id = await say(amy, 'a', 'hello', place.id)
    await ok(owner, `PATCH /messages/${id}`, { topic: 'b', propagate_mode: 'change_all', ...bothNotices })
    const narrow = [{ operator: 'channel', operand: place.id }]
    const { messages } = await ok(owner, 'GET /messages', { anchor: 'newest', num_before: 2, num_after: 0, narrow })
    const slug = `${place.id}-${place.name.replace(' ', '-')}`
    const anchor = `<a class="stream-topic" data-stream-id="${place.id}" href="/#narrow/channel/${slug}/topic/b/with/${messages[0].id}">`
    assert.ok(messages[1].content.includes(anchor), messages[1].content)
  })

  test('names that would break a link are written as an ordinary one', async () => {
    const place = await channel([owner, amy])
    const id = await say(amy, 'a>b', 'hello', place.id)
    await ok(owner, `PATCH /messages/${id}`, { topic: '', propagate_mode: 'change_all', ...bothNotices })
    const slug = `${place.id}-${place.name.replace(' ', '-')}`
    assert.deepEqual(await told(place.id, 2), [
      `This topic was moved here from [#${place.name} > a&gt;b](#narrow/channel/${slug}/topic/a.3Eb) by ${who()}.`,
      `This topic was moved to #**${place.name}>** by ${who()}.`,
    ])
  })

  test('reports that a topic was resolved and unresolved', async () => {
    const place = await channel([owner, amy])
    const id = await say(amy, 'task', 'hello', place.id)
    await ok(owner, `PATCH /messages/${id}`, { topic: '✔ task', propagate_mode: 'change_all' })
    assert.deepEqual(await told(place.id), [`${who()} has marked this topic as resolved.`])
    await say(amy, '✔ task', 'more', place.id)
    await ok(owner, `PATCH /messages/${id}`, { topic: 'task', propagate_mode: 'change_all' })
    assert.deepEqual(await told(place.id), [`${who()} has marked this topic as unresolved.`])
  })
}

describe('a scheduled message that cannot be sent', () => {
  let frozen: TestDaemon
  sharedDaemon({ flags: ['--memory', '--control', '--clock', 'frozen@2030-01-01T00:00:00Z'] }, async started => {
    frozen = started
  })

  test('is reported with its time, the reason and a link', async () => {
    const ann = await person(frozen, 'ann')
    const { id } = await ok(frozen.owner, 'POST /channels/create', { name: 'garden', subscribers: [ann.id] })
    await ok(ann, 'POST /scheduled_messages', {
      type: 'channel',
      to: id,
      topic: 'lunch',
      content: 'soon',
      scheduled_delivery_timestamp: 1_893_456_600,
    })
    await ok(frozen.owner, `DELETE /streams/${id}`)
    await new Control(frozen).advance('10m')
    const range = { anchor: 'newest', num_before: 1, num_after: 0, apply_markdown: false }
    const [notice] = (await ok(ann, 'GET /messages', range)).messages
    const [head, reason, link] = notice.content.split('\n\n')
    assert.equal(
      head,
      'The message you scheduled for <time:2030-01-01 00:10:00+00:00>  was not sent because of the following error:',
    )
    assert.match(reason, /^> \S/)
    assert.equal(link, '[View scheduled messages](#scheduled)')
  })
})
