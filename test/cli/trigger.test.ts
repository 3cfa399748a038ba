// `natter trigger`: every kind of event happens in a dev organization, by real calls, and the account is told.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import examples from '../../docs/generate/event-examples.json' with { type: 'json' }
import { Shell } from '../support/cli.ts'
import { sharedDaemon, startDaemon, type TestDaemon } from '../support/daemon.ts'
import { everyEvent } from '../support/event-story/personal.ts'

interface Kind {
  readonly kind: string
  readonly event: string
}

let daemon: TestDaemon
let shell: Shell
let kinds: readonly Kind[]

sharedDaemon({ flags: ['--memory', '--preset', 'dev'] }, async started => {
  daemon = started
})

describe('natter trigger', () => {
  before(async () => {
    const { url, ready } = daemon
    const account = { NATTER_SITE: url, NATTER_EMAIL: 'amy@example.com', NATTER_CONTROL_TOKEN: ready.control_token! }
    shell = new Shell(mkdtempSync(join(tmpdir(), 'natter-home-')), account)
    const { stdout, code } = await shell.run(['trigger', '--list', '--json'])
    assert.equal(code, 0)
    kinds = JSON.parse(stdout)
  })

  after(() => rmSync(shell.home, { recursive: true, force: true }))

  test('lists a kind for every type and op of an event', () => {
    assert.deepEqual([...new Set(kinds.map(({ event }) => event))].sort(), [...everyEvent].sort())
  })

  test('makes every kind happen, and shows the event that the account is sent', async () => {
    const { stdout, stderr, code } = await shell.run(['trigger', '--json', ...kinds.map(({ kind }) => kind)])
    assert.equal(code, 0, stderr)
    const happened: { kind: string; event: { type: string; op?: string } }[] = JSON.parse(stdout)
    const found = happened.map(({ kind, event: { type, op } }) => ({ kind, event: op ? `${type}/${op}` : type }))
    assert.deepEqual(
      found,
      kinds.map(({ kind, event }) => ({ kind, event })),
    )
    for (const { kind, event } of happened)
      assert.deepEqual(
        Object.keys(event).sort(),
        Object.keys((examples as Record<string, object>)[kind]!).sort(),
        `docs/generated/events.md shows other fields of ${kind}: run npx tsx docs/event-examples.ts`,
      )
  })

  test('makes the kinds happen that the newest level has, at a server that wants what public servers want', async t => {
    const newest = await startDaemon(t, {
      flags: ['--memory', '--preset', 'dev', '--level', 'latest', '--dialect', 'zulip'],
    })
    const there = shell.with({ NATTER_SITE: newest.url, NATTER_CONTROL_TOKEN: newest.ready.control_token! })
    const gone = ['update_display_settings', 'update_global_notifications']
    const left = kinds.map(({ kind }) => kind).filter(kind => !gone.includes(kind))
    const { stderr, code } = await there.run(['trigger', ...left])
    assert.equal(code, 0, stderr)
    for (const kind of gone)
      assert.match((await there.run(['trigger', kind])).stderr, /the feature level of the server has no such event/)
  })

  test('works for a bot, and sends the values that --override gives', async () => {
    const args = ['--for', 'echo-bot', '--override', 'topic=bots', '--override', 'content=@**Echo Bot** ping']
    const { stdout, stderr, code } = await shell.run(['trigger', 'mention', '--json', ...args])
    assert.equal(code, 0, stderr)
    const [{ to, event }] = JSON.parse(stdout)
    assert.match(to, /^echo-bot@/)
    assert.equal(event.message.subject, 'bots')
    assert.ok(event.flags.includes('mentioned'))
  })

  test('refuses an unknown kind, field and form of --override before any call is made', async () => {
    for (const [args, sentence] of [
      [['reactoin/add'], /there is no kind of event "reactoin\/add"[\s\S]*Did you mean reaction\/add/],
      [['reaction/add', '--override', 'emoji=x'], /reaction\/add has no field "emoji"[\s\S]*emoji_name/],
      [['reaction/add', '--override', 'tada'], /"tada" is not FIELD=VALUE/],
      [[], /no kind given/],
    ] as const) {
      const { code, stderr } = await shell.run(['trigger', ...args])
      assert.equal(code, 2, stderr)
      assert.match(stderr, sentence)
    }
  })

  test('passes a refusal of the server on', async () => {
    const { code, stderr } = await shell.run(['trigger', 'reaction/add', '--override', 'emoji_name=no_such_emoji'])
    assert.notEqual(code, 0)
    assert.match(stderr, /no_such_emoji/)
  })
})
