// Incoming webhooks: what other services post becomes a message.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bots } from '../../../daemon/api/bots/bots.ts'
import { webhooks as api } from '../../../daemon/api/bots/webhooks.ts'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { events } from '../../../daemon/api/events.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { Control } from '../../support/control.ts'
import { type Caller, sharedDaemon } from '../../support/daemon.ts'
import { type HttpReply, multipart, send } from '../../support/http.ts'
import { person } from '../../support/world.ts'

let amy: Caller
let key: string
let botId: number
const daemon = sharedDaemon({ flags: ['--control'] }, async started => {
  amy = await person(started, 'amy')
  await amy.call(subscriptions.subscribe, { subscriptions: [{ name: 'alerts' }] })
  const bot = await amy.call(bots.create, { full_name: 'Notifier', short_name: 'notifier', bot_type: 2 })
  key = bot.api_key
  botId = bot.user_id
})

const json = { 'Content-Type': 'application/json' }
const form = { 'Content-Type': 'application/x-www-form-urlencoded' }

interface Post {
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

function post(integration: string, { query = {}, headers = json, body = '' }: Post = {}): Promise<HttpReply> {
  const search = new URLSearchParams({ api_key: key, stream: 'alerts', ...query })
  for (const [name, value] of Object.entries(query)) if (value === 'absent') search.delete(name)
  return send(`${daemon().url}/api/v1/external/${integration}`, {
    method: 'POST',
    headers,
    query: String(search),
    body,
  })
}

/** The newest message that amy can read. */
async function latest(caller: Caller = amy): Promise<Record<string, any>> {
  const range = { anchor: 'newest', num_before: 1, num_after: 0, apply_markdown: false, allow_empty_topic_name: true }
  return (await caller.call(messages.list, range)).messages.at(-1)!
}

async function posted(integration: string, options: Post = {}): Promise<Record<string, any>> {
  const before = (await latest()).id
  const reply = await post(integration, options)
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.body.result, 'success')
  const message = await latest()
  assert.ok(message.id > before, 'nothing was sent')
  return message
}

