// The edge of the API, as clients of the public server know it: who is let in, what parameters may be, which methods and paths there are.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { send } from '../support/http.ts'
import { person } from '../support/world.ts'
import { ask, cases, type Fields, ok } from './support/cases.ts'

let daemon: TestDaemon
let owner: Caller
let amy: Caller
let gone: Caller
let hook: Caller

sharedDaemon({ flags: ['--memory', '--dialect', 'zulip'] }, async started => {
  daemon = started
  owner = daemon.owner
  amy = await person(daemon, 'amy')
  gone = await person(daemon, 'gone')
  await ok(owner, `DELETE /users/${gone.id}`)
  const made = await ok(owner, 'POST /bots', { full_name: 'Hook', short_name: 'hook', bot_type: 2 })
  hook = new Caller(daemon.url, 'hook-bot@example.com', made.api_key, made.user_id)
})

const refused = { status: 400, code: 'BAD_REQUEST' }
const missing = (var_name: string) => ({ status: 400, code: 'REQUEST_VARIABLE_MISSING', var_name })

describe('authentication', () => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  const rows: [title: string, header: string | undefined, status: number, code: string][] = [
    ['none', undefined, 401, 'UNAUTHORIZED'],
    ['another scheme', 'Bearer x', 400, 'BAD_REQUEST'],
    ['Digest', 'Digest username="amy"', 400, 'BAD_REQUEST'],
    ['Basic without credentials', 'Basic', 401, 'UNAUTHORIZED'],
    ['Basic that is no base64 of a pair', 'Basic foo', 401, 'UNAUTHORIZED'],
    ['an unknown account', basic(`nobody@example.com:${'x'.repeat(32)}`), 401, 'UNAUTHORIZED'],
    ['a wrong key', basic(`amy@example.com:${'x'.repeat(32)}`), 401, 'UNAUTHORIZED'],
    ['a short key', basic('amy@example.com:x'), 401, 'UNAUTHORIZED'],
    ['no key', basic('amy@example.com:'), 401, 'UNAUTHORIZED'],
  ]
  for (const [title, header, status, code] of rows)
    test(title, async () => {
      const headers = header === undefined ? {} : { Authorization: header }
      const reply = await send(`${daemon.url}/api/v1/users/me`, { headers })
      assert.deepEqual([reply.status, reply.body.code, reply.body.result], [status, code, 'error'], reply.text)
      assert.equal('www-authenticate' in reply.headers, status === 401)
    })

  cases([
    ['a deactivated account', () => gone, 'GET /users/me', {}, { status: 401, code: 'UNAUTHORIZED' }],
    ['an incoming webhook reads nothing', () => hook, 'GET /users/me', {}, { status: 401, code: 'UNAUTHORIZED' }],
    ['an incoming webhook registers no queue', () => hook, 'POST /register', {}, { status: 401, code: 'UNAUTHORIZED' }],
    [
      'an incoming webhook sends',
      () => hook,
      'POST /messages',
      () => ({ type: 'direct', to: [amy.id], content: 'x' }),
      {},
    ],
    [
      'the account in another case',
      () => new Caller(amy.url, 'AMY@Example.com', key(amy), amy.id),
      'GET /users/me',
      {},
      {},
    ],
  ])

  function key({ auth }: Caller): string {
    return auth!.slice(auth!.indexOf(':') + 1)
  }
})

