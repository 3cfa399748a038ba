// Settings of the organization, its linkifiers, playgrounds, domains and exports, as the public server answers.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { fetched, listen, person } from '../support/world.ts'
import { type Case, cases, ok } from './support/cases.ts'

let owner: Caller
let admin: Caller
let amy: Caller
let closed = 0
let open = 0

const asOwner = () => owner
const asAdmin = () => admin
const asAmy = () => amy
const bad = { status: 400, code: 'BAD_REQUEST' }
const denied = { status: 400, code: 'UNAUTHORIZED_PRINCIPAL' }
const invalid = { status: 400, code: 'REQUEST_VARIABLE_INVALID' }
const missing = (var_name: string) => ({ status: 400, code: 'REQUEST_VARIABLE_MISSING', var_name })
const errorsIn = (field: string) => ({ ...bad, errors: (errors: object) => Object.keys(errors).join() === field })

const update = 'PATCH /realm'
const settings: readonly Case[] = [
  ['members cannot change anything', asAmy, update, { name: 'x' }, denied],
  ['a name of 41 characters is refused', asOwner, update, { name: 'x'.repeat(41) }, bad],
  ['a name of 40 characters is taken', asOwner, update, { name: 'x'.repeat(40) }, { name: 'updated' }],
  [
    'the same name is not echoed',
    asOwner,
    update,
    { name: 'x'.repeat(40) },
    { name: (value: unknown) => value === undefined },
  ],
  ['a description of 1,001 characters is refused', asOwner, update, { description: 'x'.repeat(1001) }, bad],
  ['an unknown language is refused', asOwner, update, { default_language: 'invalid_lang' }, bad],
  ['an unknown type of organization is refused', asOwner, update, { org_type: 1 }, bad],
  ['a type is echoed', asOwner, update, { org_type: 10 }, { org_type: 10 }],
  ['even if it is the same', asOwner, update, { org_type: 10 }, { org_type: 10 }],
  ['an unknown provider of video calls is refused', asOwner, update, { video_chat_provider: 10 }, bad],
  ['an unknown rating is refused', asOwner, update, { giphy_rating: 10 }, bad],
  ['a negative waiting period is refused', asOwner, update, { waiting_period_threshold: -10 }, bad],
  ['an unknown day is refused', asOwner, update, { digest_weekday: 10 }, bad],
  ['an unknown visibility is refused', asOwner, update, { message_edit_history_visibility_policy: 'invalid' }, bad],
  ['an unknown topics policy is refused', asOwner, update, { topics_policy: 'invalid' }, bad],
  ...[
    'message_content_edit_limit_seconds',
    'message_content_delete_limit_seconds',
    'move_messages_within_stream_limit_seconds',
    'move_messages_between_streams_limit_seconds',
  ].flatMap((name): Case[] => [
    [`${name} cannot be 0`, asOwner, update, { [name]: 0 }, invalid],
    [`${name} cannot be negative`, asOwner, update, { [name]: -10 }, invalid],
    [`${name} takes no other word`, asOwner, update, { [name]: 'invalid' }, invalid],
    [`${name} can be unlimited`, asOwner, update, { [name]: 'unlimited' }, { [name]: null }],
    [`${name} takes a number`, asOwner, update, { [name]: 1000 }, { [name]: 1000 }],
  ]),
  ['administrators cannot set a retention', asAdmin, update, { message_retention_days: 10 }, denied],
  ['a retention of 0 is refused', asOwner, update, { message_retention_days: 0 }, invalid],
  ['a retention of -1 is refused', asOwner, update, { message_retention_days: -1 }, invalid],
  ['a word that is none is refused', asOwner, update, { message_retention_days: 'invalid' }, invalid],
  ['a retention is taken', asOwner, update, { message_retention_days: 10 }, { message_retention_days: 10 }],
  ['and lifted', asOwner, update, { message_retention_days: 'unlimited' }, {}],
  ...['invite_required', 'emails_restricted_to_domains', 'disallow_disposable_email_addresses'].map(
    (name): Case => [`administrators cannot change ${name}`, asAdmin, update, { [name]: false }, denied],
  ),
  ['administrators cannot change the waiting period', asAdmin, update, { waiting_period_threshold: 3 }, denied],
  ...[
    'create_multiuse_invite_group',
    'can_create_groups',
    'can_invite_users_group',
    'can_manage_all_groups',
    'can_manage_billing_group',
  ].map((name): Case => [`administrators cannot change ${name}`, asAdmin, update, { [name]: { new: 3 } }, denied]),
  [
    'administrators cannot change how people log in',
    asAdmin,
    update,
    { authentication_methods: { Email: true } },
    denied,
  ],
  ['one way to log in must be enabled', asOwner, update, { authentication_methods: { Email: false } }, bad],
  ['an unknown way is refused', asOwner, update, { authentication_methods: { NoSuch: true } }, bad],
  ['the address of a demo organization is for owners', asAdmin, update, { string_id: 'x' }, denied],
  ['and there is none here', asOwner, update, { string_id: 'x' }, bad],
  ['a meeting server must be a URL', asOwner, update, { jitsi_server_url: '"invalidURL"' }, bad],
  ['not an empty one', asOwner, update, { jitsi_server_url: '""' }, bad],
  ['not a long one', asOwner, update, { jitsi_server_url: `"https://jitsi.example.com/${'x'.repeat(180)}"` }, bad],
  [
    'a URL is taken',
    asOwner,
    update,
    { jitsi_server_url: '"https://jitsi.example.com"' },
    { jitsi_server_url: 'updated' },
  ],
  ['default is a word', asOwner, update, { jitsi_server_url: '"default"' }, { jitsi_server_url: null }],
  ...[
    'new_stream_announcements_stream_id',
    'signup_announcements_stream_id',
    'zulip_update_announcements_stream_id',
  ].flatMap((name): Case[] => [
    [`${name} must be a channel`, asAdmin, update, { [name.replace('zulip', 'svc')]: 1234 }, bad],
    [
      `${name} can be a private channel of others`,
      asAdmin,
      update,
      () => ({ [name.replace('zulip', 'svc')]: closed }),
      {},
    ],
    [`${name} can be none`, asAdmin, update, { [name.replace('zulip', 'svc')]: -1 }, {}],
  ]),
  [
    'requests for moderation cannot go to a public channel',
    asAdmin,
    update,
    () => ({ moderation_request_channel_id: open }),
    bad,
  ],
  ['but to a private one', asAdmin, update, () => ({ moderation_request_channel_id: closed }), {}],
  ['data is kept for 14 days at least', asOwner, 'POST /realm/deactivate', { deletion_delay_days: 12 }, bad],
  ['administrators cannot deactivate it', asAdmin, 'POST /realm/deactivate', {}, denied],
]

