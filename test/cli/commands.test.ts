// Subcommands that no endpoint describes: wait, exec, batches, profiles, completion, doctor, commands.

import assert from 'node:assert/strict'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { accountAt, fakeServer, json, newShell, Watched } from '../support/cli.ts'
import { startDaemon } from '../support/daemon.ts'
import { fakeChat } from '../support/fake-chat.ts'
import { freePort } from '../support/free-port.ts'
import type { Outcome } from '../support/natter-bundle.ts'
import { until } from '../support/until.ts'

describe('natter wait', () => {
  test('exits with 0 when the event arrives, or with 8 and lists the nearest events', async t => {
    const chat = await fakeChat(t)
    const shell = newShell(t, chat.env)
    const words = ['wait', '--sender', 'bob@example.com', '--topic', 'deploys', '--match', '/ok/', '--within', '2m']
    const waiting = new Watched(t, shell.spawn([...words, '--json']))
    await waiting.said(/ready/)
    chat.say('not yet')
    chat.say('all ok')
    assert.equal(await waiting.ended, 0)
    assert.equal(JSON.parse(waiting.lines[0]!).message.content, 'all ok')

    chat.onRegister = () => {
      chat.say('ok', { sender_id: 8, sender_email: 'amy@example.com', sender_full_name: 'Amy Adams' })
      chat.say('no', { subject: 'other' })
    }
    let late: Outcome
    let within = 0.4
    // A wait that ends before anything has arrived reports nothing, so a slow machine waits longer.
    for (; ; within *= 2) {
      late = await shell.run([...words.slice(0, -1), `${within}s`])
      assert.equal(late.code, 8)
      if (!late.stderr.includes('no other events') || within > 60) break
    }
    assert.ok(late.stderr.includes(`no matching event arrived within ${within} s; 2 other events arrived`), late.stderr)
    assert.match(late.stderr, /Amy Adams: ok\n {4}differed in sender\n.*\n {4}differed in topic and text/)
    chat.onRegister = () => {}

    const before = await shell.run(['wait', '--since', 'id:1', '--match', 'all ok', '--jq', '.message.id'])
    assert.deepEqual([before.code, before.stdout], [0, '2\n'])
  })
})

describe('natter exec', () => {
  test('gives a command a daemon of its own, and ends with its exit code', async t => {
    const shell = newShell(t)
    const script = 'echo "$NATTER_SITE $ZULIP_EMAIL"; cat "$ZULIP_CONFIG"; exit 7'
    const port = String(await freePort())
    const { code, stdout } = await shell.natter(['exec', '--port', port, '--', 'sh', '-c', script])
    assert.equal(code, 7)
    const [site, email] = stdout.split('\n')[0]!.split(' ')
    assert.match(stdout, new RegExp(`\\[api\\]\nemail=${email}\nkey=\\w+\nsite=${site}\n`))
    assert.equal((await shell.run(['users', 'me', '--site', site!, '--user', 'a', '--api-key', 'b'])).code, 6)
    assert.ok(!existsSync(join(shell.home, '.config')))
  })

  test('hands signals on, and says what does not work', async t => {
    const shell = newShell(t)
    const script = 'trap "echo caught; exit 5" TERM; echo up; for i in $(seq 2000); do sleep 0.05; done'
    const running = new Watched(t, shell.spawn(['exec', '--', 'sh', '-c', script]))
    await running.until(1)
    running.child.kill('SIGTERM')
    assert.equal(await running.ended, 5)
    assert.deepEqual(running.lines, ['up', 'caught'])
    assert.equal((await shell.run(['exec', '--prot', '1', '--', 'true'])).code, 2)
    assert.equal((await shell.run(['exec'])).code, 2)
  })
})