describe('parameters', () => {
  const messages = { anchor: 'newest', num_before: 1, num_after: 0 }
  const flags = { messages: [1], op: 'add', flag: 'starred' }
  const rows: [title: string, line: string, fields: Fields, answer: Fields][] = [
    ['one that is missing', 'POST /typing', {}, missing('op')],
    ['the next one that is missing', 'POST /messages/flags', { messages: [] }, missing('op')],
    ['numbers that have a default', 'GET /messages', { anchor: 'newest' }, {}],
    ['a number that is a word', 'GET /messages', { ...messages, num_before: 'x' }, refused],
    ['a number that is a float', 'GET /messages', { ...messages, num_before: 1.5 }, refused],
    ['a number below 0', 'GET /messages', { ...messages, num_before: -1 }, refused],
    ['a number in quotes', 'GET /messages', { ...messages, num_before: '"1"' }, refused],
    ['a number that is a list', 'GET /messages', { ...messages, num_before: [1] }, refused],
    ['a number that is null', 'GET /messages', { ...messages, num_before: null }, refused],
    ['a boolean that is a word', 'GET /messages', { ...messages, apply_markdown: 'yes' }, refused],
    ['a boolean that is a number', 'GET /messages', { ...messages, apply_markdown: 1 }, refused],
    ['a boolean in capitals', 'GET /messages', { ...messages, apply_markdown: 'False' }, refused],
    ['a boolean in quotes', 'GET /messages', { ...messages, apply_markdown: '"true"' }, refused],
    ['a boolean', 'GET /messages', { ...messages, apply_markdown: false }, {}],
    ['a list that is no JSON', 'POST /messages/flags', { ...flags, messages: 'x' }, refused],
    ['a list that is a number', 'POST /messages/flags', { ...flags, messages: 1 }, refused],
    ['a list that is an object', 'POST /messages/flags', { ...flags, messages: {} }, refused],
    ['a list of texts where numbers are wanted', 'POST /messages/flags', { ...flags, messages: ['1'] }, refused],
    ['a list with a boolean', 'POST /messages/flags', { ...flags, messages: [true] }, refused],
    ['a list of lists', 'POST /messages/flags', { ...flags, messages: [[1]] }, refused],
    ['an empty list', 'POST /messages/flags', { ...flags, messages: [] }, { messages: [] }],
    ['a word of a set', 'POST /messages/flags', { ...flags, op: 'toggle', messages: [] }, refused],
    ['a narrow that is no list', 'GET /messages', { ...messages, narrow: '{}' }, refused],
    ['a narrow that is no JSON', 'GET /messages', { ...messages, narrow: '[' }, refused],
    ['objects with a wrong field', 'POST /users/me/subscriptions', { subscriptions: [{ title: 'x' }] }, refused],
    ['an object that is a list', 'PUT /bot_storage', { storage: [] }, refused],
    ['an object that is no JSON', 'PUT /bot_storage', { storage: 'x' }, refused],
    ['an unknown one', 'GET /users/me', { colour: 'red' }, { ignored_parameters_unsupported: ['colour'] }],
    ['two unknown ones, by name', 'GET /users/me', { b: 1, a: 2 }, { ignored_parameters_unsupported: ['a', 'b'] }],
    [
      'an unknown one with an error',
      'POST /typing',
      { colour: 'red' },
      { ...missing('op'), ignored_parameters_unsupported: (given: unknown) => given === undefined },
    ],
    [
      'the name of the client',
      'GET /users/me',
      { client: 'MyBot' },
      { ignored_parameters_unsupported: (given: unknown) => given === undefined },
    ],
  ]
  cases(rows.map(([title, line, fields, answer]) => [title, () => amy, line, fields, answer]))

  test('a body is read for GET, and a query string for POST', async () => {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const query = await amy.raw('POST', '/api/v1/messages/render', { query: 'content=*hi*' })
    assert.equal(query.body.rendered, '<p><em>hi</em></p>')
    const body = await amy.raw('POST', '/api/v1/messages/render', {
      headers: form,
      body: 'content=x',
      query: 'content=y',
    })
    assert.equal(body.body.rendered, '<p>x</p>')
  })
})

describe('the client of a message', () => {
  for (const [agent, name] of [
    [undefined, 'Unspecified'],
    ['curl/8.5.0', 'curl'],
    ['MyBot (Debian GNU/Linux; 12)', 'MyBot'],
    ['ZulipPython/0.9.0 (Debian GNU/Linux; 12)', 'ZulipPython'],
    ['My Bot/1.0', 'My Bot'],
    ['Mozilla/5.0 (X11; Linux x86_64)', 'Mozilla'],
    ['python 3', 'python'],
    ['a'.repeat(100), 'a'.repeat(30)],
  ] as const)
    test(`${agent?.slice(0, 40) ?? 'no User-Agent'} is ${name.slice(0, 40)}`, async () => {
      const headers = {
        ...(agent !== undefined && { 'User-Agent': agent }),
        'Content-Type': 'application/x-www-form-urlencoded',
      }
      const body = `type=direct&to=[${amy.id}]&content=x`
      const { id } = (await amy.raw('POST', '/api/v1/messages', { headers, body })).body
      assert.equal((await ok(amy, `GET /messages/${id}`)).message.client, name)
    })
})

