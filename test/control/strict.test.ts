// --strict: what clients send that public servers refuse, ignore or have deprecated, in the log of calls and at the end of a run.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { messages } from '../../daemon/api/messages/messages.ts'
import { type ClientFinding, type Finding, findingsText } from '../../daemon/local/findings.ts'
import { startNatter } from '../../daemon/testing/index.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { newShell } from '../support/cli.ts'
import { Control } from '../support/control.ts'
import { launch, sharedDaemon } from '../support/daemon.ts'
import { formOf, send } from '../support/http.ts'

/** Findings without their sentences, as `kind parameter`. */
function brief(findings: readonly Finding[]): string[] {
  return findings.map(({ kind, parameter }) => `${kind} ${parameter}`)
}

describe('natterd --strict', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev', '--strict'] })

  /** What is found in a call with these fields, and the status of its answer. */
  async function found(method: string, path: string, fields: Record<string, string>, agent = 'test') {
    const { url, owner } = daemon()
    const form = formOf(method, new Map(Object.entries(fields)))
    const headers = { ...form.headers, 'User-Agent': agent }
    const reply = await send(`${url}/api/v1${path}`, { method, auth: owner.auth, ...form, headers })
    const { requests } = await new Control(daemon()).call('GET', '/requests?limit=1')
    return { status: reply.status, findings: requests[0].strict as Finding[], id: requests[0].id as number }
  }

  test('finds nothing in a call that a public server answers', async () => {
    const { status, findings } = await found('POST', '/messages', {
      type: 'channel',
      to: '"general"',
      topic: 'strict',
      content: 'hello',
    })
    assert.deepEqual([status, findings], [200, []])
  })

  const general = { type: 'stream', to: 'general', topic: 'strict', content: 'hello' }
  const cases: [about: string, method: string, path: string, fields: Record<string, string>, findings: Finding[]][] = [
    [
      'a deprecated value',
      'POST',
      '/messages',
      { type: 'private', to: '["amy@example.com"]', content: 'hello' },
      [{ kind: 'deprecated', parameter: 'type', says: 'type: private is deprecated; use direct' }],
    ],
    [
      'an older spelling',
      'POST',
      '/messages',
      { type: 'stream', to: 'general', subject: 'strict', content: 'hello' },
      [{ kind: 'deprecated', parameter: 'subject', says: 'subject is deprecated; use topic' }],
    ],
    [
      'an unknown parameter',
      'POST',
      '/messages',
      { ...general, contents: 'hello' },
      [{ kind: 'ignored', parameter: 'contents', says: '"contents" changes nothing. Did you mean content?' }],
    ],
    [
      'a word in quotes',
      'POST',
      '/messages',
      { ...general, type: '"stream"' },
      [{ kind: 'refused', parameter: 'type', says: 'type must not be in quotes for public servers' }],
    ],
    [
      'a deprecated parameter',
      'GET',
      '/messages',
      { use_first_unread_anchor: 'true', num_before: '0', num_after: '0' },
      [
        {
          kind: 'deprecated',
          parameter: 'use_first_unread_anchor',
          says: 'use_first_unread_anchor is deprecated; use anchor=first_unread',
        },
      ],
    ],
    [
      'deprecated terms of a narrow, but not the words of a search',
      'GET',
      '/messages',
      {
        anchor: 'newest',
        num_before: '1',
        num_after: '0',
        narrow: '[{"operator":"is","operand":"private"},["search","pm-with"]]',
      },
      [{ kind: 'deprecated', parameter: 'narrow', says: 'narrow: is:private is deprecated; use is:dm' }],
    ],
    [
      'a parameter that public servers require',
      'POST',
      '/messages/flags/narrow',
      { anchor: 'newest', num_before: '0', num_after: '0', op: 'add', flag: 'starred' },
      [{ kind: 'refused', parameter: 'narrow', says: 'narrow is missing; public servers require it' }],
    ],
    [
      'a word that must be JSON',
      'POST',
      '/users/me/subscriptions',
      { subscriptions: '[{"name":"strict"}]', topics_policy: 'inherit' },
      [
        {
          kind: 'refused',
          parameter: 'topics_policy',
          says: 'topics_policy must be JSON for public servers, as in "inherit"',
        },
      ],
    ],
    [
      'a deprecated property in a list',
      'POST',
      '/users/me/subscriptions/properties',
      { subscription_data: '[{"stream_id":1,"property":"in_home_view","value":true}]' },
      [
        {
          kind: 'deprecated',
          parameter: 'subscription_data',
          says: 'subscription_data: in_home_view is deprecated; use is_muted, with the opposite value',
        },
      ],
    ],
    [
      'deprecated types of events',
      'POST',
      '/register',
      { event_types: '["message","update_display_settings"]' },
      [
        {
          kind: 'deprecated',
          parameter: 'event_types',
          says: 'event_types: update_display_settings is deprecated; use user_settings',
        },
      ],
    ],
    [
      'a deprecated endpoint',
      'POST',
      '/mark_all_as_read',
      {},
      [
        {
          kind: 'deprecated',
          parameter: null,
          says: 'POST /mark_all_as_read is deprecated; use POST /messages/flags/narrow',
        },
      ],
    ],
    [
      'an older path',
      'PATCH',
      '/settings/display',
      { default_language: 'de' },
      [{ kind: 'deprecated', parameter: null, says: 'PATCH /settings/display is deprecated; use /settings' }],
    ],
    [
      'an endpoint that public servers do not have',
      'GET',
      '/settings',
      {},
      [{ kind: 'refused', parameter: null, says: 'public servers do not have GET /settings' }],
    ],
  ]
  for (const [about, method, path, fields, expected] of cases)
    test(`finds ${about}, and answers the call`, async () => {
      const { status, findings } = await found(method, path, fields)
      assert.deepEqual([status, findings], [200, expected])
    })

  test('finds parameters in the body of a GET', async () => {
    const { url, owner } = daemon()
    const body = 'anchor=newest&num_before=1&num_after=0'
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const reply = await send(`${url}/api/v1/messages`, { method: 'GET', auth: owner.auth, headers, body })
    assert.equal(reply.status, 200)
    const { requests } = await new Control(daemon()).call('GET', '/requests?limit=1')
    assert.deepEqual(brief(requests[0].strict), ['refused anchor', 'refused num_before', 'refused num_after'])
  })

  test('leaves a call that Natter refuses to its answer', async () => {
    const { status, findings } = await found('POST', '/messages', { type: 'stream', wrong: '1' })
    assert.deepEqual([status, findings], [400, []])
  })

  test('lists findings by client, with the number of calls; a reset keeps them', async () => {
    const fields = { type: 'private', to: '["bob@example.com"]', content: 'hello' }
    const first = await found('POST', '/messages', fields, 'OldBot/1.0')
    await new Control(daemon()).call('POST', '/reset', {})
    const last = await found('POST', '/messages', fields, 'OldBot/1.0')
    const reply = await new Control(daemon()).call('GET', '/findings')
    const ofBot = (reply.findings as ClientFinding[]).filter(({ client }) => client === 'OldBot/1.0')
    assert.deepEqual(ofBot, [
      {
        client: 'OldBot/1.0',
        user: daemon().owner.email,
        endpoint: 'send-message',
        kind: 'deprecated',
        parameter: 'type',
        says: 'type: private is deprecated; use direct',
        calls: 2,
        first_call: first.id,
        last_call: last.id,
        space: null,
      },
    ])
  })

  test('lists the findings of a space there and in the daemon, even after the space was deleted', async () => {
    const control = new Control(daemon())
    const { url, control_token, owner } = await control.call('POST', '/spaces', { name: 'old' })
    const inSpace = new Control({ url, ready: { control_token } })
    const empty = await inSpace.call('GET', '/findings')
    assert.deepEqual([empty.findings, empty.left_out], [[], 0])
    const headers = { 'User-Agent': 'SpaceBot/1.0' }
    const auth = `${owner.email}:${owner.api_key}`
    await send(`${url}/api/v1/mark_all_as_read`, { method: 'POST', auth, headers })
    const [own] = (await inSpace.call('GET', '/findings')).findings as ClientFinding[]
    await control.call('DELETE', '/spaces/old')
    const all = (await control.call('GET', '/findings')).findings as ClientFinding[]
    assert.equal(own?.space, null)
    assert.deepEqual(
      all.filter(({ client }) => client === 'SpaceBot/1.0'),
      [{ ...own, space: 'old' }],
    )
    assert.match(findingsText([{ ...own!, space: 'old' }]), /\(call \d+ in space old\)/)
  })

  test('prints them when the daemon stops, without what a terminal would obey', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-strict-'))
    const stopped = await launch(folder, { flags: ['--memory', '--strict'] })
    const { url, owner } = stopped
    const headers = { 'User-Agent': 'Rude\u009b31m' }
    await send(`${url}/api/v1/mark_all_as_read`, { method: 'POST', auth: owner.auth, headers })
    await send(`${url}/api/v1/users/me?${new URLSearchParams({ 'a\nb\u202e': '1' })}`, { auth: owner.auth })
    await stopped.stop()
    rmSync(folder, { recursive: true, force: true })
    assert.match(stopped.stderr, /strict: 2 findings\./)
    assert.match(stopped.stderr, /Rude\\x9b31m as .*@/)
    assert.match(stopped.stderr, /"a\\nb\\x202e/)
    assert.match(stopped.stderr, /deprecated {2}mark-all-as-read {2}POST \/mark_all_as_read is deprecated/)
  })
})

