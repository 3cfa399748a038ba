// Reading, deleting and reporting messages, as clients of the public server know them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Caller } from '../support/daemon.ts'
import { listen } from '../support/world.ts'
import { ask, assertHas, type Fields, ok } from './support/cases.ts'
import { amy, bob, cat, channel, kitchen, openKitchen, owner, say } from './support/kitchen.ts'

describe('messages', () => {
  openKitchen()
  describe('GET /messages/{message_id}', reading)
  describe('DELETE /messages/{message_id}', deleting)
  describe('POST /messages/{message_id}/report', reports)
})

function reading(): void {
  test('a message as text and as Markdown', async () => {
    const id = await say(amy, 'reading', '**soup**')
    assertHas(await ok(bob, `GET /messages/${id}`), {
      raw_content: '**soup**',
      message: { content: '<p><strong>soup</strong></p>', content_type: 'text/html', flags: [] },
    })
    assertHas(await ok(bob, `GET /messages/${id}`, { apply_markdown: false }), {
      message: { content: '**soup**', content_type: 'text/x-markdown' },
    })
  })

  test('what one cannot read looks like nothing', async () => {
    const { id } = await ok(amy, 'POST /messages', { type: 'direct', to: [bob.id], content: 'hi' })
    for (const path of [`/messages/${id}`, '/messages/99999', `/messages/${id}/history`])
      assertHas(await ask(cat, `GET ${path}`), { status: 400, body: { code: 'BAD_REQUEST' } })
    assertHas(await ok(cat, `GET /messages/${await say(amy, 'open')}`), { message: { flags: ['read', 'historical'] } })
  })

  const differences: [title: string, older: string, newer: string, difference: string][] = [
    [
      'a word',
      'content before edit',
      'content after edit',
      '<p>content <span class="highlight_text_inserted">after</span> <span class="highlight_text_deleted">before</span> edit</p>',
    ],
    [
      'a line',
      'content before edit, line 1\n\ncontent before edit, line 3',
      'content before edit, line 1\ncontent after edit, line 2\ncontent before edit, line 3',
      '<p>content before edit, line 1<br> content <span class="highlight_text_inserted">after edit, line 2<br> content</span> before edit, line 3</p>',
    ],
    [
      'an address',
      'Here is a link to [zulip](www.zulip.org).',
      'Here is a link to [zulip](www.zulipchat.com).',
      '<p>Here is a link to <a href="http://www.zulipchat.com">zulip <span class="highlight_text_inserted"> Link: http://www.zulipchat.com</span> </a> <span class="highlight_text_inserted">.</span> <span class="highlight_text_deleted"> Link: http://www.zulip.org .</span> </p>',
    ],
    ['no word', 'the same', 'the **same**', '<p>the <strong>same</strong></p>'],
    ['the last word', 'hello world', 'hello', '<p>hello <span class="highlight_text_deleted">world</span> </p>'],
    [
      'an item of a list',
      '* a\n* b',
      '* a\n* c',
      '<ul><li>a</li> <li><span class="highlight_text_inserted">c</span></li> <li><span class="highlight_text_deleted">b</span></li> </ul>',
    ],
    [
      'everything',
      'one',
      '**two** < three',
      '<p><span class="highlight_text_inserted"><strong>two</strong> &lt; three</span></p> <p><span class="highlight_text_deleted">one</span></p>',
    ],
  ]
  for (const [title, older, newer, difference] of differences)
    test(`the difference of ${title}`, async () => {
      const id = await say(amy, 'differences', older)
      await ok(amy, `PATCH /messages/${id}`, { content: newer })
      const { message_history } = await ok(bob, `GET /messages/${id}/history`)
      assert.equal(message_history[1].content_html_diff, `<div>${difference}</div>`)
    })

  test('the difference of long texts without a common word is cheap', async () => {
    const id = await say(amy, 'differences', 'a '.repeat(4900))
    for (const word of ['b', 'a', 'b', 'a b', 'b a', 'a'])
      await ok(amy, `PATCH /messages/${id}`, { content: `${word} `.repeat(2400) })
    const { message_history } = await ok(bob, `GET /messages/${id}/history`)
    assert.equal(message_history.length, 7)
  })

  test('the history of edits and moves, oldest first', async () => {
    const id = await say(amy, 'before', 'one')
    await ok(amy, `PATCH /messages/${id}`, { content: 'two' })
    await ok(amy, `PATCH /messages/${id}`, { topic: 'after', send_notification_to_new_thread: false })
    await ok(amy, `PATCH /messages/${id}`, {
      content: 'three',
      topic: 'at last',
      send_notification_to_new_thread: false,
    })
    const { message_history } = await ok(bob, `GET /messages/${id}/history`)
    assertHas(message_history, [
      { content: 'one', topic: 'before', user_id: amy.id, prev_content: undefined },
      {
        content: 'two',
        prev_content: 'one',
        topic: 'before',
        rendered_content: '<p>two</p>',
        prev_rendered_content: '<p>one</p>',
      },
      { content: 'two', topic: 'after', prev_topic: 'before', prev_content: undefined },
      { content: 'three', prev_content: 'two', topic: 'at last', prev_topic: 'after' },
    ])
    const { message } = await ok(bob, `GET /messages/${id}`)
    assertHas(message.edit_history, [
      { prev_content: 'two', prev_topic: 'after', topic: 'at last', user_id: amy.id },
      { prev_topic: 'before', topic: 'after', prev_content: undefined },
      { prev_content: 'one', prev_topic: undefined },
    ])
  })

  const policies: [policy: string, status: number, entries: number, edits: number | undefined][] = [
    ['all', 200, 3, 2],
    ['moves', 200, 2, 1],
    ['none', 400, 0, undefined],
  ]
  for (const [policy, status, entries, edits] of policies)
    test(`the history with message_edit_history_visibility_policy ${policy}`, async () => {
      const id = await say(amy, 'before', 'one')
      await ok(amy, `PATCH /messages/${id}`, { content: 'two' })
      await ok(amy, `PATCH /messages/${id}`, { topic: 'after', send_notification_to_new_thread: false })
      await ok(owner, 'PATCH /realm', { message_edit_history_visibility_policy: policy })
      const reply = await ask(bob, `GET /messages/${id}/history`)
      assert.deepEqual([reply.status, reply.body.message_history?.length ?? 0], [status, entries])
      assert.equal((await ok(bob, `GET /messages/${id}`)).message.edit_history?.length, edits)
      await ok(owner, 'PATCH /realm', { message_edit_history_visibility_policy: 'all' })
    })

  test('matches_narrow marks what it finds, of messages that were received', async () => {
    const [found, other] = [await say(amy, 'reading', 'green soup'), await say(amy, 'reading', 'bread')]
    const narrow = [['search', 'soup']]
    const { messages } = await ok(bob, 'GET /messages/matches_narrow', { msg_ids: [found, other], narrow })
    assert.deepEqual(messages, {
      [found]: { match_content: '<p>green <span class="highlight">soup</span></p>', match_subject: 'reading' },
    })
    assert.deepEqual((await ok(cat, 'GET /messages/matches_narrow', { msg_ids: [found], narrow })).messages, {})
  })
}