describe('methods and paths', () => {
  const rows: [line: string, status: number, allow: string | undefined][] = [
    ['PUT /messages', 405, 'GET, HEAD, POST'],
    ['POST /server_settings', 405, 'GET, HEAD'],
    ['GET /typing', 405, 'POST'],
    ['GET /fetch_api_key', 405, 'POST'],
    ['PATCH /users/me', 405, 'DELETE, GET, HEAD'],
    ['OPTIONS /messages', 204, 'GET, HEAD, POST'],
    ['OPTIONS /streams/15', 204, 'DELETE, GET, HEAD, PATCH'],
    ['OPTIONS /users', 204, 'GET, HEAD, POST'],
    ['GET /nothing', 404, undefined],
    ['GET /messages/x', 404, undefined],
    ['DELETE /users/x/y', 404, undefined],
    ['POST /remotes/push/register', 404, undefined],
    ['POST /remotes/server/register', 404, undefined],
  ]
  for (const [line, status, allow] of rows)
    test(`${line} is ${status}`, async () => {
      const [method, path] = line.split(' ') as [string, string]
      const reply = await amy.raw(method, `/api/v1${path}`)
      assert.deepEqual([reply.status, reply.headers.allow], [status, allow], reply.text)
      if (status === 405) assert.deepEqual(reply.body.allowed_methods, allow!.split(', '))
      if (status !== 204) assert.equal(reply.body.result, 'error')
    })
})

describe('every documented operation is answered', () => {
  const operations = readFileSync(join(import.meta.dirname, '../laws/public-operations.txt'), 'utf8')
    .trim()
    .split('\n')
  for (const line of operations.filter(one => !one.includes('outgoing-webhook')))
    test(line, async () => {
      const [method, pattern] = line.split(' ') as [string, string]
      // Without an account nothing happens, and a path that does not exist is told apart all the same.
      const { status, body } = await daemon.anonymous.raw(method, `/api/v1${pattern.replace(/\{\w+\}/g, '999999')}`)
      assert.ok(![404, 405, 500].includes(status), JSON.stringify(body))
    })
})

describe('GET /server_settings', () => {
  const has = (type: string) => (value: unknown) => typeof value === type
  cases([
    [
      'names the release and the level, and needs no account',
      () => daemon.anonymous,
      'GET /server_settings',
      {},
      {
        zulip_version: '11.0-dev-natter',
        zulip_merge_base: '11.0-dev-natter',
        zulip_feature_level: 417,
        svc_version: (given: unknown) => given === undefined,
        push_notifications_enabled: false,
        is_incompatible: false,
        email_auth_enabled: true,
        require_email_format_usernames: true,
        realm_url: () => true,
        realm_uri: has('string'),
        realm_icon: has('string'),
        realm_description: has('string'),
        realm_web_public_access_enabled: false,
        external_authentication_methods: [],
        authentication_methods: { password: true, email: true, ldap: false },
      },
    ],
  ])
})