describe('GET /findings', () => {
  const daemon = sharedDaemon({ flags: ['--memory'] })

  test('says what to do if the daemon does not check calls', async () => {
    const reply = await new Control(daemon()).try('GET', '/findings')
    assert.deepEqual([reply.status, reply.body.msg], [400, 'This daemon does not check calls. Start it with --strict.'])
    await daemon().owner.call(messages.list, { anchor: 'newest', num_before: 1, num_after: 0 })
    const { requests } = await new Control(daemon()).call('GET', '/requests?limit=1')
    assert.equal('strict' in requests[0], false)
  })
})

describe('natter exec --strict', () => {
  const natter = `${JSON.stringify(process.execPath)} ${JSON.stringify(join(import.meta.dirname, '../../bin/natter'))}`
  const send = `${natter} api POST /messages -f type=private -f 'to=["amy@example.com"]' -f content=hello`

  test('lists findings on stderr and exits as the command does; with --strict-fails, with 8', async t => {
    const shell = newShell(t)
    const reported = await shell.natter(['exec', '--preset', 'dev', '--strict', '--', 'sh', '-c', `${send}; exit 3`])
    assert.equal(reported.code, 3)
    assert.match(reported.stderr, /deprecated {2}send-message {2}type: private is deprecated; use direct \(call \d+\)/)
    const failed = await shell.natter(['exec', '--preset', 'dev', '--strict-fails', '--', 'sh', '-c', send])
    assert.equal(failed.code, 8)
    const clean = await shell.natter(['exec', '--strict-fails', '--', 'true'])
    assert.deepEqual([clean.code, clean.stderr], [0, ''])
  })
})

