// The public dialect: names at the edge, and nothing but names.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { speak, understand } from '../../daemon/http/dialect.ts'
import { startDaemon } from '../support/daemon.ts'

describe('--dialect zulip', () => {
  test('replies carry the public names', async t => {
    const { nobody, owner } = await startDaemon(t, { flags: ['--dialect', 'zulip'] })
    const { body } = await nobody.raw('GET', '/api/v1/server_settings')
    assert.equal(body.zulip_feature_level, 417)
    assert.equal(typeof body.zulip_version, 'string')
    assert.ok(!('svc_version' in body))
    const registered = await owner.raw('POST', '/api/v1/register')
    assert.equal(registered.body.zulip_feature_level, 417)
  })

  test('settings are changed by their old paths too', async t => {
    const { owner } = await startDaemon(t, { flags: ['--dialect', 'zulip'] })
    for (const path of ['notifications', 'display']) {
      const body = 'enable_sounds=false&twenty_four_hour_time=true'
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
      const reply = await owner.raw('PATCH', `/api/v1/settings/${path}`, { headers, body })
      assert.deepEqual([reply.status, reply.body.ignored_parameters_unsupported], [200, undefined], reply.text)
    }
  })

  test('without it the daemon speaks its own names', async t => {
    const { nobody } = await startDaemon(t)
    assert.equal((await nobody.raw('GET', '/api/v1/server_settings')).body.svc_feature_level, 417)
  })

  test('words of people are left alone', () => {
    const said = { content: '"svc_version": and "reaction_type":"svc_extra_emoji"', topic: 'svc_version' }
    assert.deepEqual(JSON.parse(speak(JSON.stringify(said))), said)
    const reaction = { reaction_type: 'svc_extra_emoji', emoji_name: 'svc', emoji_code: 'svc' }
    assert.deepEqual(JSON.parse(speak(JSON.stringify(reaction))), {
      reaction_type: 'zulip_extra_emoji',
      emoji_name: 'zulip',
      emoji_code: 'zulip',
    })
  })

  test('parameters are understood in the public names', () => {
    const sent = new Map([
      ['reaction_type', 'zulip_extra_emoji'],
      ['content', 'zulip_extra_emoji'],
    ])
    assert.deepEqual(
      [...understand(sent)],
      [
        ['reaction_type', 'svc_extra_emoji'],
        ['content', 'zulip_extra_emoji'],
      ],
    )
  })

  test('names that every JavaScript object has are text like any other', async t => {
    const { owner } = await startDaemon(t, { flags: ['--dialect', 'zulip'] })
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    for (const word of ['valueOf', 'constructor', 'toString', '__proto__']) {
      const body = `title=${word}&content=${word}&emoji_name=${word}&${word}=${word}`
      const reply = await owner.raw('POST', '/api/v1/saved_snippets', { headers, body })
      assert.equal(reply.status, 200, reply.text)
      const { saved_snippets: saved } = (await owner.raw('GET', '/api/v1/saved_snippets')).body
      assert.equal(saved.at(-1).title, word)
      assert.equal((await owner.raw('GET', `/api/v1/${word}`)).status, 404)
    }
    const understood = understand(
      new Map([
        ['emoji_name', 'constructor'],
        ['valueOf', 'x'],
      ]),
    )
    assert.deepEqual(
      [...understood],
      [
        ['emoji_name', 'constructor'],
        ['valueOf', 'x'],
      ],
    )
  })
})
