// Words of the command line, both ways: names in place of IDs, words in place of numbers, sentences in
// place of replies; and what is refused before anything is done.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { accountAt, Shell, Watched } from '../support/cli.ts'
import { sharedDaemon } from '../support/daemon.ts'

let shell: Shell
const home = mkdtempSync(join(tmpdir(), 'natter-words-'))
after(() => rmSync(home, { recursive: true, force: true }))

const daemon = sharedDaemon({}, async ({ url, ready }) => {
  shell = new Shell(home, accountAt(url, ready.owner.email, ready.owner.api_key))
  for (const line of [
    ['users', 'create', 'amy@example.com', 'Amy Adams', '--password', 'a long password'],
    ['users', 'create', 'bob@example.com', 'Bob Brown', '--password', 'a long password'],
    ['subscribe', 'general', 'lunch'],
  ])
    await told(line, 0)
})

/** What a line prints, all of it. */
async function told(words: readonly string[], code: number): Promise<string> {
  const { stdout, stderr, ...outcome } = await shell.run(words)
  assert.equal(outcome.code, code, `${words.join(' ')}: ${stderr}`)
  return stdout + stderr
}

describe('a name in place of an ID', () => {
  test('people to subscribe are named by address, full name and ID, all at once', async () => {
    const both = ['--to', 'Amy Adams', '--to', 'bob@example.com']
    assert.equal(
      await told(['subscribe', 'lunch', ...both], 0),
      'Amy Adams: subscribed to lunch\nBob Brown: subscribed to lunch\n',
    )
    assert.equal(await told(['unsubscribe', 'lunch', '--to', 'amy adams'], 0), 'unsubscribed from lunch\n')
  })

  test('folders, snippets and profile fields have names too', async () => {
    await told(['folders', 'create', 'Team'], 0)
    await told(['folders', 'edit', 'team', '--description', 'ours'], 0)
    assert.equal(await told(['channels', 'edit', 'lunch', '--folder', 'Team'], 0), 'edited channel lunch\n')
    await told(['snippets', 'create', 'Greeting', 'Hello'], 0)
    await told(['snippets', 'delete', 'greeting'], 0)
    await told(['profile-fields', 'create', 'Nickname', '--type', '1'], 0)
    await told(['profile-fields', 'edit', 'nickname', '--hint', 'what friends call you'], 0)
  })

  test('an archived channel is found by its name, to be brought back', async () => {
    await told(['channels', 'create', 'attic'], 0)
    await told(['channels', 'archive', 'attic'], 0)
    await told(['channels', 'edit', 'attic', '--no-archived'], 0)
    assert.equal(await told(['channels', 'show', 'attic', '--fields', 'is_archived'], 0), 'false\n')
  })

  test('--dm lists direct messages, or those with one user', async () => {
    const ids = async (...flags: string[]) => (await told(['messages', 'list', '--fields', 'id', ...flags], 0)).trim()
    const toAmy = (await told(['send', 'amy', 'Hello'], 0)).trim()
    const toBob = (await told(['send', 'bob', 'Hello'], 0)).trim()
    await told(['send', '#general>lunch', 'Hello'], 0)
    assert.equal(await ids('--dm'), `${toAmy}\n${toBob}`)
    assert.equal(await ids('--dm', 'bob'), toBob)
    assert.equal((await told(['search', 'Hello', '--dm', 'amy@example.com', '--fields', 'id'], 0)).trim(), toAmy)
  })

  test('that does not exist is exit code 3 with a suggestion, in every subcommand', async () => {
    await told(['send', '#general>lunch', 'Pizza?'], 0)
    for (const [words, hint] of [
      [['subscribe', 'lunch', '--to', 'amyy'], 'Did you mean amy@example.com?'],
      [['subscribe', 'lunch', '--to', 'bobb@example.com'], 'Did you mean bob@example.com?'],
      [['unsubscribe', 'lunhc'], 'Did you mean lunch?'],
      [['messages', 'list', '--channel', 'genral'], 'Did you mean general?'],
      [['messages', 'list', '--sender', 'Amy Adms'], 'Did you mean amy@example.com?'],
      [['users', 'show', 'nobody@example.com'], 'Run `natter users list` to see all of them.'],
      [['folders', 'edit', 'Teem', '--name', 'x'], 'Did you mean Team?'],
      [['channels', 'show', 'q'], 'Run `natter channels list` to see all of them.'],
      [['send', 'bob@exmaple.com', 'hi'], 'Did you mean bob@example.com?'],
      [['send', 'hi', '--to', 'bob@exmaple.com'], 'Did you mean bob@example.com?'],
      [['topics', 'delete', '#general>lnuch', '--yes'], 'Did you mean lunch?'],
    ] as const)
      assert.ok((await told(words, 3)).endsWith(`\n  ${hint}\n`), words.join(' '))
    assert.match(await told(['groups', 'edit', '999', '--name', 'x'], 3), /there is no user group with ID 999/)
  })

  test('that is empty is wrong usage', async () => {
    assert.match(await told(['subscribe', ''], 2), /^natter: <channel> is empty\n/)
  })
})

