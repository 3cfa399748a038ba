// The level dial of a real daemon: how a level is chosen, and that a queue keeps the level of its registration.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { channels } from '../../daemon/api/channels/channels.ts'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { reactions } from '../../daemon/api/messages/reactions.ts'
import { server } from '../../daemon/api/organization/server.ts'
import { users } from '../../daemon/api/people/users.ts'
import { readConfig, UsageError } from '../../daemon/start/config.ts'
import { withConfigFile } from '../../daemon/start/config-file.ts'
import { type NatterOptions, startNatter } from '../../daemon/testing/index.ts'
import { newShell, Watched } from '../support/cli.ts'
import { Control } from '../support/control.ts'
import { host, newStoreFolder, sharedDaemon } from '../support/daemon.ts'
import { send } from '../support/http.ts'
import { openSpace } from '../support/spaces.ts'

const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev', '--level', '12.0', '--max-spaces', '40'] })

describe('natterd --level', () => {
  test('sets the level and the version that the server reports', async () => {
    const settings = await daemon().owner.call(server.settings, {})
    assert.deepEqual([settings.svc_feature_level, settings.svc_version], [498, '12.0-natter'])
    assert.equal(daemon().ready.level, 498)
  })

  for (const wrong of ['416', '510', '10.0', '12', 'newest', '-1'])
    test(`refuses ${wrong} and says what to give`, () => {
      assert.throws(
        () => readConfig(['--memory', `--level=${wrong}`], {}),
        (error: Error) => {
          assert.ok(error instanceof UsageError)
          assert.match(
            error.message,
            /--level takes a level from 417 to 509, a release \(11\.0, 12\.0, 12\.1\) or latest, not '/,
          )
          return true
        },
      )
    })
})

describe('the level of a space', () => {
  const versions = [
    [417, 417, '11.0-dev'],
    ['11.0', 421, '11.0'],
    [424, 424, '11.0'],
    [425, 425, '12.0-dev'],
    [499, 499, '12.0'],
    ['12.1', 500, '12.1'],
    [502, 502, '13.0-dev'],
    ['latest', 509, '13.0-dev'],
  ] as const
  for (const [level, number, version] of versions)
    test(`${level} is ${number} with version ${version}`, async () => {
      const space = await openSpace(daemon(), { level })
      const settings = await space.owner.call(server.settings, {})
      assert.deepEqual([settings.svc_feature_level, settings.svc_version], [number, `${version}-natter`])
    })

  test('is that of the daemon unless the space or its seed names another', async () => {
    const levelOf = async (params: object) =>
      (await (await openSpace(daemon(), params)).owner.call(server.settings, {})).svc_feature_level
    assert.equal(await levelOf({}), 498)
    assert.equal(await levelOf({ preset: 'empty', seed: { level: '11.0' } }), 421)
    assert.equal(await levelOf({ preset: 'empty', seed: { level: '11.0' }, level: 450 }), 450)
    // What a seed in YAML that says 12.0 gives.
    assert.equal(await levelOf({ preset: 'empty', seed: { level: 11 } }), 421)
    const { name } = await openSpace(daemon(), { level: 443 })
    assert.equal(await levelOf({ from: name }), 443)
  })

  test('must exist', async () => {
    const wrong = await new Control(daemon()).try('POST', '/spaces', { level: 600 })
    assert.match(String(wrong.body.msg), /^level: must be a level from 417 to 509/)
    const seed = await new Control(daemon()).try('POST', '/spaces', { seed: { level: '9.0' } })
    assert.match(String(seed.body.msg), /level must be a level from 417 to 509/)
  })
})

describe('what names the level', () => {
  const env = () => {
    const { email, api_key } = daemon().ready.owner
    return { NATTER_SITE: daemon().url, NATTER_EMAIL: email, NATTER_API_KEY: api_key }
  }

  test('natter doctor and the banner', async t => {
    const shell = newShell(t, env())
    assert.match((await shell.run(['doctor'])).stdout, /feature level 498, version 12\.0-natter/)
    const flags = ['--memory', '--port', '0', '--no-profile', '--level', '12.1']
    const running = new Watched(t, shell.spawn(['daemon', 'run', ...flags]))
    await running.said(/^ {2}Level {4}500 \(12\.1\)$/m)
    running.child.kill('SIGTERM')
    assert.equal(await running.ended, 0)
  })

  test('POST /register', async () => {
    const { svc_feature_level, svc_version } = await daemon().owner.call(events.register, { event_types: [] })
    assert.deepEqual([svc_feature_level, svc_version], [498, '12.0-natter'])
  })
})

describe('the environment and the config file', () => {
  test('choose a level, and a flag wins', async t => {
    const file = join(mkdtempSync(join(tmpdir(), 'natter-level-')), 'config.json')
    t.after(() => rmSync(dirname(file), { recursive: true }))
    writeFileSync(file, JSON.stringify({ daemon: { level: 443 } }))
    const levelWith = (flags: readonly string[], env: Record<string, string>) =>
      readConfig(flags, withConfigFile({ HOME: dirname(file), NATTER_CONFIG: file, ...env })).level
    assert.equal(levelWith([], {}), 443)
    assert.equal(levelWith([], { NATTER_LEVEL: '12.0' }), 498)
    assert.equal(levelWith(['--level', 'latest'], { NATTER_LEVEL: '12.0' }), 509)
    writeFileSync(file, JSON.stringify({ daemon: { level: '13.0' } }))
    assert.throws(() => levelWith([], {}), /--level takes a level from 417 to 509, .* not '13\.0'/)
  })
})

