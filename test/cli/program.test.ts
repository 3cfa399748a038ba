// `natter` as scripts and people use it: help, calls to a real daemon, exit codes, what goes to which stream.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { accountAt, exitOf, fakeServer, json, newShell } from '../support/cli.ts'
import { startDaemon } from '../support/daemon.ts'

describe('natter, with no config and no daemon', () => {
  test('--help, help and no words at all show one screen; help all and help flags the rest', async t => {
    const shell = newShell(t)
    for (const args of [['--help'], ['help'], [], ['--json', '-h']]) {
      const { code, stdout, stderr } = await shell.run(args)
      assert.deepEqual([code, stderr], [0, ''], args.join(' '))
      for (const word of ['daemon start', 'send', 'tail', 'help all']) assert.ok(stdout.includes(word), word)
    }
    const rest = (await shell.run(['help', 'all'])).stdout + (await shell.run(['help', 'flags'])).stdout
    for (const word of ['snippets', 'typing', 'daemon', 'api', '--dry-run']) assert.ok(rest.includes(word), word)
  })

  test('--version prints the version', async t => {
    assert.match((await newShell(t).run(['--version'])).stdout, /^natter \d+\.\d+\.\d+\n$/)
  })

  test('the help of a subcommand has usage, values, route and examples', async t => {
    const shell = newShell(t)
    const { code, stdout } = await shell.run(['typing', '--help'])
    assert.equal(code, 0)
    assert.match(stdout, /^Usage: natter typing <start\|stop> \[flags\]\n/)
    assert.match(stdout, /--channel <channel>/)
    assert.match(stdout, /Route: POST \/api\/v1\/typing\n/)
    assert.match(stdout, /Examples:\n {2}natter typing start/)
    assert.equal((await shell.run(['help', 'typing'])).stdout, stdout)
  })

  test('help fits in 80 columns, apart from examples, and says where the global flags are explained', async t => {
    const shell = newShell(t)
    for (const words of [['flags'], ['all'], ['tail'], ['bot', 'run'], ['replay']]) {
      const { stdout } = await shell.run(['help', ...words])
      const [explained = ''] = stdout.split('Examples:\n')
      const long = explained.split('\n').filter(line => line.length > 80)
      assert.deepEqual(long, [], words.join(' '))
    }
    assert.match((await shell.run(['help', 'tail'])).stdout, /Global flags \(see natter help flags\):\n {2}--json/)
    assert.match((await shell.run(['help', 'flags'])).stdout, /^ {2}--json {2,}print the whole reply/m)
  })

  test('topics explain what is not a subcommand', async t => {
    const shell = newShell(t)
    assert.match((await shell.run(['help', 'exit-codes'])).stdout, /130 {2}interrupted/)
    assert.match((await shell.run(['help', 'environment'])).stdout, /NATTER_API_KEY/)
  })

  test('a mistake on the command line is exit code 2, with the nearest right thing', async t => {
    const shell = newShell(t)
    for (const [args, said] of [
      [['snipets', 'list'], /no subcommand "snipets"\n {2}Did you mean snippets\?/],
      [['snippets', 'lsit'], /no subcommand "snippets lsit"\n {2}Did you mean list\?/],
      [['channels', 'delete', 'x'], /no subcommand "channels delete"\n {2}Did you mean natter channels archive\?/],
      [['faults', 'add', 'status', '--user', 'amy'], /unknown option '--user'\n {2}Did you mean --of\?/],
      [['messages', 'react', '7'], /no subcommand "messages react"\n {2}Did you mean natter reactions add\?/],
      [['bot', 'test'], /no subcommand "bot test"\n {2}Run the test of a bot with node --test/],
      [['help', 'narow'], /no subcommand "narow"\n {2}Did you mean narrow\?/],
      [['exec', '--on-falure', 'x', '--', 'true'], /unknown option '--on-falure'\n {2}Did you mean --on-failure\?/],
      [
        ['exec', '--in', 'http://127.0.0.1:1', '--on-failure', 'x', '--', 'true'],
        /cannot be combined with .*\n {2}natter keep DIR, in the command/,
      ],
      [['--verison'], /unknown option '--verison'\n {2}Did you mean --version\?/],
      [['snippets', 'edit', '3', '--titel', 'x'], /unknown option '--titel'\n {2}Did you mean --title\?/],
      [
        ['snippets', 'create', 'x'],
        /missing required argument 'content'\n {2}content: the content, in Markdown .*\. See natter snippets create --help/,
      ],
      [['init'], /missing required argument 'kind'\n {2}kind: one of pytest, node, .*\. See natter init --help/],
      [['messages', 'show', '--fields'], /'--fields <A,B>' argument missing\n {2}See natter messages show --help/],
      [['messages', 'show', 'three'], /<message-id>: "three" is not a whole number/],
      [['snippets', 'edit', 'id:three'], /<snippet>: "id:three" is not a snippet: a name or id:123/],
      [['typing', 'pause'], /<op>: "pause" is not start or stop/],
      [['users', 'create', 'a@example.com', 'A B'], /no password given/],
      [['queues', 'events', 'q', '--last-event-id', 'x'], /--last-event-id: "x" is not a whole number/],
      [['queues', 'register', '--client-capabilities', '{'], /--client-capabilities is not valid JSON/],
      [['users', 'me', '--timeout', 'soon'], /--timeout: "soon" is not a duration/],
      [['--json'], /no subcommand given/],
      [['--jsn'], /unknown option '--jsn'\n {2}Did you mean --json\?/],
      [['whoami', '--jsno'], /unknown option '--jsno'\n {2}Did you mean --json\?/],
      [['help', 'messages', 'lst'], /no subcommand "messages lst"\n {2}Did you mean list\?/],
      [['messages', 'lst', '--help'], /no subcommand "messages lst"\n {2}Did you mean list\?/],
      [['streams', 'list'], /no subcommand "streams"\n {2}Did you mean natter channels\?/],
      [['send', '#general>x', 'two', 'words'], /too many arguments.*\n {2}Put quotes around a text with spaces\./],
      [
        ['messages', 'delete', '1', '2'],
        /too many arguments.*\n {2}.* For several calls, use --batch, or xargs -n 1\./,
      ],
      [['snippets', 'list', '-n', '2'], /unknown option '-n'\n {2}See natter snippets list --help/],
      [['exec', 'natter', 'whoami', '--fields', 'email'], /'--fields'\n {2}The command and its flags go after --/],
      [['topics', 'mute', '#general'], /"#general" does not name a topic\n {2}Write '#general>topic'/],
      [['topics', 'mute', 'general>x'], /"general>x" does not name its channel\n {2}Write '#general>x'/],
      [['topics', 'mute'], /<topic> is missing\n {2}Write '#channel>topic'/],
      [['messages', 'move'], /<message-id> is missing\n {2}The message\. See natter messages move --help/],
    ] as const) {
      const { code, stdout, stderr } = await shell.run(args)
      assert.deepEqual([code, stdout], [2, ''], args.join(' '))
      assert.match(stderr, said)
    }
    const { code, stderr } = await shell.run(['snippets'])
    assert.equal(code, 2)
    assert.match(stderr, /Verbs:/)
  })

  test('--dry-run and --curl show the request and hide the key', async t => {
    const shell = newShell(t, accountAt('http://127.0.0.1:1'))
    const words = ['queues', 'register', '--event-types', 'message,typing', '--no-client-gravatar']
    const { stdout } = await shell.run([...words, '--dry-run'])
    assert.equal(
      stdout,
      'POST http://127.0.0.1:1/api/v1/register\nAuthorization: Basic amy@example.com:********\n' +
        'event_types=["message","typing"]\nclient_gravatar=false\n',
    )
    const curl = (await shell.run([...words, '--curl'])).stdout
    assert.match(
      curl,
      /^curl -sS -X POST -u amy@example\.com:"\$NATTER_API_KEY" http:\/\/127\.0\.0\.1:1\/api\/v1\/register /,
    )
    assert.ok(!curl.includes('key-of-amy'))
    assert.match((await shell.run([...words, '--curl', '--show-key'])).stdout, /key-of-amy/)
  })

  test('no server is exit code 6, no account 4', async t => {
    const shell = newShell(t)
    const { code, stderr } = await shell.run(['users', 'me'])
    assert.equal(code, 6)
    assert.match(stderr, /natter daemon start/)
    assert.equal((await shell.run(['users', 'me', '--site', 'http://127.0.0.1:1'])).code, 4)
    assert.equal((await shell.with(accountAt('http://127.0.0.1:1')).run(['users', 'me'])).code, 6)
  })
})