describe('push devices and calls', () => {
  const device = { token_kind: 'fcm', push_account_id: 1, push_public_key: 'k', bouncer_public_key: 'k' }
  const rows: [title: string, line: string, fields: Fields, answer: Fields][] = [
    ['an Apple token', 'POST /users/me/apns_device_token', { token: 'abcd', appid: 'org.example.chat' }, {}],
    ['an Apple token again', 'POST /users/me/apns_device_token', { token: 'abcd', appid: 'org.example.chat' }, {}],
    ['an Apple token without an app', 'POST /users/me/apns_device_token', { token: 'abcd' }, missing('appid')],
    [
      'an Apple token of a strange app',
      'POST /users/me/apns_device_token',
      { token: 'abcd', appid: "'; tables" },
      refused,
    ],
    [
      'an Apple token that is not hexadecimal',
      'POST /users/me/apns_device_token',
      { token: 'xyz', appid: 'a' },
      refused,
    ],
    ['an empty Apple token', 'POST /users/me/apns_device_token', { token: '', appid: 'a' }, refused],
    [
      'an Apple token that is too long',
      'POST /users/me/apns_device_token',
      { token: 'ab'.repeat(3000), appid: 'a' },
      refused,
    ],
    ['an Android token', 'POST /users/me/android_gcm_reg_id', { token: 'device' }, {}],
    ['an Android token that is too long', 'POST /users/me/android_gcm_reg_id', { token: 'a'.repeat(5000) }, refused],
    ['an empty Android token', 'POST /users/me/android_gcm_reg_id', { token: '' }, refused],
    ['no Android token', 'POST /users/me/android_gcm_reg_id', {}, missing('token')],
    ['a test for one device', 'POST /mobile_push/test_notification', { token: 'device' }, {}],
    ['a test for all devices', 'POST /mobile_push/test_notification', {}, {}],
    [
      'a test for an unknown device',
      'POST /mobile_push/test_notification',
      { token: 'other' },
      { status: 400, code: 'INVALID_PUSH_DEVICE_TOKEN' },
    ],
    ['removing an Apple token in another case', 'DELETE /users/me/apns_device_token', { token: 'ABCD' }, {}],
    ['removing it twice', 'DELETE /users/me/apns_device_token', { token: 'ABCD' }, refused],
    ['removing an Apple token that is none', 'DELETE /users/me/apns_device_token', { token: 'xyz' }, refused],
    ['removing an Android token', 'DELETE /users/me/android_gcm_reg_id', { token: 'device' }, {}],
    ['removing an unknown Android token', 'DELETE /users/me/android_gcm_reg_id', { token: 'device' }, refused],
    [
      'a device for encrypted notifications',
      'POST /mobile_push/register',
      { ...device, encrypted_push_registration: 'x' },
      {},
    ],
    ['the same device again', 'POST /mobile_push/register', { ...device, encrypted_push_registration: 'x' }, {}],
    ['a device without its registration', 'POST /mobile_push/register', device, missing('encrypted_push_registration')],
    [
      'a device of a strange kind',
      'POST /mobile_push/register',
      { ...device, token_kind: 'x', encrypted_push_registration: 'x' },
      refused,
    ],
    [
      'what register says of the device',
      'POST /register',
      { fetch_event_types: ['push_device'] },
      { push_devices: { 1: { status: 'pending', error_code: null } } },
    ],
    [
      'a video call',
      'GET /calls/bigbluebutton/create',
      { meeting_name: 'Tea' },
      { url: (url: string) => url.startsWith('/calls/bigbluebutton/join?bigbluebutton=') },
    ],
    ['a video call without a name', 'GET /calls/bigbluebutton/create', {}, missing('meeting_name')],
    ['a Zoom call', 'POST /calls/zoom/create', {}, refused],
    ['a summary', 'GET /messages/summary', {}, refused],
    ['a web token', 'POST /jwt/fetch_api_key', {}, refused],
    ['/ping', 'POST /zcommand', { command: '/ping' }, { msg: '' }],
    ['/dark', 'POST /zcommand', { command: '/dark' }, { msg: (msg: string) => msg.includes('/light') }],
    ['/dark again', 'POST /zcommand', { command: '/dark' }, { msg: (msg: string) => msg.includes('still') }],
    ['/light', 'POST /zcommand', { command: '/light' }, { msg: (msg: string) => msg.includes('/dark') }],
    [
      '/fluid-width',
      'POST /zcommand',
      { command: '/fluid-width' },
      { msg: (msg: string) => msg.includes('/fixed-width') },
    ],
    [
      '/fixed-width',
      'POST /zcommand',
      { command: '/fixed-width' },
      { msg: (msg: string) => msg.includes('/fluid-width') },
    ],
    ['a command without a slash', 'POST /zcommand', { command: 'dark' }, refused],
    ['an unknown command', 'POST /zcommand', { command: '/dance' }, refused],
    ['no command', 'POST /zcommand', {}, missing('command')],
  ]
  cases(rows.map(([title, line, fields, answer]) => [title, () => amy, line, fields, answer]))

  test('bots have no devices', async () => {
    const made = await ok(owner, 'POST /bots', { full_name: 'Helper', short_name: 'helper' })
    const bot = new Caller(daemon.url, 'helper-bot@example.com', made.api_key, made.user_id)
    for (const line of ['POST /users/me/android_gcm_reg_id', 'DELETE /users/me/android_gcm_reg_id'])
      assert.equal((await ask(bot, line, { token: 'x' })).status, 400)
  })
})