function deleting(): void {
  test('administrators delete any message; it is told with its place', async () => {
    const id = await say(amy, 'gone')
    const heard = await listen(bob, ['delete_message'])
    await ok(owner, `DELETE /messages/${id}`)
    assertHas(await heard(), [{ message_id: id, message_type: 'stream', stream_id: kitchen, topic: 'gone' }])
    assertHas(await ask(owner, `DELETE /messages/${id}`), { status: 400, body: { code: 'BAD_REQUEST' } })
  })

  test('a direct message is told without a place', async () => {
    const { id } = await ok(amy, 'POST /messages', { type: 'direct', to: [bob.id], content: 'hi' })
    const heard = await listen(bob, ['delete_message'])
    await ok(owner, 'PATCH /realm', {
      can_delete_own_message_group: { new: { direct_members: [amy.id], direct_subgroups: [] } },
    })
    await ok(amy, `DELETE /messages/${id}`)
    assertHas(await heard(), [{ message_id: id, message_type: 'private', stream_id: undefined, topic: undefined }])
  })

  test('users delete their own, and those of their bots, if they may and in time', async () => {
    const [own, others] = [await say(amy, 'gone'), await say(bob, 'gone')]
    const robot = await bot('deleted')
    await ok(amy, 'POST /users/me/subscriptions', { subscriptions: [{ name: 'kitchen' }], principals: [robot.id] })
    const ofBot = await say(robot, 'gone')
    assert.equal((await ask(amy, `DELETE /messages/${others}`)).status, 400)
    assert.equal((await ask(bob, `DELETE /messages/${others}`)).status, 400)
    await ok(amy, `DELETE /messages/${ofBot}`)
    await ok(amy, `DELETE /messages/${own}`)
  })

  test('the first message of a channel changes', async () => {
    const place = (await channel([owner, bob], { name: 'first' })).id
    const ids = [await say(bob, 'a', 'x', place), await say(bob, 'a', 'y', place)]
    const first = (
      await ok(owner, 'GET /messages', {
        anchor: 'oldest',
        num_before: 0,
        num_after: 1,
        narrow: [{ operator: 'channel', operand: place }],
      })
    ).messages[0].id
    const heard = await listen(bob, ['stream', 'delete_message'])
    await ok(owner, `DELETE /messages/${first}`)
    assertHas(await heard(), [
      { type: 'stream', op: 'update', property: 'first_message_id', value: ids[0] },
      { type: 'delete_message', message_id: first },
    ])
  })
}

