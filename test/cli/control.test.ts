// The control plane from the command line.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { newShell } from '../support/cli.ts'
import { startDaemon } from '../support/daemon.ts'

describe('the subcommands of the control plane', () => {
  test('call the control plane with the token of the ready file', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--clock', 'frozen@2030-01-01T00:00:00Z'] })
    const shell = newShell(t)
    const file = join(shell.home, 'ready.json')
    writeFileSync(file, JSON.stringify(daemon.ready))
    const run = async (...words: string[]) => {
      const { code, stdout, stderr } = await shell.run([...words, '--json'], { env: { NATTER_READY_FILE: file } })
      assert.equal(code, 0, `${words.join(' ')}: ${stderr}`)
      return JSON.parse(stdout)
    }
    const refused = (...words: string[]) => shell.run(words, { env: { NATTER_READY_FILE: file } })
    assert.match((await refused('why')).stderr, /\n {2}Example: natter why 3 amy\n/)
    assert.match((await refused('whoami', '--as', 'onwer')).stderr, /\n {2}Did you mean owner\?\n/)
    assert.equal((await run('clock', 'advance', '10m')).time, '2030-01-01T00:10:00.000Z')
    assert.equal((await run('clock', 'set', '2030-01-01T01:00:00Z')).time, '2030-01-01T01:00:00.000Z')
    assert.equal((await run('clock', 'show')).frozen, true)
    await run('snapshot', 'save', 'one')
    await daemon.owner.call(savedSnippets.create, { title: 'a', content: 'b' })
    assert.equal((await run('requests', 'list', '--endpoint', 'create-saved-snippet')).requests.length, 1)
    assert.equal((await run('requests', 'wait', '--endpoint', 'create-saved-snippet')).met, true)
    await run('snapshot', 'restore', 'one')
    assert.deepEqual((await daemon.owner.call(savedSnippets.list, {})).saved_snippets, [])
    assert.equal((await run('snapshot', 'list')).snapshots.length, 1)
    await run('snapshot', 'remove', 'one')
    const { fault } = await run(
      'faults',
      'add',
      'status',
      '--status',
      '503',
      '--times',
      '1',
      '--endpoint',
      'get-own-user',
    )
    assert.equal((await daemon.owner.raw('GET', '/api/v1/users/me')).status, 503)
    assert.equal((await run('faults', 'list')).faults[0].hits, 1)
    await run('faults', 'remove', String(fault.id))
    assert.equal((await run('accounts', 'owner')).account.api_key, daemon.owner.key)
    assert.deepEqual((await run('queues', 'list')).queues, [])
    assert.deepEqual((await run('queues', 'expire')).expired, [])
    assert.deepEqual((await run('outbox')).mails, [])
    assert.deepEqual((await run('webhooks', 'requests', '--status', 'failed')).deliveries, [])
    assert.equal((await run('events', 'list', '--type', 'saved_snippets')).events.length, 1)
    assert.equal((await run('events', 'wait', '{"type":"saved_snippets"}')).met, true)
    await run('events', 'clear')
    await run('outbox', 'clear')
    await run('requests', 'clear')
    assert.equal((await run('clock', 'resume')).frozen, false)
    assert.equal((await run('clock', 'freeze')).frozen, true)
    assert.equal((await run('reset')).time, '2030-01-01T00:00:00.000Z')
  })

  test('print times as dates, and each call on one line', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--clock', 'frozen@2030-01-01T00:00:00Z'] })
    const env = { NATTER_SITE: daemon.url, NATTER_CONTROL_TOKEN: daemon.ready.control_token!, TZ: 'UTC' }
    const shell = newShell(t, env)
    const run = async (...words: string[]) => (await shell.run(words)).stdout
    for (let i = 0; i < 3; i++) await daemon.owner.call(savedSnippets.list, {})
    await daemon.owner.raw('POST', '/api/v1/register')
    await run('snapshot', 'save', 'one')
    const requests = (await run('requests', 'list')).trimEnd().split('\n')
    assert.equal(requests.length, 4)
    assert.match(requests[0]!, /^1 +2030-01-01 00:00:00 +200 +owner +GET \/saved_snippets$/)
    assert.match(await run('clock', 'show'), /^now +2030-01-01 00:00:00\nfrozen +true\n$/)
    assert.match(await run('snapshot', 'list'), /^one +2030-01-01 00:00:00/m)
    assert.match(await run('queues', 'list'), / +2030-01-01 00:00:00/)
    for (const words of [
      ['requests', 'list'],
      ['queues', 'list'],
      ['snapshot', 'list'],
      ['clock', 'show'],
    ])
      assert.doesNotMatch(await run(...words), /\d{13}/, words.join(' '))
    assert.equal(JSON.parse(await run('clock', 'show', '--json')).now, Date.UTC(2030, 0))
    assert.match(await run('reset'), /^now +2030-01-01 00:00:00\nfrozen +true\n$/)
  })

  test('a noun is listed once, also where the control plane adds verbs to it', async t => {
    const shell = newShell(t)
    const { stdout } = await shell.run(['help', 'all'])
    for (const word of ['queues', 'webhooks', 'clock', 'events', 'accounts'])
      assert.equal(stdout.match(new RegExp(`^  (\\w+, )*${word}\\b`, 'gm'))?.length, 1, word)
    const verbs = async (word: string) => {
      const { stdout } = await shell.run([word, '--help'])
      return [...stdout.matchAll(/^ {2}([a-z]+)(?: |$)/gm)].map(([, verb]) => verb).sort()
    }
    assert.deepEqual(await verbs('webhooks'), ['deliveries', 'post', 'redeliver', 'requests', 'url', 'wait'])
    assert.deepEqual(await verbs('queues'), ['delete', 'events', 'expire', 'list', 'register', 'wait'])
  })

  test('without a server, its absence is reported and not that of a token', async t => {
    const shell = newShell(t)
    for (const words of [
      ['clock', 'show'],
      ['trigger', 'mention'],
      ['wait', '--integration', 'github'],
    ]) {
      const { code, stderr } = await shell.run(words)
      assert.deepEqual([words, code], [words, 6])
      assert.match(stderr, /^natter: no server is configured\n/)
    }
  })

  test('wait exits with 8 if the call is not made, and with 4 without a token', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory'] })
    const shell = newShell(t, { NATTER_SITE: daemon.url })
    const token = ['--control-token', daemon.ready.control_token!]
    await daemon.owner.call(savedSnippets.list, {})
    const words = ['requests', 'wait', '--endpoint', 'get-saved-snippets', '--status', '429', '--within', '50ms']
    const late = await shell.run([...words, ...token])
    assert.equal(late.code, 8)
    assert.match(late.stderr, /near: status: wanted 429, was 200/)
    const undelivered = await shell.run(['webhooks', 'wait', '--status', 'failed', '--within', '50ms', ...token])
    assert.deepEqual(
      [undelivered.code, undelivered.stderr.includes('no such delivery was tried within 50ms')],
      [8, true],
    )
    assert.equal((await shell.run(['reset'])).code, 4)
    assert.equal((await shell.run(['clock', 'set', 'yesteryear', ...token])).code, 2)
    assert.equal((await shell.run(['faults', 'add', 'fire', ...token])).code, 2)
    const long = await shell.run(['clock', 'set', '1893489000000', ...token])
    assert.equal(long.code, 2)
    assert.match(long.stderr, /"1893489000000" is in milliseconds\n {2}In UNIX seconds it is 1893489000\./)
    const duration = await shell.run(['clock', 'set', '5m', ...token])
    assert.match(duration.stderr, /"5m" is a duration, not a point in time\n {2}natter clock advance 5m/)
  })
})