describe('startNatter({ strict: true })', () => {
  test('has findings of its own and of its spaces, and refuses to answer without the option', async () => {
    await using natter = await startNatter({ strict: true })
    assert.deepEqual(natter.findings(), [])
    await natter.owner.messageFlags.markAll()
    assert.deepEqual(brief(natter.findings()), ['deprecated null'])
    const space = await natter.space({ strict: false })
    assert.throws(() => space.findings(), /start it with strict: true/)
  })
})

describe('The catalogue', () => {
  test('names a parameter or an endpoint that exists as what to use instead', async () => {
    const all = await catalogueEndpoints()
    const paths = new Set(all.map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`))
    for (const { endpoint } of all) {
      const [, named] = /^use (\S+ \S+)$/.exec(endpoint.deprecated ?? '') ?? []
      if (endpoint.deprecated !== undefined) assert.ok(named && paths.has(named), endpoint.id)
      for (const [name, { alias, publicName, deprecated }] of Object.entries(endpoint.params)) {
        if (publicName !== undefined) assert.ok(alias === publicName, `${endpoint.id} must accept ${publicName}`)
        const [, param] = /^(?:use|send) ([a-z_]+)/.exec(deprecated ?? '') ?? []
        if (param !== undefined) assert.ok(Object.hasOwn(endpoint.params, param), `${endpoint.id} ${name}`)
      }
    }
  })
})