describe('values and reports in words', () => {
  test('a role is read and shown by its name; JSON and a single field have the number', async () => {
    await told(['users', 'edit', 'amy@example.com', '--role', 'moderator'], 0)
    assert.equal(await told(['users', 'show', 'amy@example.com', '--fields', 'role'], 0), '300\n')
    assert.match(await told(['users', 'show', 'amy@example.com'], 0), /^role +300 \(moderator\)$/m)
    assert.match(await told(['users', 'show', 'amy@example.com', '--json'], 0), /"role": 300,/)
    assert.match(
      await told(['users', 'edit', 'amy@example.com', '--role', 'boss'], 2),
      /--role: "boss" is not owner, administrator, moderator, member or guest/,
    )
  })

  test('a change is reported in a sentence', async () => {
    assert.equal(await told(['subscribe', 'general'], 0), 'already subscribed to general\n')
    assert.match(await told(['subscribe', 'general', '--json'], 0), /"already_subscribed": \{/)
    await told(['send', '#general>short', 'hi'], 0)
    assert.equal(await told(['topics', 'mute', '#general>short'], 0), 'muted #general>short\n')
    assert.equal(await told(['topics', 'delete', '#general>short', '--yes'], 0), 'deleted #general>short, 1 message\n')
    assert.match(await told(['channels', 'show', 'general'], 0), /^date_created +\d{4}-\d\d-\d\d \d\d:\d\d, /m)
  })

  test('a refusal that names a param by its name in the API names its flag', async () => {
    const words = ['scheduled', 'create', '#general>x', 'hi', '--at', 'yesterday']
    assert.match(
      await told(words, 1),
      /must be in the future.*\n {2}The flag for scheduled_delivery_timestamp is --at\.\n$/,
    )
  })

  test('an emoji can have colons around its name', async () => {
    const id = (await told(['send', '#general>x', 'hi'], 0)).trim()
    await told(['reactions', 'add', id, ':tada:'], 0)
  })

  test('an unknown name in --fields is refused with the known ones', async () => {
    assert.match(
      await told(['users', 'list', '--fields', 'user_id,rol'], 2),
      /--fields: there is no field "rol"\n.*role\?/,
    )
    assert.match(await told(['users', 'me', '--fields', 'zzz'], 2), /Fields: user_id, /)
    // Declared, but absent here.
    assert.match(await told(['users', 'list', '--fields', 'user_id,bot_owner_id', '--ndjson'], 0), /^\{"user_id":2\}$/m)
  })
})

describe('--dry-run and --curl send nothing', () => {
  test('--batch refuses --dry-run, --curl, --jq and --fields', async () => {
    const file = join(shell.home, 'calls')
    writeFileSync(file, '{"content":"sent"}\n')
    for (const flag of [['--dry-run'], ['--curl'], ['--jq', '.'], ['--fields', 'id']])
      for (const words of [
        ['send', '--channel', 'general', '--topic', 'batch', '--batch', file],
        ['api', '--batch', file],
      ])
        assert.match(
          await told([...words, ...flag], 2),
          new RegExp(`^natter: ${flag[0]} and --batch cannot be combined\\n`),
        )
    assert.equal(await told(['messages', 'list', '--channel', 'general', '--topic', 'batch'], 0), 'no messages\n')
  })

  test('tail and wait show the queue that they would register', async () => {
    const shown = await told(['tail', '--channel', 'general', '--dry-run'], 0)
    assert.match(shown, /^POST .*\/api\/v1\/register\n/)
    assert.match(shown, /^narrow=\[\["channel","general"\]\]$/m)
    assert.match(await told(['wait', '--curl'], 0), /^curl -sS -X POST .*\/api\/v1\/register /)
  })
})

describe('tail', () => {
  test('refuses what cannot work before it registers anything', async () => {
    for (const [words, says] of [
      [['--jq', '.x['], /^natter: --jq: syntax error/],
      [['--exec', ' '], /^natter: --exec: the command is empty\n/],
      [['--jobs', '0', '--exec', 'cat'], /^natter: --jobs takes a number from 1 to \d+, not "0"/],
      [['--type', 'reacton'], /there is no event type "reacton"\n {2}Did you mean reaction/],
      [['--within', '60d'], /60d is too long/],
    ] as const)
      assert.match(await told(['tail', ...words], 2), says)
  })

  test('deletes its queue, and a queue of the cursor that does not fit', async t => {
    const { owner } = daemon()
    const id = (await told(['send', '#general>queues', 'one'], 0)).trim()
    const since = ['--since', `id:${Number(id) - 1}`, '--topic', 'queues', '--count', '1']
    const gone = async (stderr: string) => {
      const queue = /^ready: .*\(queue (\S+)\)$/m.exec(stderr)![1]!
      await owner.refused(events.get, { queue_id: queue, last_event_id: -1, dont_block: true }, 'BAD_EVENT_QUEUE_ID')
    }
    await gone((await shell.run(['tail', ...since])).stderr)
    await gone((await shell.run(['wait', '--since', `id:${Number(id) - 1}`])).stderr)

    const first = await shell.run(['tail', '--cursor', 'place', ...since])
    const second = new Watched(t, shell.spawn(['tail', '--cursor', 'place', '--type', 'message,typing']))
    await second.said(/ready/)
    await told(['send', '#general>queues', 'two'], 0)
    await second.until(2)
    second.child.kill('SIGTERM')
    assert.equal(await second.ended, 143, second.stderr)
    await gone(first.stderr)
  })

  test('-n with --since prints the last N messages since then', async () => {
    const ids: string[] = []
    for (const text of ['a', 'b', 'c']) ids.push((await told(['send', '#general>both', text], 0)).trim())
    const since = ['--since', `id:${ids[0]}`, '--topic', 'both', '--jq', '.message.content', '--quiet']
    assert.equal(await told(['tail', ...since, '--count', '2'], 0), 'b\nc\n')
    assert.equal(await told(['tail', ...since, '-n', '1', '--count', '1'], 0), 'c\n')
  })

  test('says what was missing when --count or --until is not met', async () => {
    assert.match(
      await told(['tail', '--count', '2', '--within', '200ms'], 8),
      /^natter: 0 of 2 events arrived within 200ms$/m,
    )
    assert.match(await told(['tail', '--until', 'x', '--idle', '200ms'], 8), /^natter: no event with x arrived before/m)
  })
})
