// Needs of scripts beside a plain call: pages, files, the daemon's clock, waiting for a server, a config file, help.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inProcess } from '../support/cli-in-process.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'
import type { Outcome } from '../support/natter-bundle.ts'

const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev', '--clock', 'frozen@2030-03-04T09:30:00Z'] })
const folder = mkdtempSync(join(tmpdir(), 'natter-edges-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function natter(args: readonly string[], env: Record<string, string> = {}, input = ''): Promise<Outcome> {
  const { url, ready } = daemon()
  const { email, api_key } = ready.owner
  const account = { NATTER_SITE: url, NATTER_EMAIL: email, NATTER_API_KEY: api_key }
  return inProcess(args, { env: { ...account, NATTER_CONTROL_TOKEN: ready.control_token!, ...env }, input })
}

async function printed(args: readonly string[], env: Record<string, string> = {}, input = ''): Promise<string> {
  const { code, stdout, stderr } = await natter(args, env, input)
  assert.equal(code, 0, `natter ${args.join(' ')}: ${stderr}`)
  return stdout
}

function fileWith(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

describe('--idempotency-key', () => {
  const send = ['send', '#general>once', 'Only once', '--idempotency-key', 'deploy-17']

  test('makes a change once, however often it is sent', async () => {
    const first = await printed(send)
    assert.equal(await printed(send), first)
    const found = await printed(['messages', 'list', '--topic', 'once', '--jq', '[.messages[].content]'])
    assert.equal(found, '["Only once"]\n')
    const path = ['api', 'POST', '/saved_snippets', '-f', 'title=a', '-f', 'content=b', '--idempotency-key', 'x']
    const calls = [
      await printed([...path, '--jq', '.saved_snippet_id']),
      await printed([...path, '--jq', '.saved_snippet_id']),
    ]
    assert.equal(calls[0], calls[1])
  })

  test('is part of the request that --dry-run and --curl show', async () => {
    assert.match(await printed([...send, '--curl']), /-H 'Idempotency-Key: deploy-17'/)
    assert.match(await printed([...send, '--dry-run']), /^Idempotency-Key: deploy-17$/m)
  })

  for (const [what, args, message] of [
    ['spaces in it', ['send', '#general>x', 'x', '--idempotency-key', 'a b'], /must be 1 to 255/],
    ['a call that changes nothing', ['users', 'me', '--idempotency-key', 'a'], /is for calls that change something/],
    ['a batch', ['send', '#general>x', '--batch', '-', '--idempotency-key', 'a'], /cannot be combined/],
  ] as const)
    test(`is refused with ${what}`, async () => {
      const { code, stderr } = await natter(args)
      assert.equal(code, 2)
      assert.match(stderr, message)
    })
})

describe('natter send', () => {
  test('to the name of a channel without # says how to write it', async () => {
    const { code, stderr } = await natter(['send', 'general', 'Hi'])
    assert.equal(code, 3)
    assert.match(stderr, /there is no user "general"\n {2}For the channel, write '#general>topic'\./)
  })
})

describe('recipients in a list', () => {
  test('are shown by name to people, and by ID in JSON', async () => {
    await printed(['scheduled', 'create', '#general>named', 'To a channel', '--at', '+2h'])
    await printed(['scheduled', 'create', 'amy', 'To a person', '--at', '+2h'])
    await printed(['drafts', 'create', 'amy', 'A draft'])
    const scheduled = await printed(['scheduled', 'list'])
    assert.match(scheduled, /#general .*named .*To a channel/)
    assert.match(scheduled, /Amy\b.*To a person/)
    assert.match(await printed(['drafts', 'list']), /Amy\b.*A draft/)
    const [first] = JSON.parse(await printed(['scheduled', 'list', '--json'])).scheduled_messages
    assert.equal(typeof first.to, 'number', 'programs see what the API sends')
  })
})

describe('a file that cannot be read', () => {
  const missing = join(folder, 'missing')
  for (const args of [
    ['send', '#general>x', '--batch', missing],
    ['send', '#general>x', 'x', '--file', missing],
    ['api', 'POST', '/messages', '--input', missing],
    ['api', 'POST', '/messages', '-F', `content=@${missing}`],
    ['users', 'me', '--ready-file', missing],
    ['profile', 'add', 'copy', '--from-zuliprc', missing],
    ['replay', missing],
    ['bot', 'run', `${missing}.ts`, '--as', 'echo-bot'],
    ['snapshot', 'import', missing, 'copy'],
  ])
    test(`ends natter ${args.slice(0, 2).join(' ')} with 2`, async () => {
      const { code, stderr } = await natter(args)
      assert.equal(code, 2, stderr)
      assert.match(stderr, /missing/)
    })
})

describe('relative times', () => {
  const frozen = Date.parse('2030-03-04T09:30:00Z') / 1000

  test('refer to the clock of the daemon when something is scheduled', async () => {
    await printed(['scheduled', 'create', '#general>later', 'Wake up', '--at', '+2h'])
    const at = await printed(['scheduled', 'list', '--jq', '.scheduled_messages[0].scheduled_delivery_timestamp'])
    assert.equal(Number(at), frozen + 7200)
  })

  test('refer to it when looking back', async () => {
    const id = (await printed(['send', '#general>back', 'just now'])).trim()
    for (const args of [
      ['wait', '--match', 'just now', '--since', '10m', '--within', '20s'],
      ['messages', 'list', '--topic', 'back', '--since', '10m'],
    ])
      assert.equal(await printed([...args, '--ndjson', '--jq', '.message.id // .id']), `${id}\n`, args.join(' '))
  })

  test('are shown as distances from it', async () => {
    const sender = ['--as', 'amy']
    await printed(['presence', 'active', ...sender])
    assert.match(await printed(['seen', 'show', 'amy@example.com']), /just now/)
    await printed(['clock', 'advance', '10m'])
    assert.match(await printed(['seen', 'show', 'amy@example.com']), /10 min ago/)
  })

  test('are understood by clock set', async () => {
    await printed(['clock', 'set', 'tomorrow 9:00'])
    assert.match(await printed(['clock', 'show', '--json']), /2030-03-05T09:00:00/)
  })

  test('need no server if the request is only printed', async () => {
    const { NATTER_SITE } = { NATTER_SITE: `http://127.0.0.1:${await freePort()}` }
    const text = await printed(['scheduled', 'create', 'id:9', 'x', '--at', '+2h', '--dry-run'], { NATTER_SITE })
    assert.match(text, /scheduled_delivery_timestamp=\d+/)
  })
})

describe('natter api', () => {
  before(async () => {
    for (let i = 1; i <= 5; i++) await printed(['send', '#general>pages', `page ${i}`])
  })

  const narrow = ['-F', 'narrow=[["topic","pages"]]', '-f', 'apply_markdown=false']
  const contents = ['--jq', '.messages[].content']

  test('--paginate gets all messages, forward from the oldest', async () => {
    const pages = await printed(['api', 'GET', '/messages', '--paginate', ...narrow, '-F', 'num_after=2', ...contents])
    assert.equal(pages, 'page 1\npage 2\npage 3\npage 4\npage 5\n')
    const calls = await printed([
      'api',
      'GET',
      'messages?num_after=2',
      '--paginate',
      ...narrow,
      '--jq',
      '.messages|length',
    ])
    assert.equal(calls, '2\n2\n1\n')
    assert.equal(await printed(['api', 'GET', '/messages', '--paginate', ...narrow, ...contents]), pages)
  })

  test('--paginate goes back from the newest with num_before', async () => {
    const pages = await printed(['api', 'GET', '/messages', '--paginate', ...narrow, '-F', 'num_before=2', ...contents])
    assert.equal(pages, 'page 4\npage 5\npage 2\npage 3\npage 1\n')
  })

  test('--paginate is refused where there are no pages', async () => {
    const { code, stderr } = await natter(['api', 'GET', '/users', '--paginate'])
    assert.equal(code, 2)
    assert.match(stderr, /only GET \/messages has pages/)
  })

  test('-F NAME=@FILE sends the text of a file, and @- that of stdin', async () => {
    const content = 'a "text"\n\nwith lines & signs'
    const to = ['api', 'POST', '/messages', '-f', 'type=channel', '-f', 'to=general', '-f', 'topic=files']
    const file = fileWith('message.md', content)
    const ids = [
      await printed([...to, '-F', `content=@${file}`, '--jq', '.id']),
      await printed([...to, '-F', 'content=@-', '--jq', '.id'], {}, content),
    ]
    for (const id of ids)
      assert.equal(await printed(['messages', 'show', id.trim(), '--jq', '.message.content']), `${content}\n`)
    const absent = await natter([...to, '-F', 'content=@/nonexistent/file'])
    assert.deepEqual([absent.code, /cannot read \/nonexistent\/file: ENOENT/.test(absent.stderr)], [2, true])
  })
})

describe('natter ready', () => {
  test('says that a server is ready, in words and as JSON', async () => {
    const { url } = daemon()
    assert.equal(await printed(['ready']), `ready  ${url}\n`)
    assert.equal(await printed(['ready', url, '--json', '--jq', '.state'], { NATTER_SITE: '' }), 'ready\n')
    assert.equal(await printed(['ready', '--dry-run']), `GET ${url}/readyz\n`)
  })

  test('exits with 6 if nothing answers, and with 8 if --wait ends first', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    assert.equal((await natter(['ready', url])).code, 6)
    const { code, stderr } = await natter(['ready', '--wait', '--within', '120ms', url])
    assert.deepEqual([code, stderr], [8, `natter: ${url} was not ready within 0.12 s: nothing answers\n`])
    const absent = await natter(['ready', '--wait', '--within', '120ms', '--ready-file', 'none.json'], {
      NATTER_SITE: '',
    })
    assert.equal(absent.code, 8)
    assert.match(
      absent.stderr,
      /^natter: there was no ready file none\.json within 0\.12 s\n {2}The log of the daemon says why/,
    )
  })

  test('waits for another ready file in place of one whose daemon has ended', async () => {
    const file = join(folder, 'replaced.json')
    writeFileSync(file, JSON.stringify({ ...daemon().ready, url: `http://127.0.0.1:${await freePort()}` }))
    const words = ['ready', '--wait', '--ready-file', file]
    assert.equal((await natter([...words, '--within', '120ms'], { NATTER_SITE: '' })).code, 8)
    const waiting = natter([...words, '--within', '60s'], { NATTER_SITE: '' })
    writeFileSync(file, JSON.stringify(daemon().ready))
    const { code, stdout, stderr } = await waiting
    assert.deepEqual([code, stdout], [0, `ready  ${daemon().url}\n`], stderr)
  })

  test('goes on while the ready file of an ended daemon is removed and the new one is not written yet', async () => {
    const file = join(folder, 'removed.json')
    const old = createServer(() => {})
    await new Promise<void>(done => void old.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(old.address() as AddressInfo).port}`
    writeFileSync(file, JSON.stringify({ ...daemon().ready, url }))
    const asked = new Promise<void>(done => old.once('connection', () => done()))
    const words = ['ready', '--wait', '--within', '60s', '--timeout', '100ms', '--ready-file', file]
    const waiting = natter(words, { NATTER_SITE: '' })
    await asked
    rmSync(file)
    const first = await Promise.race([waiting, sleep(500)])
    writeFileSync(file, JSON.stringify(daemon().ready))
    const { code, stdout, stderr } = await waiting
    old.close()
    assert.deepEqual([first, code, stdout], [undefined, 0, `ready  ${daemon().url}\n`], stderr)
  })

  test('waits for a ready file that is not there yet', async () => {
    const file = join(folder, 'ready.json')
    const waiting = natter(['ready', '--wait', '--within', '60s', '--ready-file', file], { NATTER_SITE: '' })
    writeFileSync(file, JSON.stringify(daemon().ready))
    const { code, stdout, stderr } = await waiting
    assert.deepEqual([code, stdout], [0, `ready  ${daemon().url}\n`], stderr)
  })
})

describe('the config file', () => {
  test('sets a flag; the environment and the flag itself win over it', async () => {
    const NATTER_CONFIG = fileWith('config.json', '{"color": "always", "quiet": true, "daemon": {"port": 1}}')
    const colored = async (args: string[], env = {}) =>
      (await printed(['users', 'me', ...args], { NATTER_CONFIG, ...env })).includes('\u001b[')
    assert.equal(await colored([]), true)
    assert.equal(await colored([], { NATTER_COLOR: 'never' }), false)
    assert.equal(await colored(['--color', 'always'], { NATTER_COLOR: 'never' }), true)
    const { code, stderr } = await natter(['users', 'list'], { NATTER_COLOR: 'red' })
    assert.deepEqual([code, stderr], [2, 'natter: NATTER_COLOR: "red" is not always, never or auto\n'])
    const rows = JSON.parse(await printed(['config', 'explain', '--json'], { NATTER_CONFIG, NATTER_TIMEOUT: '20s' }))
    const row = (name: string) => rows.find(({ value }: { value: string }) => value === name)
    assert.deepEqual(row('timeout'), { value: 'timeout', is: '20s', from: 'NATTER_TIMEOUT' })
    assert.deepEqual(row('quiet'), { value: 'quiet', is: 'true', from: NATTER_CONFIG })
  })

  test('refuses what it does not know, with a suggestion', async () => {
    for (const [text, message] of [
      ['{"timout": "1s"}', /there is no key "timout". Did you mean timeout\?/],
      ['{"daemon": {"prot": 1}}', /there is no key "daemon.prot". Did you mean daemon.port/],
      ['{"timeout": []}', /"timeout" is not a text, a number, true or false/],
      ['[]', /the file is not a JSON object/],
      ['{', /JSON/],
    ] as const) {
      const { code, stderr } = await natter(['users', 'list'], { NATTER_CONFIG: fileWith('wrong.json', text) })
      assert.equal(code, 2, text)
      assert.match(stderr, message)
    }
    const absent = await natter(['users', 'list'], { NATTER_CONFIG: '/nonexistent/config.json' })
    assert.match(absent.stderr, /cannot read the config file \/nonexistent\/config.json: ENOENT/)
  })
})

describe('natter --help', () => {
  test('fits one screen', async () => {
    const lines = (await printed(['--help'])).trimEnd().split('\n')
    assert.ok(lines.length <= 30, `${lines.length} lines`)
    assert.deepEqual(
      lines.filter(line => line.length > 80),
      [],
    )
  })

  test('names subcommands and topics that exist', async () => {
    const help = await printed(['--help'])
    const names: string[] = JSON.parse(await printed(['commands', '--json'])).map(({ name }: { name: string }) => name)
    for (const [, words] of help.matchAll(/^ {2}natter ([a-z]+(?: [a-z]+)?)/gm)) {
      if (words!.startsWith('help ')) assert.ok((await printed(words!.split(' '))).length > 100, words)
      else
        assert.ok(
          names.some(name => `${words} `.startsWith(`${name} `)),
          words,
        )
    }
  })

  for (const topic of ['all', 'flags', 'cheats', 'scripts', 'exit-codes', 'environment', 'config', 'narrow'])
    test(`${topic} fits a terminal of 80 columns`, async () => {
      const lines = (await printed(['help', topic])).split('\n')
      assert.deepEqual(
        lines.filter(line => line.length > 80),
        [],
      )
    })

  test('cheats has every recipe of the cookbook', async () => {
    const cheats = await printed(['help', 'cheats'])
    assert.match(cheats, /^1\. See who you are\n {2}natter users me --fields email,full_name\n/m)
    assert.ok([...cheats.matchAll(/^\d+\. /gm)].length >= 20)
  })

  test('config and flags list the flags that can be set', async () => {
    assert.match(await printed(['help', 'config']), /--timeout +NATTER_TIMEOUT +"timeout"/)
    const flags = await printed(['help', 'flags'])
    for (const flag of ['--jq EXPR', '--as ACCOUNT', '--dry-run', '--resume FILE', '-0, --null'])
      assert.ok(flags.includes(flag), flag)
  })
})