const link = 'POST /realm/filters'
const template = 'https://example.com/{id}'
const linkifiers: readonly Case[] = [
  ['members cannot add one, whatever they send', asAmy, link, {}, denied],
  ['a pattern is needed', asOwner, link, { url_template: template }, missing('pattern')],
  ['a template is needed', asOwner, link, { pattern: 'x' }, missing('url_template')],
  [
    'a blank pattern is an error of the field',
    asOwner,
    link,
    { pattern: '', url_template: template },
    errorsIn('pattern'),
  ],
  [
    'a pattern that is none is an error of all',
    asOwner,
    link,
    { pattern: '(foo', url_template: template },
    errorsIn('__all__'),
  ],
  [
    'a broken template is an error of the field',
    asOwner,
    link,
    { pattern: '#(?P<id>[0-9]+)', url_template: 'https://x.example/{id' },
    errorsIn('url_template'),
  ],
  [
    'a group that the template lacks is an error of all',
    asOwner,
    link,
    { pattern: '#(?P<id>[0-9]+)', url_template: 'https://x.example/' },
    errorsIn('__all__'),
  ],
  [
    'a variable that the pattern lacks too',
    asOwner,
    link,
    { pattern: 'abc', url_template: template },
    errorsIn('__all__'),
  ],
  ['one is added', asOwner, link, { pattern: '#(?P<id>[0-9]+)', url_template: template }, { id: 1 }],
  ['not twice', asOwner, link, { pattern: '#(?P<id>[0-9]+)', url_template: template }, errorsIn('__all__')],
  ['everyone lists them', asAmy, 'GET /realm/linkifiers', {}, { linkifiers: [{ id: 1, url_template: template }] }],
  [
    'an unknown one cannot be changed',
    asOwner,
    'PATCH /realm/filters/99',
    { pattern: 'x', url_template: 'https://x.example' },
    bad,
  ],
  ['nor deleted', asOwner, 'DELETE /realm/filters/99', {}, bad],
  ['members cannot delete one', asAmy, 'DELETE /realm/filters/1', {}, denied],
  ['an order without all is refused', asOwner, 'PATCH /realm/linkifiers', { ordered_linkifier_ids: [] }, bad],
  ['an order with one twice is refused', asOwner, 'PATCH /realm/linkifiers', { ordered_linkifier_ids: [1, 1] }, bad],
  ['one is deleted', asOwner, 'DELETE /realm/filters/1', {}, {}],
]