describe('POST /external/slack_incoming', () => {
  const slack = (payload: object) => posted('slack_incoming', { body: JSON.stringify(payload) })

  test('posts the text as the bot, without a topic, and answers ok', async () => {
    const { body } = await post('slack_incoming', { body: '{"text":"Hello, world."}' })
    assert.deepEqual(body, { result: 'success', msg: '', ok: true })
    const { content, subject, sender_id, display_recipient, client } = await latest()
    assert.deepEqual(
      { content, subject, sender_id, display_recipient, client },
      {
        content: 'Hello, world.',
        subject: '',
        sender_id: botId,
        display_recipient: 'alerts',
        client: 'ZulipSlackIncomingWebhook',
      },
    )
  })

  test('takes the topic of the address, then the channel of the payload', async () => {
    assert.equal((await slack({ text: 'x', channel: '#devops' })).subject, 'devops')
    const chosen = await posted('slack_incoming', {
      query: { topic: 'mine' },
      body: '{"text":"x","channel":"#devops"}',
    })
    assert.equal(chosen.subject, 'mine')
  })

  test('takes a form with the payload in it', async () => {
    const payload = { icon_emoji: ':zap:', text: 'deploying tag v0.0.2', channel: '#devops' }
    const body = String(new URLSearchParams({ payload: JSON.stringify(payload) }))
    const { content, subject } = await posted('slack_incoming', { headers: form, body })
    assert.deepEqual([content, subject], [':zap: deploying tag v0.0.2', 'devops'])
    const { headers, body: parts } = multipart(new Map([['payload', '{"text":"in parts"}']]))
    assert.equal((await posted('slack_incoming', { headers: headers!, body: parts! })).content, 'in parts')
  })

  const markup: readonly (readonly [string, string])[] = [
    ['some *foo* word', 'some **foo** word'],
    ['*foo* *bar*', '**foo** **bar**'],
    ['*foo*a*bar*', '*foo*a*bar*'],
    ['some _foo_ word and ~old~ news', 'some *foo* word and ~~old~~ news'],
    ['snake_case_name', 'snake_case_name'],
    ['see <https://example.com/a|the *docs*>', 'see [the **docs**](https://example.com/a)'],
    ['see <https://example.com:8080/a?b=1>', 'see https://example.com:8080/a?b=1'],
    ['<mailto:amy@example.com|amy@example.com>', 'mailto:amy@example.com'],
    ['a < b, <b>, <x <https://example.com>', 'a < b, <b>, <x https://example.com'],
    ['*1️⃣ `/task` command*. Then', '**1️⃣ `/task` command**. Then'],
  ]
  for (const [text, expected] of markup)
    test(`translates ${text}`, async () => assert.equal((await slack({ text })).content, expected))

  test('many open brackets keep no other call waiting', { timeout: 120_000 }, async () => {
    for (const text of [`${'<'.repeat(900_000)}>`, `${'<'.repeat(600)}>`.repeat(1500)])
      assert.match((await slack({ text })).content, /^<{600}/)
  })

  test('renders blocks', async () => {
    const text = (given: string, type = 'mrkdwn') => ({ type, text: given })
    const blocks = [
      { type: 'header', text: text('Hello', 'plain_text') },
      {
        type: 'section',
        text: text('*Hey* there'),
        accessory: { type: 'image', image_url: 'https://example.com/a.png', alt_text: 'cat' },
      },
      { type: 'section', fields: ['one', 'two', 'th|ree'].map(one => text(one)) },
      { type: 'section', fields: [text('*Rating*\n1.0')] },
      { type: 'divider' },
      { type: 'image', title: text('shown', 'plain_text'), image_url: 'https://example.com/b.png', alt_text: 'hidden' },
      {
        type: 'context',
        elements: [text('small'), { type: 'image', image_url: 'https://example.com/c.png', alt_text: 'c' }],
      },
      { type: 'actions', elements: [] },
      { type: 'input', label: text('x', 'plain_text') },
    ]
    const expected = [
      '## Hello',
      '**Hey** there',
      '[cat](https://example.com/a.png)',
      '| | |\n|-|-|\n| one | two |\n| th ree |  |',
      '**Rating**\n1.0',
      '----',
      '[shown](https://example.com/b.png)',
      'small',
      '[c](https://example.com/c.png)',
    ]
    assert.equal((await slack({ blocks, text: 'not shown' })).content, expected.join('\n\n'))
  })

  test('renders attachments', async () => {
    const attachment = {
      title: 'Down',
      title_link: 'https://example.com/alert',
      pretext: 'before',
      text: 'inside',
      fields: [{ title: 'Duration', value: '00:02:03' }, { title: 'Alone' }, { value: 'No title', title: null }],
      blocks: [{ type: 'divider' }],
      image_url: 'https://example.com/a.png',
      footer: 'after',
      ts: '1655945306.25',
    }
    const expected = [
      '## [Down](https://example.com/alert)',
      'before',
      'inside',
      '**Duration**: 00:02:03\n**Alone**\nNo title',
      '----',
      '[](https://example.com/a.png)',
      'after',
      '<time:1655945306>',
    ]
    assert.equal((await slack({ attachments: [attachment] })).content, expected.join('\n\n'))
  })

  test('sends nothing for a payload without content', async () => {
    const before = (await latest()).id
    for (const payload of [{ text: null }, {}, { attachments: [{ title: null, text: null, ts: null }] }])
      assert.equal((await post('slack_incoming', { body: JSON.stringify(payload) })).body.ok, true)
    assert.equal((await latest()).id, before)
  })

  const refused: readonly (readonly [string, Post, RegExp])[] = [
    ['no payload', { headers: {} }, /^payload: required/],
    [
      'JSON that is not declared',
      { headers: { 'Content-Type': 'text/plain' }, body: '{"text":"x"}' },
      /^payload: required/,
    ],
    ['a form without a payload', { headers: form, body: 'text=x' }, /^payload: required/],
    ['broken JSON', { body: '{"text":\n  "x",}' }, /line 2, column 7/],
    ['a list', { body: '[]' }, /^payload: must be an object$/],
    ['a wrong type', { body: '{"blocks":[{"type":"video"}]}' }, /^payload: blocks\[0\]\.type must be one of actions/],
    [
      'a number as text',
      { body: '{"attachments":[{"title":5}]}' },
      /^payload: attachments\[0\]\.title must be a text$/,
    ],
    [
      'a link that is none',
      { body: '{"attachments":[{"image_url":"x"}]}' },
      /attachments\[0\]\.image_url must be a URL/,
    ],
  ]
  for (const [what, options, expected] of refused)
    test(`refuses ${what}, in the form of Slack`, async () => {
      const { status, body } = await post('slack_incoming', options)
      assert.equal(status, 400)
      assert.equal(body.ok, false)
      assert.match(body.error, expected)
    })
})

describe('POST /external/slack_incoming with an archived channel', () => {
  test('is refused, in the form of Slack', async () => {
    await amy.call(subscriptions.subscribe, { subscriptions: [{ name: 'attic' }] })
    const { stream_id } = await amy.call(channels.id, { stream: 'attic' })
    await daemon().owner.call(channels.archive, { stream_id })
    const { status, body } = await post('slack_incoming', {
      query: { stream: String(stream_id) },
      body: '{"text":"x"}',
    })
    assert.deepEqual([status, body.ok], [400, false])
    assert.match(body.error, /^stream: the channel .* is archived$/)
  })
})