describe('natter/testing', () => {
  test('takes the level of NATTER_LEVEL, unless an option names one', async t => {
    process.env.NATTER_LEVEL = '12.0'
    t.after(() => delete process.env.NATTER_LEVEL)
    const levelWith = async (options: NatterOptions) => {
      await using natter = await startNatter(options)
      return (await send(`${natter.url}/api/v1/server_settings`)).body.svc_feature_level
    }
    assert.equal(await levelWith({}), 498)
    assert.equal(await levelWith({ level: 443 }), 443)
    assert.equal(await levelWith({ seed: { level: 443 } }), 443)
  })

  test('takes a level for the daemon and for a space, and refuses one that does not exist', async () => {
    await using natter = await startNatter({ level: '12.0' })
    const levelAt = async (url: string) => (await send(`${url}/api/v1/server_settings`)).body.svc_feature_level
    assert.equal(await levelAt(natter.url), 498)
    assert.equal(await levelAt((await natter.space({ level: 443 })).url), 443)
    assert.equal(await levelAt((await natter.space()).url), 498)
    await assert.rejects(natter.space({ level: 510 }), /level: must be a level from 417 to 509/)
    await assert.rejects(startNatter({ level: 'newest' }), /level takes a level from 417 to 509/)
  })
})

describe('a parameter that is newer than the level', () => {
  test('changes nothing and is reported', async () => {
    const [older, newer] = await Promise.all([440, 441].map(level => openSpace(daemon(), { preset: 'dev', level })))
    const create = (space: typeof older, name: string) =>
      space!.owner.try(channels.create, { name, subscribers: [space!.owner.id], can_create_topic_group: 2 })
    const before = await create(older, 'before')
    assert.deepEqual(before.body.ignored_parameters_unsupported, ['can_create_topic_group'], before.text)
    const after = await create(newer, 'after')
    assert.deepEqual([after.body.result, after.body.ignored_parameters_unsupported], ['success', undefined], after.text)
  })
})

describe('GET /static/openapi.json', () => {
  const described = async (url: string, query = '') => (await send(`${url}/static/openapi.json`, { query })).body

  test('is that of the level of the daemon or space, or of the one that is asked for', async t => {
    const space = await openSpace(daemon(), { level: 443 })
    assert.equal((await described(daemon().url)).info.version, '498')
    assert.equal((await described(space.url)).info.version, '443')
    const asked = await described(daemon().url, 'level=443')
    assert.deepEqual(asked, await described(space.url))
    const { stdout } = await newShell(t).run(['api', '--openapi', '--level', '443'])
    assert.deepEqual(JSON.parse(stdout), asked)
    const packed = await fetch(`${daemon().url}/static/openapi.json?level=443`, {
      headers: { 'Accept-Encoding': 'gzip' },
    })
    assert.equal(packed.headers.get('content-encoding'), 'gzip')
    assert.deepEqual(await packed.json(), asked)
  })

  test('has what the level has', async () => {
    const [older, newer] = await Promise.all(['439', '440'].map(level => described(daemon().url, `level=${level}`)))
    const path = '/users/{user_id}/channels'
    assert.deepEqual([path in older!.paths, path in newer!.paths], [false, true])
  })

  test('refuses a level that does not exist', async () => {
    const wrong = await described(daemon().url, 'level=12')
    assert.deepEqual([wrong.code, wrong.result], ['BAD_REQUEST', 'error'])
    assert.match(wrong.msg, /level/)
    assert.equal((await described(daemon().url, 'level=443&level=444')).code, 'BAD_REQUEST')
  })
})

describe('a store at another level', () => {
  test('opens, and queues registered before keep the form of their events, old and new', async t => {
    const data = newStoreFolder()
    const first = await host(data, { flags: ['--level', 'latest'] })
    t.after(() => first.discard())
    const { queue_id } = await first.owner.call(events.register, { event_types: ['reaction'] })
    assert.equal((await first.owner.call(users.me, {})).is_imported_stub, false)
    const { id } = await first.owner.call(messages.send, { type: 'direct', to: [first.owner.id], content: 'hi' })
    await first.owner.call(reactions.add, { message_id: id, emoji_name: 'rocket' })
    await first.stop()
    const second = await host(data)
    t.after(() => second.discard())
    assert.equal('is_imported_stub' in (await second.owner.call(users.me, {})), false)
    const { queue_id: newer } = await second.owner.call(events.register, { event_types: ['reaction'] })
    await second.owner.call(reactions.add, { message_id: id, emoji_name: 'tada' })
    const seen = async (queue: string) =>
      (await second.owner.call(events.get, { queue_id: queue, last_event_id: -1, dont_block: true })).events.map(
        event => 'user' in event,
      )
    assert.deepEqual([await seen(queue_id), await seen(newer)], [[false, false], [true]])
    await second.stop()
  })
})