const play = 'POST /realm/playgrounds'
const site = { name: 'Python', pygments_language: 'Python', url_template: 'https://python.example.com{code}' }
const playgrounds: readonly Case[] = [
  ['members cannot add one, whatever they send', asAmy, play, {}, denied],
  ['members cannot remove one', asAmy, 'DELETE /realm/playgrounds/1', {}, denied],
  ['a name is needed', asOwner, play, { ...site, name: undefined }, missing('name')],
  ['a blank name is an error of the field', asOwner, play, { ...site, name: ' ' }, errorsIn('name')],
  ['other characters in a language are refused', asOwner, play, { ...site, pygments_language: 'a$b$c' }, bad],
  [
    'a blank language is an error of the field',
    asOwner,
    play,
    { ...site, pygments_language: '' },
    errorsIn('pygments_language'),
  ],
  ['a language of 41 characters is refused', asOwner, play, { ...site, pygments_language: 'x'.repeat(41) }, bad],
  ['one of 40 characters is taken', asOwner, play, { ...site, pygments_language: 'x'.repeat(40) }, {}],
  [
    'a broken template is an error of the field',
    asOwner,
    play,
    { ...site, url_template: 'https://x.example?a={code' },
    errorsIn('url_template'),
  ],
  [
    'a template without code is an error of all',
    asOwner,
    play,
    { ...site, url_template: 'https://x.example{?test}' },
    errorsIn('__all__'),
  ],
  [
    'a template with more is an error of all',
    asOwner,
    play,
    { ...site, url_template: 'https://x.example{?test,code}' },
    errorsIn('__all__'),
  ],
  ['one is added', asOwner, play, site, {}],
  ['not twice', asOwner, play, site, errorsIn('__all__')],
  ['but under another name', asOwner, play, { ...site, name: 'Python 2' }, {}],
  ['an unknown one cannot be removed', asOwner, 'DELETE /realm/playgrounds/99', {}, bad],
]

const domains: readonly Case[] = [
  ['administrators cannot add one, whatever they send', asAdmin, 'POST /realm/domains', {}, denied],
  ['administrators cannot change one', asAdmin, 'PATCH /realm/domains/acme.com', {}, denied],
  ['administrators cannot remove one', asAdmin, 'DELETE /realm/domains/acme.com', {}, denied],
  ['an empty domain is refused', asOwner, 'POST /realm/domains', { domain: '', allow_subdomains: true }, bad],
  [
    'a domain without a dot is refused',
    asOwner,
    'POST /realm/domains',
    { domain: 'acme', allow_subdomains: true },
    bad,
  ],
  [
    'a domain is added in lower case',
    asOwner,
    'POST /realm/domains',
    { domain: ' Acme.COM ', allow_subdomains: true },
    { new_domain: [1, 'acme.com'] },
  ],
  ['not twice', asOwner, 'POST /realm/domains', { domain: 'acme.com', allow_subdomains: true }, bad],
  [
    'everyone lists them',
    asAmy,
    'GET /realm/domains',
    {},
    { domains: [{ domain: 'acme.com', allow_subdomains: true }] },
  ],
  ['one is changed', asOwner, 'PATCH /realm/domains/acme.com', { allow_subdomains: false }, {}],
  ['an unknown one is refused', asOwner, 'PATCH /realm/domains/none.com', { allow_subdomains: false }, bad],
  ['one is removed', asOwner, 'DELETE /realm/domains/acme.com', {}, {}],
  ['an unknown one cannot be removed', asOwner, 'DELETE /realm/domains/acme.com', {}, bad],
]