describe('batches', () => {
  test('take names or IDs, keep the order, and stop at a failure without --keep-going', async t => {
    const daemon = await startDaemon(t)
    const { email, api_key } = daemon.ready.owner
    const env = { NATTER_SITE: daemon.url, NATTER_EMAIL: email, NATTER_API_KEY: api_key }
    const shell = newShell(t, env)
    const input = Array.from({ length: 40 }, (_, i) => JSON.stringify({ title: `t${i}`, content: 'x' })).join('\n')
    const made = await shell.run(['snippets', 'create', '--batch', '-', '--parallel', '5'], { input })
    assert.equal(made.code, 0, made.stderr)
    const lines = made.stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    assert.deepEqual(
      lines.map(({ line }) => line),
      Array.from({ length: 40 }, (_, i) => i + 1),
    )
    assert.ok(lines.every(({ http, result }) => http === 200 && result === 'success'))

    writeFileSync(join(shell.home, 'calls'), `{"op":"start","to":["${email}"]}\n\n{"op":"x"}\n{"op":"stop","to":[2]}\n`)
    const stopped = await shell.run(['typing', '--batch', 'calls'])
    assert.deepEqual([stopped.code, stopped.stdout.trim().split('\n').length], [1, 2])
    const all = await shell.run(['typing', '--batch', 'calls', '--keep-going'])
    const results = all.stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    assert.deepEqual(
      results.map(({ line, result }) => [line, result]),
      [
        [1, 'success'],
        [3, 'error'],
        [4, 'success'],
      ],
    )
    const raw = `{"path":"/users/me"}\n{"method":"post","path":"/typing","params":{"op":"start","to":[2]}}\n{"path":3}`
    const { code, stdout } = await shell.run(['api', '--batch', '-'], { input: raw })
    assert.equal(code, 1)
    assert.deepEqual(
      stdout
        .trim()
        .split('\n')
        .map(line => JSON.parse(line).http),
      [200, 200, null],
    )
    assert.equal((await shell.run(['api', '--batch', 'nowhere'])).code, 2)
    assert.equal((await shell.run(['api', '--batch', '-', '--parallel', '0'])).code, 2)
  })

  test('send every line to its own recipient with its own text', async t => {
    const daemon = await startDaemon(t)
    const { email, api_key } = daemon.ready.owner
    const shell = newShell(t, accountAt(daemon.url, email, api_key))
    assert.equal((await shell.run(['channels', 'create', 'busy'])).code, 0)
    const texts = ['one', 'two & three=3', '50 % + 1', '«ä» 🦔', '{"not":"params"}', 'null', 'half \ud800']
    const places = [{}, { topic: 'elsewhere' }, { topic: 'elsewhere' }, {}, { to: 2, type: 'stream' }]
    const sent = texts.flatMap(content => places.map(place => ({ ...place, content })))
    const input = sent.map(line => JSON.stringify(line)).join('\n')
    const words = ['send', '--topic', 'load', '--channel', 'busy', '--batch', '-', '--parallel', '1', '--keep-going']
    const made = await shell.run(words, { input })
    const reason =
      'natter: line 5: --channel and --to cannot be combined\n  6 more calls failed; the lines on stdout say why.\n'
    assert.deepEqual([made.code, made.stderr], [1, reason])
    const failed = made.stdout.split('\n').filter(line => line.includes('"error"'))
    assert.ok(failed.every(line => line.includes('--channel and --to cannot be combined')))
    const list = await shell.run(['messages', 'list', '--channel', 'busy', '-n', '99', '--json'])
    assert.deepEqual(
      JSON.parse(list.stdout)
        .messages.map(({ subject, content }: Record<string, string>) => [subject, content])
        .slice(1),
      sent.filter(line => !('to' in line)).map(({ topic = 'load', content }) => [topic, content.toWellFormed()]),
    )
    assert.equal(failed.length, texts.length)

    const drafts = ['plain', '[{"type":"","to":[],"topic":"","content":"in JSON"}]', 'plain again']
    const kept = await shell.run(['drafts', 'create', '--batch', '-', '--parallel', '1'], {
      input: drafts.map(content => JSON.stringify({ content })).join('\n'),
    })
    assert.equal(kept.code, 0, kept.stdout)
    const { stdout } = await shell.run(['drafts', 'list', '--jq', '[.drafts[].content] | sort'])
    assert.deepEqual(JSON.parse(stdout), ['in JSON', 'plain', 'plain again'])
  })

  test('take the names in the help as keys, from JSON and from CSV, and list them when one is wrong', async t => {
    const daemon = await startDaemon(t)
    const { email, api_key } = daemon.ready.owner
    const shell = newShell(t, accountAt(daemon.url, email, api_key))
    assert.equal((await shell.run(['channels', 'create', 'busy'])).code, 0)
    const lines = [
      { place: '#busy>json', content: 'one' },
      { to: 'busy', topic: 'json', content: 'two' },
    ]
    const input = lines.map(line => JSON.stringify(line)).join('\n')
    assert.equal((await shell.run(['send', '--batch', '-'], { input })).code, 0)
    const wrong = await shell.run(['send', '--batch', '-'], { input: '{"plce":"#busy>json","content":"x"}' })
    assert.match(
      wrong.stdout,
      /plce.* is not a key of send\. Did you mean place\? You can give: place, content, .*topic/,
    )

    writeFileSync(
      join(shell.home, 'rows.csv'),
      '\ufeffplace,content,local-id\n#busy>csv,"a, ""b""\nc",\n\n#busy>csv,d,\n',
    )
    const sent = await shell.run(['send', '--batch', 'rows.csv'])
    assert.equal(sent.code, 0, sent.stdout)
    // The rows of the spreadsheet, of which the first has the names.
    assert.deepEqual(sent.stdout.match(/"line":\d+/g), ['"line":2', '"line":3'])
    const { stdout } = await shell.run(['messages', 'list', '--channel', 'busy', '--jq', '[.messages[1:][].content]'])
    assert.deepEqual(JSON.parse(stdout), ['one', 'two', 'a, "b"\nc', 'd'])

    writeFileSync(join(shell.home, 'wrong.csv'), 'place,content\n#busy>csv,"a"b\n')
    const refused = await shell.run(['send', '--batch', 'wrong.csv'])
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /--batch: not valid CSV: .* line 2/)
    for (const [text, said] of [
      [
        'place,content\n#busy>csv,a,b\n',
        /line 2 has 3 columns, the first line 2; put quotes around a text with commas/,
      ],
      ['place;content\n#busy>csv;a\n', /not valid CSV: the columns must be separated by commas/],
    ] as const) {
      writeFileSync(join(shell.home, 'wrong.csv'), text)
      assert.match((await shell.run(['send', '--batch', 'wrong.csv'])).stderr, said)
    }
    const piped = await shell.run(['send', '--batch', '-'], { input: '\ufeffplace,content\r\n#busy>csv,a\r\n' })
    assert.match(piped.stderr, /perhaps CSV, which --batch reads from a file whose name ends in \.csv/)
  })

  test('wait for Retry-After when rate limited', async t => {
    let asked = 0
    const url = await fakeServer(t, (_, response) => {
      if (asked++ % 3 === 1) json(response, { result: 'error', code: 'RATE_LIMIT_HIT' }, 429, { 'Retry-After': '0.05' })
      else json(response, { result: 'success', msg: '' })
    })
    const env = { NATTER_SITE: url, NATTER_EMAIL: 'a@example.com', NATTER_API_KEY: 'k' }
    const input = '{"path":"/x"}\n'.repeat(6)
    const { code, stdout } = await newShell(t, env).run(['api', '--batch', '-', '--parallel', '3'], { input })
    assert.deepEqual([code, stdout.match(/"http":200/g)?.length], [0, 6])
  })
})

