// `natter` at a real pseudo-terminal: colours, widths, questions, ^C.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import stringWidth from 'string-width'
import { loadMeasure, wrapText } from '../../cli/terminal/terminal.ts'
import { accountAt, fakeServer, json, newShell } from '../support/cli.ts'
import { startDaemon } from '../support/daemon.ts'
import { fakeChat } from '../support/fake-chat.ts'
import { terminals } from '../support/terminal.ts'

const found = await terminals()
const open = typeof found === 'string' ? undefined! : found
/** In a shell. */
const natter = `'${process.execPath}' '${join(import.meta.dirname, '../../bin/natter')}'`

describe('at a terminal', { skip: typeof found === 'string' ? found : false }, () => {
  test('output has colours, unless NO_COLOR or --color never say otherwise', async t => {
    const chat = await fakeChat(t)
    const shell = newShell(t, chat.env)
    for (const [args, env, coloured] of [
      [['users', 'me'], {}, true],
      [['users', 'me'], { NO_COLOR: '1' }, false],
      [['users', 'me', '--color', 'never'], {}, false],
      [['users', 'me', '--json'], {}, false],
    ] as const) {
      const screen = open(t, shell, args, { env })
      assert.equal(await screen.ended, 0)
      assert.equal(screen.text.includes('\u001b['), coloured, args.join(' '))
    }
  })

  test('messages are coloured and wrapped to a width of 40', async t => {
    const chat = await fakeChat(t)
    chat.say(
      '> quoted\n```\ncode\n```\n*slanted* #**general>lunch** [docs](http://a.example)\na **bold** word and then some more text that goes on',
    )
    const screen = open(t, newShell(t, { ...chat.env, TZ: 'UTC' }), ['tail', '-n', '1'], { columns: 40 })
    await screen.shows(/goes on/)
    for (const [text, color] of [
      ['bold', 1],
      ['slanted', 3],
      ['docs', 4],
      ['code', 33],
      ['#general > lunch', 34],
    ])
      assert.ok(screen.text.includes(`\u001b[${color}m${text}\u001b[`), `${text}: ${JSON.stringify(screen.text)}`)
    const lines = screen.plain.split('\n').filter(line => line !== '' && !line.startsWith('ready'))
    for (const line of lines) assert.ok(line.length <= 40, line)
    assert.ok(lines.length > 1 && lines.slice(1).every(line => line.startsWith('      ')), screen.plain)
    screen.type('\u0003')
    assert.equal(await screen.ended, 130)
  })

  test('tables have one line per row at every width, and the columns that people want', async t => {
    const daemon = await startDaemon(t)
    const { email, api_key } = daemon.ready.owner
    const shell = newShell(t, accountAt(daemon.url, email, api_key))
    const about = 'Where all of us talk about 天気 and everything else that comes to mind, at length'
    for (const name of ['general', 'a rather long name of a channel', '天気'])
      assert.equal((await shell.run(['channels', 'create', name, '--description', about])).code, 0)
    const tables: string[] = []
    for (const [columns, ...words] of [
      [40, 'channels', 'list'],
      [80, 'users', 'list'],
      [120, 'groups', 'list'],
      [120, 'channels', 'list'],
    ] as const) {
      const screen = open(t, shell, words, { columns })
      assert.equal(await screen.ended, 0)
      tables.push(screen.plain)
      const lines = screen.plain.trimEnd().split('\n')
      const { length } = (await shell.run([...words, '--ndjson'])).stdout.trim().split('\n')
      assert.equal(lines.length, length + 1, screen.plain)
      for (const line of lines) assert.ok(stringWidth(line) <= columns, `${columns}: ${line}`)
    }
    assert.match(tables[0]!, /^stream_id {2}name +description\n(.*\n)*1 +general +Where al/)
    const at = ['--at', '2100-01-01', '--quiet']
    assert.equal((await shell.run(['scheduled', 'create', '#general>x', 'hello', ...at])).code, 0)
    const block = open(t, shell, ['scheduled', 'list'], { columns: 40 })
    await block.ended
    assert.match(block.plain, /^scheduled_message_id +1\n(.*\n)*content +hello\n/)
    const piped = await shell.run(['channels', 'list'])
    assert.match(
      piped.stdout,
      /^stream_id {2}name +description +invite_only {2}subscriber_count {2}stream_weekly_traffic\n/,
    )
    assert.ok(piped.stdout.includes(about))
    const all = await shell.run(['channels', 'list', '--fields', 'name,topics_policy,folder_id'])
    assert.match(all.stdout, /^name +topics_policy +folder_id\n/)
  })

  test('tables leave out columns before they cut addresses', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--preset', 'dev'] })
    const { email, api_key } = daemon.ready.owner
    const shell = newShell(t, accountAt(daemon.url, email, api_key))
    const users = open(t, shell, ['users', 'list'], { columns: 80 })
    assert.equal(await users.ended, 0)
    assert.match(users.plain, /^user_id +full_name +email +role +is_active\n/)
    assert.match(users.plain, / deploy-bot@example\.com +400 \(member\) +true\n/)
    const groups = open(t, shell, ['groups', 'list'], { columns: 80 })
    assert.equal(await groups.ended, 0)
    assert.match(groups.plain, /\n9 +backend +Server people +Amy Adams, Bob Brown\n/)
  })

  test('a change prints a sentence, and in a script or with --quiet the ID', async t => {
    const daemon = await startDaemon(t)
    const { email, api_key } = daemon.ready.owner
    const shell = newShell(t, accountAt(daemon.url, email, api_key))
    const made = open(t, shell, ['channels', 'create', 'lunch'])
    assert.equal(await made.ended, 0)
    assert.match(made.plain, /^created channel lunch \(ID \d+\)\n$/)
    const sent = open(t, shell, ['send', '#lunch>today', 'Hi'])
    assert.equal(await sent.ended, 0)
    assert.match(sent.plain, /^sent message \d+\n$/)
    const asJson = open(t, shell, ['send', '#lunch>today', 'Hi', '--fields', 'id'])
    assert.equal(await asJson.ended, 0)
    assert.match(asJson.plain, /^\d+\n$/)
    const quiet = open(t, shell, ['send', '#lunch>today', 'Hi', '--quiet'])
    assert.equal(await quiet.ended, 0)
    assert.match(quiet.plain, /^\d+\n$/)
    const edited = open(t, shell, ['messages', 'edit', quiet.plain.trim(), 'Hello', '--quiet'])
    assert.equal(await edited.ended, 0)
    assert.equal(edited.plain, '')
    assert.match((await shell.run(['send', '#lunch>today', 'Hi'])).stdout, /^\d+\n$/)
  })

  test('a password is asked for and not shown', async t => {
    const daemon = await startDaemon(t)
    const { email, api_key } = daemon.ready.owner
    const shell = newShell(t, accountAt(daemon.url, email, api_key))
    const made = open(t, shell, ['users', 'create', 'amy@example.com', 'Amy Adams'])
    await made.shows(/^Password: /m)
    made.type('correct horsX\u007fe\r')
    assert.equal(await made.ended, 0)
    assert.ok(!made.plain.includes('hors'), made.plain)
    const login = open(t, newShell(t), ['login', daemon.url])
    await login.shows(/Email: /)
    login.type('amy@example.com\r')
    await login.shows(/Password for amy@example\.com: /)
    login.type('correct horse\r')
    assert.equal(await login.ended, 0, login.plain)
    const given = open(t, newShell(t), ['login', daemon.url, 'amy@example.com'])
    await given.shows(/Password/)
    given.type('\u0003')
    assert.equal(await given.ended, 130)
    const known = open(t, shell, ['login'])
    await known.shows(new RegExp(`Server: ${daemon.url}[\\s\\S]*Email: `))
    known.type('\u0003')
    assert.equal(await known.ended, 130)
    assert.ok(!known.plain.includes('natter:'), known.plain)
  })

  test('a batch shows its progress', async t => {
    const url = await fakeServer(t, (_, response) => json(response, { result: 'success', msg: '' }))
    const shell = newShell(t, accountAt(url))
    writeFileSync(join(shell.home, 'calls'), '{"path":"/users/me"}\n'.repeat(3))
    const screen = open(t, shell, ['api', '--batch', 'calls'])
    assert.equal(await screen.ended, 0)
    assert.match(screen.plain, /\[#{24}\] 3\/3, \d+\/s/)
    assert.doesNotMatch(screen.text, /\/s\{/, 'a result follows the progress on its line')
    const piped = open(t, shell, ['exec', '--', 'sh', '-c', `${natter} api --batch - <calls`])
    assert.equal(await piped.ended, 0, piped.plain)
    assert.match(piped.plain, /^3 calls, \d+\/s$/m)
  })

  test('^C ends a running command under exec with its own code', async t => {
    const screen = open(t, newShell(t), [
      'exec',
      '--',
      'sh',
      '-c',
      'trap "exit 9" INT; echo up; while :; do sleep 0.05; done',
    ])
    await screen.shows(/up/)
    screen.type('\u0003')
    assert.equal(await screen.ended, 9)
  })

  test('a job in the background leaves the terminal as the shell has set it', async t => {
    // A shell that reads a line has turned echo off, and turns it on for the next command.
    const script = `stty -echo
      ${natter} tail 2>ready &
      until grep -qs ready ready; do sleep 0.1; done
      stty echo
      kill $!
      wait $!
      echo "ended with $?"
      stty -a`
    const screen = open(t, newShell(t), ['exec', '--', 'sh', '-c', script])
    assert.equal(await screen.ended, 0, screen.plain)
    assert.match(screen.plain, /ended with 143/)
    assert.match(screen.plain, / echo /)
  })
})

test('a text that is longer than any message of a usual server is not wrapped word by word', async () => {
  await loadMeasure()
  assert.equal(wrapText(`${'word '.repeat(4)}end`, 20, 2, 2), 'word word word\n  word end')
  const long = `${'word '.repeat(800_000)}end`
  assert.equal(wrapText(`${long}\nnext`, 20, 2, 2), `${long}\n  next`)
})