describe('POST /external/json', () => {
  test('shows the object as JSON, under the topic JSON', async () => {
    const { content, subject, client } = await posted('json', { body: '{"name":"Zoë","list":[1, 2.50,{}],"none":[]}' })
    const lines = [
      '```json',
      '{',
      '  "name": "Zo\\u00eb",',
      '  "list": [',
      '    1,',
      '    2.50,',
      '    {}',
      '  ],',
      '  "none": []',
      '}',
      '```',
    ]
    assert.equal(content, lines.join('\n'))
    assert.deepEqual([subject, client], ['JSON', 'ZulipJSONWebhook'])
  })

  test('reads the body as JSON, whatever it is declared as', async () => {
    assert.match((await posted('json', { headers: form, body: '{"a":1}' })).content, /"a": 1/)
    const { status, body } = await post('json', { headers: form, body: 'payload=%7B%7D' })
    assert.deepEqual([status, body.code], [400, 'BAD_REQUEST'])
    assert.match(body.msg, /line 1, column 1\./)
    assert.match((await post('json', { body: '[1]' })).body.msg, /must be a JSON object/)
  })
})

describe('POST /external/{integration}', () => {
  test('shows the payload of any service, with the event that its header names', async () => {
    const headers = { ...json, 'X-GitHub-Event': 'push' }
    const { content, subject, client } = await posted('github', { headers, body: '{"ref":"main"}' })
    assert.equal(content, '**GitHub** `push`\n\n```json\n{\n  "ref": "main"\n}\n```')
    assert.deepEqual([subject, client], ['github', 'ZulipGitHubWebhook'])
  })

  const shown: readonly (readonly [string, Post, RegExp])[] = [
    ['a form', { headers: form, body: 'state=down&check=web' }, /\{\n {2}"state": "down",\n {2}"check": "web"\n\}/],
    ['a form with a field that names a method', { headers: form, body: 'method=DELETE' }, /"method": "DELETE"/],
    ['a form with a payload', { headers: form, body: 'payload=%7B%22a%22%3A1%7D' }, /\{\n {2}"a": 1\n\}/],
    [
      'text',
      { headers: { 'Content-Type': 'text/plain' }, body: 'disk full\n```\nnow' },
      /````text\ndisk full\n```\nnow\n````/,
    ],
    ['nothing', { headers: {} }, /\(no payload\)/],
    ['keys that repeat', { body: '{"a":1,"a":2}' }, /"a": 1,\n {2}"a": 2/],
    ['what is nested deeply', { body: `${'['.repeat(50_000)}${']'.repeat(50_000)}` }, /was cut/],
    [
      'what is long',
      { body: JSON.stringify({ long: 'x\n'.repeat(20_000), next: 1 }) },
      /has 60\d\d\d characters and was cut/,
    ],
  ]
  for (const [what, options, expected] of shown)
    test(`shows ${what}`, async () => assert.match((await posted('monitor', options)).content, expected))

  test('writes to the owner of the bot when no channel is given', async () => {
    const { content, type, sender_id } = await posted('grafana', { query: { stream: 'absent' }, body: '{}' })
    assert.deepEqual([content, type, sender_id], ['**Grafana**\n\n```json\n{}\n```', 'private', botId])
  })

  test('takes a channel by its ID, and cuts a topic that is too long', async () => {
    const { stream_id } = await amy.call(channels.id, { stream: 'alerts' })
    const query = { stream: String(stream_id), topic: 'long '.repeat(40) }
    const { subject } = await posted('grafana', { query, body: '{}' })
    assert.equal(subject.length, 60)
  })

  test('a channel that does not exist is no error: the owner of the bot gets a notice', async () => {
    const { status, body } = await post('grafana', { query: { stream: '99999999999999999999' }, body: '{}' })
    assert.deepEqual([status, body], [200, { result: 'success', msg: '' }])
    assert.match((await latest()).content, /tried to send a message to channel #\*\*9{20}\*\*/)
  })

  const filters: readonly (readonly [Record<string, string>, boolean])[] = [
    [{ only_events: '["pull_*"]' }, false],
    [{ only_events: '["pu?h"]' }, true],
    [{ only_events: '["issues","[a-p]ush"]' }, true],
    [{ exclude_events: '["push"]' }, false],
    [{ only_events: '["push"]', exclude_events: '["*"]' }, false],
    [{ exclude_events: '["[!p]*"]' }, true],
  ]
  for (const [query, wanted] of filters)
    test(`${JSON.stringify(query)} ${wanted ? 'lets a push through' : 'leaves a push out'}`, async () => {
      const before = (await latest()).id
      const headers = { ...json, 'X-GitHub-Event': 'push' }
      assert.equal((await post('github', { query, headers, body: '{}' })).status, 200)
      assert.equal((await latest()).id > before, wanted)
    })

  test('a payload without an event passes every filter', async () => {
    await posted('grafana', { query: { only_events: '["push"]' }, body: '{}' })
  })

  const refused: readonly (readonly [string, Post, number, string, RegExp])[] = [
    ['no key', { query: { api_key: 'absent' }, body: '{}' }, 400, 'REQUEST_VARIABLE_MISSING', /^api_key: required/],
    ['a wrong key', { query: { api_key: 'x'.repeat(32) }, body: '{}' }, 401, 'INVALID_API_KEY', /^Invalid API key$/],
    ['broken JSON', { body: '{"a":' }, 400, 'INVALID_JSON', /line 1, column 6/],
    ['a space that JSON does not have', { body: '{"a":\u00a01}' }, 400, 'INVALID_JSON', /line 1, column 6/],
    ['20 MB of JSON', { body: `"${'x'.repeat(20e6)}"` }, 413, 'BAD_REQUEST', /too large \(limit: 1 MiB\)/],
    ['filters that are no list', { query: { only_events: 'push' }, body: '{}' }, 400, 'BAD_REQUEST', /^only_events/],
  ]
  for (const [what, options, status, code, expected] of refused)
    test(`refuses ${what}`, async () => {
      const reply = await post('monitor', options)
      assert.deepEqual([reply.status, reply.body.code], [status, code])
      assert.match(reply.body.msg, expected)
    })

  test('takes the key of any account, but a person has no owner to write to', async () => {
    const query = { api_key: amy.key! }
    assert.equal((await posted('grafana', { query, body: '{}' })).sender_id, amy.id)
    const { status, body } = await post('grafana', { query: { ...query, stream: 'absent' }, body: '{}' })
    assert.equal(status, 400)
    assert.match(body.msg, /^stream: required because your account is not a bot/)
  })

  test('answers with the fields and codes of the reference', async () => {
    const { anonymous: service } = daemon()
    const params = { api_key: key, stream: 'alerts', payload: '{"text":"x"}' }
    assert.equal((await service.call(api.post, { integration: 'slack_incoming', ...params })).ok, true)
    await service.refused(api.post, { integration: 'grafana', api_key: amy.key, payload: '{}' }, 'BAD_REQUEST')
  })

  test('posts again what is sent again', async () => {
    const [first, second] = [await posted('grafana', { body: '{}' }), await posted('grafana', { body: '{}' })]
    assert.equal(first.content, second.content)
  })

  test('refuses the key of a bot that was deactivated, and other calls with the key of this one', async () => {
    const { user_id, api_key } = await amy.call(bots.create, { full_name: 'Gone', short_name: 'gone', bot_type: 2 })
    await amy.call(bots.deactivate, { bot_id: user_id })
    const { status, body } = await post('grafana', { query: { api_key }, body: '{}' })
    assert.deepEqual([status, body.code], [401, 'USER_DEACTIVATED'])
    const url = `${daemon().url}/api/v1/users/me`
    assert.equal((await send(url, { auth: `notifier-bot@example.com:${key}` })).status, 401)
  })

  test('register lists the integrations', async () => {
    const state = await amy.call(events.register, { fetch_event_types: ['realm_incoming_webhook_bots'] })
    const list = (state as Record<string, any>).realm_incoming_webhook_bots as { name: string }[]
    assert.deepEqual(
      list.find(({ name }) => name === 'slack_incoming'),
      {
        name: 'slack_incoming',
        display_name: 'Slack-compatible webhook',
        all_event_types: null,
        config_options: [],
        url_options: [],
      },
    )
    assert.ok(list.length > 80)
  })
})

describe('payloads in the log of calls', () => {
  test('are kept with the name of the integration and the event, without the key', async () => {
    const control = new Control(daemon())
    await posted('sentry', {
      headers: { ...json, 'Sentry-Hook-Resource': 'issue' },
      body: `{"big":"${'y'.repeat(20_000)}"}`,
    })
    const { requests } = await control.call('GET', '/requests?integration=sentry')
    assert.equal(requests.length, 1)
    const [{ params }] = requests
    assert.deepEqual([params.api_key, params.event, params.payload.length], ['***', 'issue', 20_010])
  })
})