test('profiles are made, used, listed, exported and removed; config explain says where values come from', async t => {
  const daemon = await startDaemon(t)
  const { email, api_key } = daemon.ready.owner
  const shell = newShell(t)
  const account = ['--site', daemon.url, '--user', email, '--api-key', api_key]
  assert.equal((await shell.run(['profile', 'list'])).stderr, 'no profiles\n')
  assert.equal((await shell.run(['profile', 'add', 'own', ...account])).code, 0)
  assert.equal((await shell.run(['users', 'create', 'amy@example.com', 'Amy', '--password', 'correct horse'])).code, 0)
  const login = ['login', daemon.url, 'amy@example.com', '--name', 'amy']
  assert.equal((await shell.run(login, { input: 'wrong\n' })).code, 4)
  const logged = await shell.run(login, { input: 'correct horse\n' })
  assert.equal(logged.code, 0, logged.stderr)
  assert.equal((await shell.run(['users', 'me', '--fields', 'email'])).stdout, 'amy@example.com\n')
  assert.equal((await shell.run(['profile', 'use', '-'])).code, 0)
  assert.equal((await shell.run(['users', 'me', '--fields', 'email'])).stdout, `${email}\n`)
  const list = await shell.run(['profile', 'list'])
  assert.match(list.stdout, /^\* {2}own {3}http.* {2}owner@example\.com$/m)
  const { stdout: rc } = await shell.run(['profile', 'export', 'amy'])
  writeFileSync(join(shell.home, 'rc'), rc)
  assert.equal((await shell.run(['profile', 'add', 'copy', '--from-zuliprc', 'rc'])).code, 0)
  assert.equal((await shell.run(['users', 'me', '--profile', 'copy', '--fields', 'email'])).stdout, 'amy@example.com\n')
  const explained = await shell.run(['config', 'explain', '--profile', 'copy'])
  assert.match(explained.stdout, /^email +amy@example\.com +profile copy$/m)
  assert.ok(!explained.stdout.includes(rc.split('\n')[2]!.slice(4)))
  assert.equal((await shell.run(['profile', 'remove', 'amy'])).code, 0)
  assert.equal((await shell.run(['profile', 'use', 'amy'])).code, 3)
  assert.equal(statSync(join(shell.home, '.config/natter/profiles.json')).mode & 0o777, 0o600)

  await t.test('doctor finds nothing wrong, and what is', async () => {
    const fine = await shell.run(['doctor'])
    assert.equal(fine.code, 0, fine.stdout)
    assert.match(fine.stdout, /^ok +account: Olive Owner <owner@example\.com>/m)
    const wrong = await shell.run(['doctor', '--api-key', 'nonsense', '--json'])
    assert.equal(wrong.code, 1)
    const { state, todo } = JSON.parse(wrong.stdout).at(-1)
    assert.deepEqual([state, typeof todo], ['wrong', 'string'])
  })

  await t.test('completion knows words, flags, values and names', async () => {
    const complete = async (...words: string[]) => {
      const { stdout } = await shell.run(['__complete', '--', ...words])
      return stdout.split('\n').map(line => line.split('\t')[0])
    }
    assert.deepEqual(await complete('snip'), ['snippets', ''])
    assert.deepEqual(await complete('snippets', 'd'), ['delete', ''])
    assert.deepEqual(await complete('typing', ''), ['start', 'stop', ''])
    assert.deepEqual(await complete('tail', '--chan'), ['--channel', ''])
    // Names are offered when the daemon answers in time; once it has, they are known for a while.
    const names = await until(async () => {
      const found = await complete('typing', 'start', '--to', 'am')
      return found.length > 1 && found
    })
    assert.deepEqual(names, ['amy@example.com', ''])
    assert.deepEqual(await complete('profile', 'use', ''), ['own', 'copy', ''])
    assert.deepEqual(await complete('help', 'ex'), ['exit-codes', 'exports', 'exec', ''])
    for (const name of ['bash', 'zsh', 'fish'])
      assert.match((await shell.run(['completion', name])).stdout, /natter __complete -- /)
    assert.equal((await shell.run(['completion', 'tcsh'])).code, 2)
  })
})

