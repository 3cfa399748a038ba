// Spaces in the testing library: `natter.space()` in the same process, `startNatter({ in })` in a daemon that runs elsewhere.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { type RemoteOptions, startNatter } from '../../daemon/testing/index.ts'
import { endless, fakeServer, json } from '../support/cli.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'

describe('natter.space()', () => {
  test('is a world of its own in the same daemon, and is gone when it is stopped', async () => {
    await using natter = await startNatter()
    const space = await natter.space({ clock: new Date('2030-01-01T00:00:00Z'), name: 'one' })
    assert.equal(space.url, `${natter.url}/spaces/one`)
    await space.as('amy').savedSnippets.create({ title: 'a', content: 'b' })
    assert.deepEqual((await natter.as('amy').savedSnippets.list()).saved_snippets, [])
    await space.clock.advance('1h')
    assert.equal(space.clock.now().toISOString(), '2030-01-01T01:00:00.000Z')
    space.faults.add({ kind: 'status', status: 503, endpoint: 'get-own-user' })
    await natter.owner.users.me()
    assert.equal((await space.waitFor({ type: 'saved_snippets' })).op, 'add')
    const copy = await space.space({ from: 'one' })
    assert.equal((await copy.as('amy').savedSnippets.list()).saved_snippets.length, 1)
    await space.stop()
    await assert.rejects(space.as('amy').users.me(), /There is no space "one"/)
    await space.stop()
    assert.equal((await copy.owner.users.me()).is_owner, true)
  })

  test('its bots and streams end with the daemon, and what one threw is reported then', {
    timeout: 60_000,
  }, async () => {
    const natter = await startNatter()
    const space = await natter.space()
    const nested = await space.space()
    const stopped = await natter.space()
    await stopped.stop()
    const listening = [natter, space].map(async world => {
      // With a signal of its own as well.
      const signals = [{}, { signal: new AbortController().signal }]
      await Promise.all(signals.map(signal => endOf(world.as('amy').events({ types: ['presence'], ...signal }))))
    })
    await natter.waitForListener('amy')
    await space.waitForListener('amy')
    await space.runBot(() => 'heard')
    const bot = await nested.runBot(() => {
      throw new Error('it broke')
    })
    await nested.as('amy').messages.send({ type: 'direct', to: ['echo-bot@example.com'], content: 'Hello' })
    await until(() => bot.errors.length === 1)
    await assert.rejects(natter.stop(), /it broke/)
    await assert.rejects(nested.stop(), /it broke/)
    await space.stop()
    await stopped.stop()
    await Promise.all(listening)
  })

  test('a bot in it does not keep the process alive after the daemon has stopped', { timeout: 60_000 }, async () => {
    const library = new URL('../../daemon/testing/index.ts', import.meta.url).href
    const program = `
      import { startNatter } from ${JSON.stringify(library)}
      const natter = await startNatter()
      await (await natter.space()).runBot(() => 'heard')
      await natter.stop()`
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      stdio: ['ignore', 'inherit', 'pipe'],
      timeout: 30_000,
      killSignal: 'SIGKILL',
    })
    const errors = text(child.stderr)
    assert.deepEqual(await once(child, 'close'), [0, null], await errors)
  })

  test('takes a seed from a file, and refuses an option that does not exist', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-seed-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const seed = join(folder, 'seed.yaml')
    writeFileSync(seed, 'users:\n  - name: zoe\n')
    await using natter = await startNatter({ preset: 'empty' })
    const space = await natter.space({ seed })
    assert.equal((await space.as('zoe').users.me()).email, 'zoe@example.com')
    await assert.rejects(natter.space({ sed: seed } as object), /space: there is no option "sed"/)
    await assert.rejects(
      natter.space('mine' as never),
      /^TypeError: space: options are an object, such as \{ name: "mine" \}$/,
    )
    await assert.rejects(natter.space({ preset: 'empty', seed: { users: [{}] } as never }), /users\[0\]/)
  })
})

async function endOf(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const event of stream) assert.fail(JSON.stringify(event))
}