function reports(): void {
  const line = (id: number) => `POST /messages/${id}/report`
  test('need a channel for them', async () => {
    const id = await say(bob, 'bad')
    assertHas(await ask(amy, line(id), { report_type: 'spam' }), { status: 400, body: { code: 'BAD_REQUEST' } })
  })

  test('reach the channel for them', async () => {
    const place = (await channel([owner], { name: 'reports', invite_only: true })).id
    await ok(owner, 'PATCH /realm', { moderation_request_channel_id: place })
    const id = await say(bob, 'bad', 'spam spam')
    const heard = await listen(owner, ['message'], { apply_markdown: false })
    await ok(amy, line(id), { report_type: 'harassment', description: 'not nice' })
    const [event] = await heard()
    const mention = ({ id }: Caller, name: string) => `@_**${name} example|${id}**`
    assertHas(event, {
      message: {
        stream_id: place,
        subject: "bob example's moderation requests",
        content: [
          `${mention(amy, 'amy')} reported #**kitchen>bad@${id}** sent by ${mention(bob, 'bob')}.`,
          '- Reason: **harassment**',
          '- Notes:',
          '```quote\nnot nice\n```',
          `\`\`\` spoiler **Message sent by ${mention(bob, 'bob')}**\nspam spam\n\`\`\``,
        ].join('\n'),
      },
    })
  })

  test('of direct messages name the people, but have no link', async () => {
    for (const [to, people] of [
      [[amy.id], 'a DM sent by @_**bob'],
      [[amy.id, cat.id], 'a DM sent by @_**bob'],
    ] as const) {
      const { id } = await ok(bob, 'POST /messages', { type: 'direct', to, content: 'psst' })
      const heard = await listen(owner, ['message'], { apply_markdown: false })
      await ok(amy, line(id), { report_type: 'spam' })
      const { content } = (await heard())[0]!.message
      assert.ok(content.includes(people) && !content.includes('narrow'), content)
      assert.equal(/ to @_.*, and @_/.test(content), to.length > 1)
    }
  })

  const rows: [title: string, fields: Fields, status: number][] = [
    ['an unknown reason', { report_type: 'boring' }, 400],
    ['another reason without words', { report_type: 'other' }, 400],
    ['another reason with words', { report_type: 'other', description: 'this' }, 200],
    ['1001 characters', { report_type: 'spam', description: 'x'.repeat(1001) }, 400],
    ['1000 characters', { report_type: 'spam', description: 'x'.repeat(1000) }, 200],
    ['no reason', {}, 400],
  ]
  for (const [title, fields, status] of rows)
    test(`${title}: ${status}`, async () => {
      assert.equal((await ask(amy, line(await say(bob, 'bad')), fields)).status, status)
    })

  test('of messages that one cannot read are refused', async () => {
    const { id } = await ok(amy, 'POST /messages', { type: 'direct', to: [bob.id], content: 'hi' })
    assertHas(await ask(cat, line(id), { report_type: 'spam' }), { status: 400, body: { code: 'BAD_REQUEST' } })
  })
}

async function bot(name: string): Promise<Caller> {
  const { user_id, api_key } = await ok(amy, 'POST /bots', { full_name: name, short_name: name })
  const { bots } = await ok(amy, 'GET /bots')
  const { username } = bots.find((one: Fields) => one.api_key === api_key)
  return new Caller(amy.url, username, api_key, user_id)
}
