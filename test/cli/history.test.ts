// Messages at length, and what the server leaves unsaid about them.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { newShell } from '../support/cli.ts'
import { inProcess } from '../support/cli-in-process.ts'
import { newStoreFolder, sharedDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'

describe('messages at length', () => {
  // More messages than one call returns, made without a call for each.
  const texts = Array.from({ length: 5010 }, (_, i) => `m${i}`)
  const seed = join(newStoreFolder(), 'seed.json')
  writeFileSync(
    seed,
    JSON.stringify({
      channels: [{ name: 'general', subscribers: ['owner'] }],
      messages: texts.map(content => ({ from: 'owner', channel: 'general', topic: 'many', content })),
    }),
  )
  const daemon = sharedDaemon({ flags: ['--memory', '--seed', seed, '--clock', 'frozen@2030-01-01T00:00:00Z'] })
  let env: Record<string, string>
  before(() => {
    const { email, api_key } = daemon().ready.owner
    const token = daemon().ready.control_token!
    env = {
      NATTER_SITE: daemon().url,
      NATTER_EMAIL: email,
      NATTER_API_KEY: api_key,
      NATTER_CONTROL_TOKEN: token,
      TZ: 'UTC',
    }
  })

  async function natter(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await inProcess(args, { env })
    assert.equal(code, 0, `natter ${args.join(' ')}: ${stderr}`)
    return stdout.trimEnd()
  }

  test('messages list --since and --until take all messages of that time', async () => {
    for (const hour of [1, 2, 3]) {
      await natter('clock', 'set', `2030-01-01T0${hour}:00:00Z`)
      await natter('send', '#general>hours', `hour ${hour}`)
    }
    const listed = (...args: string[]) =>
      natter('messages', 'list', '--topic', 'hours', '--jq', '.messages[].content', ...args)
    assert.equal(await listed('--since', '2030-01-01T02:00:00Z'), 'hour 2\nhour 3')
    assert.equal(await listed('--until', '2030-01-01T02:00:00Z'), 'hour 1\nhour 2')
    assert.equal(await listed('--since', '2030-01-01T02:00:00Z', '--until', '2030-01-01T02:30:00Z'), 'hour 2')
    assert.equal(await listed('--all'), 'hour 1\nhour 2\nhour 3')
    assert.equal(await listed('--all', '-n', '1'), 'hour 3')
    for (const args of [
      ['--since', 'nonsense'],
      ['--all', '--anchor', 'oldest'],
    ])
      assert.equal((await inProcess(['messages', 'list', ...args], { env })).code, 2, args.join(' '))
  })

  test('messages list --all goes past what one call returns', async () => {
    const listed = await natter('messages', 'list', '--topic', 'many', '--all', '--jq', '.messages[].content')
    assert.deepEqual(listed.split('\n'), texts)
  })

  test('--jq is applied to each item with --ndjson', async () => {
    assert.equal(await natter('users', 'list', '--ndjson', '--jq', '.email'), env.NATTER_EMAIL)
  })

  test('messages are listed with their IDs, members with their names', async () => {
    const id = await natter('send', '#general>ids', 'find me')
    assert.match(await natter('messages', 'list', '-n', '1'), new RegExp(`^${id}  .*find me$`))
    await person(daemon(), 'zoe')
    await natter('subscribe', 'general', '--to', 'zoe@example.com')
    assert.match(await natter('channels', 'members', 'general'), /^\d+ +zoe example$/m)
    assert.match(await natter('channels', 'members', 'general', '--json'), /"subscribers": \[/)
  })

  test('flags names the messages that do not exist, and exits with 3', async () => {
    const id = await natter('send', '#general>flags', 'star me')
    await natter('flags', 'add', 'starred', id)
    const { code, stdout, stderr } = await inProcess(['flags', 'remove', 'starred', id, '99999'], { env })
    assert.equal(code, 3)
    assert.equal(stdout.trim(), id)
    assert.match(stderr, /no message 99999.*\n.*The other messages were changed/)
    const read = await inProcess(['flags', 'add', 'read', '99999'], { env })
    assert.equal(read.code, 3)
    assert.match(read.stderr, /no message 99999/)
    // Read already, so nothing changes, but it exists.
    assert.equal((await inProcess(['flags', 'add', 'read', id], { env })).code, 0)
  })

  test('uploads url takes the path that uploads create prints', async t => {
    const file = join(newShell(t).home, 'notes.txt')
    writeFileSync(file, 'notes')
    const path = await natter('uploads', 'create', file)
    assert.match(path, /^\/user_uploads\/\d+\//)
    assert.match(await natter('uploads', 'url', path), /notes\.txt/)
  })
})