test('topics rename moves all messages of a topic', async t => {
  const daemon = await startDaemon(t)
  const { email, api_key } = daemon.ready.owner
  const shell = newShell(t, accountAt(daemon.url, email, api_key))
  await shell.run(['channels', 'create', 'busy'])
  for (const text of ['one', 'two']) await shell.run(['send', '#busy>lunch', text])
  const renamed = await shell.run(['topics', 'rename', '#busy>lunch', 'dinner', '--silent'])
  assert.deepEqual([renamed.code, renamed.stdout + renamed.stderr], [0, 'renamed #busy>lunch to dinner, 2 messages\n'])
  const { stdout } = await shell.run(['messages', 'list', '--topic', 'dinner', '--jq', '[.messages[].content]'])
  assert.deepEqual(JSON.parse(stdout), ['one', 'two'])
  const { stdout: link } = await shell.run(['messages', 'list', '--topic', 'dinner', '-n', '1', '--fields', 'link'])
  assert.equal((await shell.run(['topics', 'rename', link.trim(), 'tea', '--silent'])).code, 0)
  assert.match((await shell.run(['topics', 'list', 'busy'])).stdout, /tea/)
  for (const [from, to, shown] of [
    ['tea', '', 'general chat'],
    ['', 'tea', 'tea'],
  ]) {
    const { stderr } = await shell.run(['topics', 'rename', `#busy>${from}`, to!, '--silent'])
    assert.equal(stderr, `renamed #busy>${from} to ${shown}, 2 messages\n`)
  }
  const absent = await shell.run(['topics', 'rename', '#busy>ta', 'supper'])
  assert.deepEqual([absent.code, absent.stderr], [3, 'natter: there is no topic "ta" in #busy\n  Did you mean tea?\n'])
  assert.equal((await shell.run(['topics', 'rename', 'busy', 'supper'])).code, 2)
})