const forAdministrators: readonly Case[] = [
  ...[
    'POST /export/realm',
    'GET /export/realm',
    'DELETE /export/realm/1',
    'GET /export/realm/consents',
    'PATCH /realm/linkifiers',
    'POST /realm/icon',
    'DELETE /realm/icon',
    'POST /realm/logo',
    'DELETE /realm/logo',
    'PATCH /realm/user_settings_defaults',
  ].map((line): Case => [`members cannot call ${line}`, asAmy, line, {}, denied]),
  ['an unknown export cannot be deleted', asOwner, 'DELETE /export/realm/0', {}, bad],
  ['an unknown kind of export is refused', asOwner, 'POST /export/realm', { export_type: 3 }, bad],
  ['private data needs an owner who consents', asOwner, 'POST /export/realm', { export_type: 2 }, bad],
  [
    'an owner whom administrators can write to hides the address',
    asOwner,
    'PATCH /settings',
    { email_address_visibility: 4 },
    {},
  ],
  ['public data needs an owner whose address is visible', asOwner, 'POST /export/realm', {}, bad],
  ['which it is again', asOwner, 'PATCH /settings', { email_address_visibility: 3 }, {}],
  ['public data is exported', asOwner, 'POST /export/realm', {}, { id: 1 }],
  [
    'an emoji that does not exist is not found',
    asOwner,
    'DELETE /realm/emoji/none',
    {},
    { status: 404, code: 'BAD_REQUEST' },
  ],
]

function effects(): void {
  test('each setting of the organization has an event of its own', async () => {
    const heard = await listen(amy, ['realm'])
    await ok(owner, update, {
      description: 'new',
      allow_message_editing: false,
      can_create_bots_group: { new: 3 },
      can_resolve_topics_group: { new: 3 },
    })
    assert.deepEqual(
      (await heard()).map(({ op, property, data }) => [op, data ? Object.keys(data).join() : property]),
      [
        ['update', 'description'],
        ['update_dict', 'allow_message_editing'],
        ['update_dict', 'can_create_bots_group'],
        ['update_dict', 'can_resolve_topics_group'],
      ],
    )
  })

  test('ways to log in are objects in the event and as they were sent in the reply', async () => {
    const heard = await listen(amy, ['realm'])
    const given = { Email: true, Dev: false }
    const reply = await ok(owner, update, { authentication_methods: given })
    assert.deepEqual(reply.authentication_methods, given)
    const [{ data } = {} as any] = await heard()
    assert.deepEqual(data.authentication_methods.Email, { enabled: true, available: true })
    const { realm_authentication_methods } = await fetched(amy, ['realm'])
    assert.deepEqual(data.authentication_methods, realm_authentication_methods)
  })

  test('a playground of the default language takes that language with it', async () => {
    const { id } = await ok(owner, play, { ...site, name: 'Rust', pygments_language: 'Rust' })
    await ok(owner, update, { default_code_block_language: 'Rust' })
    const heard = await listen(amy, ['realm', 'realm_playgrounds'])
    await ok(owner, `DELETE /realm/playgrounds/${id}`)
    assert.deepEqual(
      (await heard()).map(({ type, property, value }) => [type, property, value]),
      [
        ['realm', 'default_code_block_language', ''],
        ['realm_playgrounds', undefined, undefined],
      ],
    )
  })

  test('three bots belong to the server', async () => {
    const { cross_realm_bots } = await fetched(amy, ['realm_user'])
    assert.deepEqual(
      cross_realm_bots.map((bot: Record<string, unknown>) => [bot.full_name, bot.is_system_bot, bot.is_bot]),
      ['Notification Bot', 'Welcome Bot', 'Email Gateway'].map(name => [name, true, true]),
    )
  })
}

describe('the organization', () => {
  sharedDaemon({ flags: ['--memory'] }, async daemon => {
    owner = daemon.owner
    admin = await person(daemon, 'admin', { role: 200 })
    amy = await person(daemon, 'amy')
    open = (await ok(amy, 'POST /channels/create', { name: 'open', subscribers: [] })).id
    closed = (await ok(amy, 'POST /channels/create', { name: 'closed', subscribers: [amy.id], invite_only: true })).id
  })
  describe('PATCH /realm', () => cases(settings))
  describe('linkifiers', () => cases(linkifiers))
  describe('playgrounds', () => cases(playgrounds))
  describe('domains', () => cases(domains))
  describe('what administrators alone may call', () => cases(forAdministrators))
  describe('events and effects', effects)
})