describe('startNatter({ in })', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })

  test('takes a space of a daemon that runs, and gives it back', async () => {
    const { url, inspector } = daemon().ready
    let site: string
    let ended: Promise<void>
    {
      await using natter = await startNatter({ in: inspector, clock: new Date('2030-01-01T00:00:00Z') })
      site = natter.url
      assert.ok(site.startsWith(`${url}/spaces/`))
      const amy = await natter.as('amy')
      await amy.savedSnippets.create({ title: 'a', content: 'b' })
      assert.equal((await natter.waitFor({ type: 'saved_snippets' }, { user: 'amy' })).op, 'add')
      assert.equal((await natter.waitForCall({ endpoint: 'create-saved-snippet' })).status, 200)
      await assert.rejects(natter.waitFor({ type: 'message' }, { within: 0 }), /no event matched/)
      await natter.clock.advance('1h30m')
      assert.equal((await natter.clock.now()).toISOString(), '2030-01-01T01:30:00.000Z')
      await natter.save('one')
      const fault = await natter.faults.add({ kind: 'status', status: 503, endpoint: 'get-own-user', times: 1 })
      await assert.rejects(natter.owner.users.me())
      assert.equal((await natter.faults.list())[0]!.hits, 1)
      await natter.faults.remove(fault.id)
      assert.equal((await natter.requests()).length, 2)
      assert.equal((await natter.events()).length, 1)
      await natter.reset()
      assert.deepEqual((await amy.savedSnippets.list()).saved_snippets, [])
      await natter.restore('one')
      assert.equal((await amy.savedSnippets.list()).saved_snippets.length, 1)
      assert.equal((await natter.env('amy')).ZULIP_SITE, site)
      assert.deepEqual([await natter.outbox(), await natter.webhooks()], [[], []])
      await natter.forgetRequests()
      ended = endOf(amy.events({ types: ['presence'] }))
      await natter.waitForListener('amy')
    }
    await ended
    assert.equal((await fetch(`${site}/api/v1/server_settings`)).status, 404)
    assert.deepEqual((await new Control(daemon()).call('GET', '/spaces')).spaces, [])
  })

  test('runs a bot in it, which answers after a reset, and is stopped with it', async () => {
    const natter = await startNatter({ in: daemon().ready.inspector })
    const answers = async (content: string) => {
      await (await natter.as('amy')).messages.send({ type: 'direct', to: ['echo-bot@example.com'], content })
      await natter.waitFor({ type: 'message', message: { content: `answer to ${content}` } })
    }
    const bot = await natter.runBot(message => {
      if (message.text === 'fail') throw new Error('it broke')
      return `answer to ${message.text}`
    })
    await natter.save('before')
    await answers('one')
    await natter.reset()
    await answers('two')
    await natter.restore('before')
    await answers('three')
    await assert.rejects(
      natter.runBot(() => {}, { as: 'nobody' }),
      /nobody/,
    )
    const failed = answers('fail')
    await until(() => bot.errors.length === 1)
    await assert.rejects(failed, /no event matched .*\nThe function of a bot failed: it broke \(at /s)
    await assert.rejects(natter.stop(), /it broke/)
    await assert.rejects(natter.stop(), /it broke/)
    assert.deepEqual((await new Control(daemon()).call('GET', '/spaces')).spaces, [])
  })

  test('calls nothing but the site that was given, and reads no answer without end', { timeout: 120_000 }, async t => {
    const seen: string[] = []
    const other = await fakeServer(t, (request, response) => {
      seen.push(String(request.url))
      json(response, { result: 'success', now: 1 })
    })
    const site = await fakeServer(t, (request, response) => {
      if (request.url!.endsWith('/spaces')) {
        const owner = { user_id: 1, email: 'amy@example.com', api_key: 'key' }
        json(response, { result: 'success', name: 'a', url: `${other}/spaces/a`, control_token: 'b', owner })
      } else if (request.url!.endsWith('/clock')) json(response, { result: 'success', now: 1 })
      else endless(response)
    })
    const natter = await startNatter({ in: site, controlToken: 'token' })
    assert.equal(natter.url, `${site}/spaces/a`)
    assert.equal((await natter.clock.now()).getTime(), 1)
    await assert.rejects(natter.findings(), { code: 'ANSWER_TOO_LARGE' })
    assert.deepEqual(seen, [])
  })

  test('steers no terminal by what a daemon sends, and takes any answer to a wait', async t => {
    const [evil, shown] = ['\u009b2J\u202eevil', '\\x9b2J\\x202eevil']
    const found = { name: evil, control_token: 't', owner: { user_id: 1, email: 'a@example.com', api_key: 'k' } }
    let near: unknown = [{ differs: [evil] }]
    const site = await fakeServer(t, (request, response) => {
      if (request.url!.endsWith('/spaces')) json(response, found)
      else json(response, { met: false, near })
    })
    const take = () => startNatter({ in: site, controlToken: 't' })
    const has = (text: string) => (error: Error) => error.message.includes(text) && !error.message.includes('\u009b')
    await assert.rejects(take(), has(`answered with "${shown}"`))
    found.name = 'one'
    const natter = await take()
    await assert.rejects(natter.waitFor({ type: 'message' }), has(`The closest were:\n  - ${shown}`))
    for (near of [undefined, 5, [null], [{}], [{ differs: 5 }]])
      await assert.rejects(natter.waitFor({ type: 'message' }), has('There was no event at all'))
  })

  test('says what is wrong: no URL, no token, another option', async () => {
    const { url, control_token: controlToken } = daemon().ready
    await assert.rejects(startNatter({ in: 'localhost:9991' }), /in must be the URL of a daemon/)
    await assert.rejects(startNatter({ in: url }), /no control token for/)
    await assert.rejects(startNatter({ in: url, controlToken: 'wrong' }), /Authorization: Bearer/)
    const odd = { in: url, controlToken: controlToken!, port: 1 } as RemoteOptions
    await assert.rejects(startNatter(odd), /there is no option "port"/)
  })
})