test('natter with a daemon', async t => {
  const daemon = await startDaemon(t)
  const { email, api_key } = daemon.ready.owner
  const shell = newShell(t, accountAt(daemon.url, email, api_key))

  await t.test('prints text for people, and the whole reply with --json', async () => {
    const text = await shell.run(['users', 'me'])
    assert.equal(text.code, 0)
    assert.match(text.stdout, /^email +owner@example\.com$/m)
    const reply = JSON.parse((await shell.run(['--json', 'users', 'me'])).stdout)
    assert.deepEqual([reply.result, reply.email], ['success', email])
  })

  await t.test('a reply of one value is printed bare; nothing to show is said on stderr', async () => {
    const none = await shell.run(['snippets', 'list'])
    assert.deepEqual(none, { code: 0, stdout: '', stderr: 'no saved snippets\n' })
    const made = await shell.run(['snippets', 'create', 'Greeting', '-'], { input: 'Hello,\n\u001b[31mall\n' })
    assert.match(made.stdout, /^\d+\n$/)
    const list = await shell.run(['snippets', 'list'])
    assert.match(
      list.stdout,
      /^id +title +content +date_created\n\d+ +Greeting +Hello,\\n\\x1b\[31mall +\d{4}-\d\d-\d\d \d\d:\d\d, just now\n$/,
    )
    const gone = await shell.run(['snippets', 'delete', made.stdout.trim()])
    assert.deepEqual(gone, { code: 0, stdout: '', stderr: `deleted snippet ${made.stdout}` })
  })

  await t.test('colour is for terminals, unless asked for', async () => {
    assert.ok(!(await shell.run(['users', 'me'])).stdout.includes('\u001b['))
    assert.ok((await shell.run(['users', 'me', '--color', 'always'])).stdout.includes('\u001b['))
  })

  await t.test('your own email works in place of your ID', async () => {
    assert.equal((await shell.run(['typing', 'start', '--to', email])).code, 0)
    assert.equal((await shell.run(['typing', 'stop', '--to', `id:${daemon.ready.owner.user_id}`])).code, 0)
  })

  await t.test('a refusal is exit code 1, a thing that is not there 3, a wrong key 4', async () => {
    const refused = await shell.run(['snippets', 'create', ' ', 'x'])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^natter: title: cannot be blank \(BAD_REQUEST\)/)
    assert.equal((await shell.run(['snippets', 'delete', '999'])).code, 3)
    assert.equal((await shell.run(['queues', 'delete', 'nope'])).code, 3)
    const denied = await shell.run(['users', 'me', '--api-key', 'wrong', '--json'])
    assert.deepEqual([denied.code, denied.stdout], [4, ''])
    const { error } = JSON.parse(denied.stderr)
    assert.deepEqual([error.code, error.http, error.exit], ['INVALID_API_KEY', 401, 4])
  })

  await t.test('an account can be made and its key fetched', async () => {
    const made = await shell.run(['users', 'create', 'amy@example.com', 'Amy Adams'], { input: 'correct horse\n' })
    assert.match(made.stdout, /^\d+\n$/, made.stderr)
    const { stdout: key } = await shell
      .with({ NATTER_PASSWORD: 'correct horse' })
      .run(['users', 'key', 'amy@example.com'])
    const me = await shell.run(['users', 'me', '--user', 'amy@example.com', '--api-key', key.trim(), '--json'])
    assert.equal(JSON.parse(me.stdout).user_id, Number(made.stdout))
  })

  await t.test('queues can be driven by hand', async () => {
    const { stdout } = await shell.run(['queues', 'register', '--event-types', 'typing', '--json'])
    const { queue_id } = JSON.parse(stdout)
    await shell.run(['typing', 'start', '--to', email])
    const { stdout: events } = await shell.run(['queues', 'events', queue_id, '--last-event-id', '-1', '--json'])
    assert.equal(JSON.parse(events).events[0].type, 'typing')
    assert.equal((await shell.run(['queues', 'delete', queue_id])).code, 0)
  })

  await t.test('natter api calls any route and prints the body as it came', async () => {
    const made = await shell.run(['api', 'post', 'saved_snippets', '-f', 'title=A=B', '-F', 'content="x"'])
    assert.match(made.stdout, /^\{"result":"success","msg":"","saved_snippet_id":\d+\}\n$/)
    for (const flags of [
      ['--jq', '.email'],
      ['--fields', 'email'],
    ])
      assert.match((await shell.run(['api', 'GET', '/users/me', ...flags])).stdout, /^owner@example\.com\n$/)
    const head = await shell.run(['api', 'GET', '/api/v1/users/me', '--include'])
    assert.match(head.stdout, /^HTTP\/1\.1 200 OK\n(.+\n)*\n\{"result"/)
    const wrong = await shell.run(['api', 'GET', '/nowhere'])
    assert.equal(wrong.code, 3)
    assert.match(wrong.stdout, /^\{"result":"error"/)
    assert.equal((await shell.run(['api', 'POST', '/typing', '-F', 'to=[1'])).code, 2)
    assert.equal((await shell.run(['api', 'FETCH', '/typing'])).code, 2)
  })
})

describe('natter, when a call fails', () => {
  test('an answer that breaks off is reported as an unknown outcome', async t => {
    const url = await fakeServer(t, request => void request.socket.destroy())
    const { code, stderr } = await newShell(t, accountAt(url)).run(['users', 'me'])
    assert.equal(code, 6)
    assert.match(stderr, /was lost before the response arrived\n {2}The server may have processed the request/)
  })

  test('no answer in time is exit code 8', async t => {
    const url = await fakeServer(t, () => {})
    const { code, stderr } = await newShell(t, accountAt(url)).run(['users', 'me', '--timeout', '200ms'])
    assert.equal(code, 8)
    assert.match(stderr, /did not answer within 0\.2 s/)
  })

  test('rate limited is exit code 7; with --retry it waits for Retry-After', async t => {
    let asked = 0
    const url = await fakeServer(t, (_, response) => {
      if (asked++ < 2)
        json(response, { result: 'error', msg: 'slow', code: 'RATE_LIMIT_HIT' }, 429, { 'Retry-After': '0' })
      else json(response, { result: 'success', msg: '', user_id: 7 })
    })
    const shell = newShell(t, accountAt(url))
    assert.equal((await shell.run(['users', 'me'])).code, 7)
    const { code, stdout } = await shell.run(['users', 'me', '--retry', '2'])
    assert.deepEqual([code, stdout], [0, '7\n'])
  })

  test('a server that is not a chat server is reported as such', async t => {
    for (const [status, body] of [
      [200, '<html>'],
      [404, '<html>'],
      [404, '{"message":"Not Found"}'],
    ] as const) {
      const url = await fakeServer(t, (_, response) => response.writeHead(status).end(body))
      const { code, stderr } = await newShell(t, accountAt(url)).run(['users', 'me'])
      assert.equal(code, 1, `${status} ${body}`)
      assert.ok(stderr.includes(`${url} answered, but it is not a chat server`), stderr)
    }
  })

  test('an interrupted call is exit code 130', async t => {
    let asked = () => {}
    const arrived = new Promise<void>(resolve => {
      asked = resolve
    })
    const url = await fakeServer(t, () => asked())
    const child = newShell(t, accountAt(url)).spawn(['queues', 'events', 'q'])
    await arrived
    child.kill('SIGINT')
    assert.equal(await exitOf(child), 130)
  })

  test('a closed pipe is exit code 0', async t => {
    const list = Array.from({ length: 20_000 }, (_, id) => ({ id, title: 'x'.repeat(50) }))
    const url = await fakeServer(t, (_, response) =>
      json(response, { result: 'success', msg: '', saved_snippets: list }),
    )
    const child = newShell(t, accountAt(url)).spawn(['snippets', 'list', '--json'])
    let stderr = ''
    child.stderr!.on('data', text => {
      stderr += text
    })
    child.stdout!.once('data', () => child.stdout!.destroy())
    assert.deepEqual([await exitOf(child), stderr], [0, ''])
  })

  test('names are looked up, with suggestions', async t => {
    const seen: string[] = []
    const url = await fakeServer(t, (request, response) => {
      seen.push(`${request.method} ${request.url}`)
      if (request.url === '/api/v1/users')
        json(response, {
          result: 'success',
          members: [
            { user_id: 8, email: 'amy@example.com', full_name: 'Amy' },
            { user_id: 9, email: 'bob@example.com', full_name: 'Bob Brown' },
            { user_id: 10, email: 'bob2@example.com', full_name: 'Bob Brown' },
          ],
        })
      else if (request.url === '/api/v1/streams')
        json(response, { result: 'success', streams: [{ stream_id: 5, name: 'general' }] })
      else json(response, { result: 'error', msg: 'no such path', code: 'BAD_REQUEST' }, 404)
    })
    const shell = newShell(t, accountAt(url, 'zoe@example.com'))
    const typing = (...words: string[]) => shell.run(['typing', 'start', '--dry-run', ...words])
    assert.match((await typing('--to', 'BOB@example.com', '--to', 'Amy,3')).stdout, /^to=\[9,8,3\]$/m)
    assert.deepEqual(seen, ['GET /api/v1/users'])
    assert.match((await typing('--channel', '#General')).stdout, /^stream_id=5$/m)
    const missing = await typing('--channel', 'genral')
    assert.equal(missing.code, 3)
    assert.match(missing.stderr, /there is no channel "genral"\n {2}Did you mean general\?/)
    const twice = await typing('--to', 'bob brown')
    assert.equal(twice.code, 2)
    assert.match(twice.stderr, /id:9 \(bob@example\.com, Bob Brown\); id:10/)
  })

  test('names are refused with a hint when the server lists no users', async t => {
    const url = await fakeServer(t, (_, response) => json(response, { result: 'error', msg: 'no such path' }, 404))
    const { code, stderr } = await newShell(t, accountAt(url)).run(['typing', 'start', '--to', 'bob'])
    assert.equal(code, 3)
    assert.match(stderr, /cannot look up the user "bob".*\n.*id:123/)
  })
})