test('messages move says how many messages it moved', async t => {
  const daemon = await startDaemon(t)
  const { email, api_key } = daemon.ready.owner
  const shell = newShell(t, accountAt(daemon.url, email, api_key))
  await shell.run(['channels', 'create', 'busy'])
  const ids: string[] = []
  for (const text of ['one', 'two', 'three', 'four'])
    ids.push((await shell.run(['send', '#busy>lunch', text])).stdout.trim())
  const moved = async (...args: string[]) => {
    const { code, stdout, stderr } = await shell.run(['messages', 'move', ...args, '--no-notify-new'])
    return [code, stdout + stderr]
  }
  assert.deepEqual(await moved(ids[0]!, '--topic', 'alone'), [0, `moved message ${ids[0]}\n`])
  assert.deepEqual(await moved(ids[2]!, '#busy>later', '--later'), [0, 'moved 2 messages\n'])
  assert.deepEqual(await moved(ids[1]!, '--topic', 'all', '--all'), [0, 'moved 1 message\n'])
  assert.match(String((await moved('999', '--topic', 'x', '--all'))[1]), /there is no message with ID 999/)
})

test('natter messages send is refused with the subcommand that is meant, natter send', async t => {
  const { code, stderr } = await newShell(t).run(['messages', 'send', 'x'])
  assert.deepEqual([code, stderr], [2, 'natter: there is no subcommand "messages send"\n  Did you mean natter send?\n'])
})

describe('natter commands and the man page', () => {
  test('list every subcommand from the same tables as the help', async t => {
    const shell = newShell(t)
    const { stdout } = await shell.run(['commands', '--json'])
    const entries: { name: string; impact: string; examples: string[] }[] = JSON.parse(stdout)
    const names = entries.map(({ name }) => name)
    for (const name of ['tail', 'wait', 'exec', 'api', 'daemon start', 'snippets create', 'profile use', 'doctor'])
      assert.ok(names.includes(name), name)
    assert.equal(entries.find(({ name }) => name === 'users me')!.impact, 'read')
    for (const { name, examples } of entries) assert.ok(examples.length >= 2, name)
    const jq = await shell.run(['commands', 'snippet', '--jq', '[.[].impact]|unique|join(" ")'])
    assert.equal(jq.stdout, 'read write\n')
    const none = await shell.run(['commands', 'nope'])
    assert.deepEqual(
      [none.code, none.stderr.split('\n')[0]],
      [3, 'natter: no subcommand has "nope" in its name or description'],
    )
    const man = (await shell.run(['help', '--man'])).stdout
    assert.match(man, /^\.TH NATTER 1/)
    for (const name of names) assert.ok(man.includes(`.SS natter ${name.replaceAll('-', '\\-')}`), name)
  })

  test('--quiet leaves errors only', async t => {
    const chat = await fakeChat(t)
    const shell = newShell(t, chat.env)
    assert.equal((await shell.run(['tail', '--within', '50ms', '--quiet'])).stderr, '')
    assert.notEqual((await shell.run(['users', 'frobnicate', '--quiet'])).stderr, '')
  })
})
