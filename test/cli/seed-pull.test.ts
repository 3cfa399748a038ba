// `natter seed pull`: what is read of a server, that no person's name is in it, and servers that answer wrongly.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { buildSeed } from '../../cli/commands/organization/seed-pull/build-seed.ts'
import { disguisesFor, disguiseText, type Person } from '../../cli/commands/organization/seed-pull/disguise.ts'
import { organizationIn } from '../../cli/commands/test/replay/organization.ts'
import { channels } from '../../daemon/api/channels/channels.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { organization } from '../../daemon/api/organization/organization.ts'
import { users } from '../../daemon/api/people/users.ts'
import { accountAt, fakeServer, json, newShell, type Shell } from '../support/cli.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon, startDaemon } from '../support/daemon.ts'
import { processorTime } from '../support/processor-time.ts'

const seedIn = (shell: Shell, name = 'team.json') => JSON.parse(readFileSync(join(shell.home, name), 'utf8'))

describe('natter seed pull', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })

  const shellAt = (t: TestContext) => {
    const { email, api_key } = daemon().ready.owner
    return newShell(t, accountAt(daemon().url, email, api_key))
  }

  test('writes a seed that a daemon starts with, and no real name or address is in it', async t => {
    const { owner } = daemon()
    const content = 'Ask @**Amy Adams** or @_**Bob Brown|11**, cat@example.org, or Amy.'
    await owner.call(messages.send, { type: 'channel', to: 'general', topic: 'for Bob Brown', content })
    const shell = shellAt(t)
    const pulled = await shell.run(['seed', 'pull', 'team.json', '--channel', 'general', '--messages', '50', '--json'])
    assert.equal(pulled.code, 0, pulled.stderr)
    const figures = JSON.parse(pulled.stdout)
    assert.equal(figures.users, 6)
    assert.equal(figures.bots, 2)
    assert.ok(!existsSync(join(shell.home, 'team.json.partial')))
    const text = readFileSync(join(shell.home, 'team.json'), 'utf8')
    for (const real of ['Amy', 'Adams', 'Bob', 'Brown', 'Ada Admin', 'Olive', 'echo-bot@', 'cat@example.org'])
      assert.ok(!text.includes(real), `${real} is in the seed: ${text.slice(0, 300)}`)
    const other = await startDaemon(t, { flags: ['--memory', '--seed', join(shell.home, 'team.json')] })
    const { members } = await other.owner.call(users.list, {})
    const query = { anchor: 'newest', num_before: 50, apply_markdown: false } as const
    const read = (await other.owner.call(messages.list, query)).messages
    const last = read.find(message => message.content.startsWith('Ask'))!
    // The mention, the topic and the account have the same made-up name.
    const mentioned = /@\*\*(.+?)\*\*/.exec(last.content)![1]!
    assert.ok(members.some(user => user.full_name === mentioned))
    const silently = /@_\*\*(.+?)\*\*/.exec(last.content)![1]!
    assert.equal(last.subject, `for ${silently}`)
  })

  test('refuses to write to stdout: a pull that is interrupted continues from beside its file', async t => {
    const { code, stderr } = await shellAt(t).run(['seed', 'pull', '-'])
    assert.equal(code, 2)
    assert.match(stderr, /file: give the name of a file, not -/)
  })

  test('takes the settings of the organization and of private channels', async t => {
    const from = await startDaemon(t, { flags: ['--memory', '--preset', 'dev', '--control'] })
    const settings = {
      default_language: 'de',
      enable_read_receipts: true,
      message_content_edit_limit_seconds: 'unlimited',
      message_content_delete_limit_seconds: 120,
      message_edit_history_visibility_policy: 'moves',
      giphy_rating: 1,
      welcome_message_custom_text: 'Ask Amy Adams for a key.',
    } as const
    await from.owner.call(organization.update, settings)
    // These would refuse people or messages of the seed.
    await from.owner.call(organization.update, { topics_policy: 'disable_empty_topic', waiting_period_threshold: 30 })
    const secret = {
      name: 'plans',
      subscribers: [from.ready.owner.user_id],
      invite_only: true,
      history_public_to_subscribers: true,
    }
    await from.owner.call(channels.create, secret)
    const { email, api_key } = from.ready.owner
    const shell = newShell(t, accountAt(from.url, email, api_key))
    assert.equal((await shell.run(['seed', 'pull', 'team.json'])).code, 0)
    const seed = seedIn(shell)
    const taken = seed.organization.settings
    const { welcome_message_custom_text: _text, ...set } = settings
    for (const [name, value] of Object.entries(set)) assert.equal(taken[name], value, name)
    for (const name of ['topics_policy', 'waiting_period_threshold']) assert.equal(taken[name], undefined, name)
    assert.match(taken.welcome_message_custom_text, /^Ask (?!Amy Adams).+ for a key\.$/)
    const other = await startDaemon(t, { flags: ['--memory', '--seed', join(shell.home, 'team.json')] })
    const { realm } = await other.owner.call(organization.show, {})
    assert.equal(realm.realm_message_content_edit_limit_seconds, null)
    assert.equal(realm.realm_default_language, 'de')
    const { streams } = await other.owner.call(channels.list, {})
    assert.equal(streams.find(({ name }) => name === 'plans')?.history_public_to_subscribers, true)
    // The queue that showed the settings is gone.
    assert.deepEqual((await new Control(from).try('GET', '/queues')).body.queues, [])
  })

  test('is the same every time with one salt, and keeps names if asked to', async t => {
    const shell = shellAt(t)
    for (const name of ['a.json', 'b.json'])
      assert.equal((await shell.run(['seed', 'pull', name, '--salt-file', 'salt'])).code, 0)
    assert.equal(statSync(join(shell.home, 'salt')).mode & 0o777, 0o600)
    assert.deepEqual(seedIn(shell, 'a.json'), seedIn(shell, 'b.json'))
    assert.equal((await shell.run(['seed', 'pull', 'a.json'])).code, 2)
    assert.equal((await shell.run(['seed', 'pull', 'a.json', '--yes', '--keep-names'])).code, 0)
    const kept = seedIn(shell, 'a.json')
    assert.ok(kept.users.some((user: { full_name: string }) => user.full_name === 'Amy Adams'))
    assert.deepEqual(kept.groups.find((group: { name: string }) => group.name === 'engineering').subgroups, ['backend'])
  })

  test('makes up other names in each pull, so that a list of addresses does not tell whose they are', async t => {
    const content = 'Write to cat@example.org.'
    await daemon().owner.call(messages.send, { type: 'channel', to: 'general', topic: 'salt', content })
    const shell = shellAt(t)
    const names: string[] = []
    for (const name of ['a.json', 'b.json']) {
      assert.equal((await shell.run(['seed', 'pull', name, '--channel', 'general'])).code, 0)
      const { users, messages } = seedIn(shell, name)
      const people = users.map((user: { full_name: string }) => user.full_name)
      names.push(JSON.stringify([people, messages.find((one: { topic: string }) => one.topic === 'salt').content]))
    }
    assert.notEqual(names[0], names[1])
    const known = createHash('sha256').update('cat@example.org').digest('hex').slice(0, 8)
    assert.ok(!names.some(text => text.includes(known)), names[0])
    writeFileSync(join(shell.home, 'short'), 'x')
    const short = await shell.run(['seed', 'pull', 'c.json', '--salt-file', 'short'])
    assert.equal(short.code, 2)
    assert.match(short.stderr, /--salt-file: short must have at least 16 characters/)
  })

  test('refuses channels that the account cannot see, and numbers out of range', async t => {
    const shell = shellAt(t)
    const missing = await shell.run(['seed', 'pull', 'x.json', '--channel', 'nowhere'])
    assert.equal(missing.code, 3)
    assert.match(missing.stderr, /there is no channel nowhere that this account can see/)
    assert.equal((await shell.run(['seed', 'pull', 'x.json', '--messages', '0'])).code, 2)
  })
})

describe('natter seed pull from a server that does not behave', () => {
  const person = {
    user_id: 9,
    email: 'amy@real.example',
    full_name: 'Amy Adams',
    is_active: true,
    is_bot: false,
    role: 100,
  }
  const answers: Record<string, object> = {
    '/api/v1/server_settings': { realm_name: 'Real' },
    '/api/v1/users': { members: [person] },
    '/api/v1/user_groups': { user_groups: [] },
    '/api/v1/streams': {
      streams: [
        { stream_id: 1, name: 'general' },
        { stream_id: 2, name: 'hidden' },
      ],
    },
    '/api/v1/streams/1/members': { subscribers: [9] },
  }
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const found = answers[request.url!.split('?', 1)[0]!]
    if (found) json(response, { result: 'success', msg: '', ...found })
    else json(response, { result: 'error', msg: 'No', code: 'BAD_REQUEST' }, 400)
  }
  const pull = (shell: Shell, ...flags: string[]) => shell.run(['seed', 'pull', 'team.json', ...flags])

  test('waits as long as a rate limit asks', async t => {
    let calls = 0
    const url = await fakeServer(t, (request, response) => {
      if (++calls === 2) json(response, { result: 'error', code: 'RATE_LIMIT_HIT' }, 429, { 'Retry-After': '0.2' })
      else answer(request, response)
    })
    const shell = newShell(t, accountAt(url))
    const { code, stderr } = await pull(shell)
    assert.equal(code, 0, stderr)
    assert.match(stderr, /rate limited, retrying in 0.2 s/)
    assert.deepEqual(
      seedIn(shell).channels.map((channel: { name: string }) => channel.name),
      ['general', 'hidden'],
    )
  })

  test('replaces no file of another program under the name of what it keeps', async t => {
    const shell = newShell(t, accountAt(await fakeServer(t, answer)))
    const partial = join(shell.home, 'team.json.partial')
    for (const text of ['mine', '{"mine":1}']) {
      writeFileSync(partial, text)
      const { code, stderr } = await pull(shell)
      assert.equal(code, 2, stderr)
      assert.match(stderr, /team\.json\.partial exists, and natter did not write it/)
      assert.equal(readFileSync(partial, 'utf8'), text)
    }
  })

  test('goes on where it stopped when the server was too slow', async t => {
    let asked = 0
    let isSlow = true
    const url = await fakeServer(t, (request, response) => {
      asked++
      // Never answered: only the time-out of the caller ends it.
      if (isSlow && request.url!.endsWith('/streams/2/members')) return
      answer(request, response)
    })
    const shell = newShell(t, accountAt(url))
    const stopped = await pull(shell, '--timeout', '1s')
    assert.equal(stopped.code, 8, stopped.stderr)
    assert.match(stopped.stderr, /run the same command again to go on/)
    const partial = join(shell.home, 'team.json.partial')
    assert.equal(statSync(partial).mode & 0o777, 0o600)
    isSlow = false
    asked = 0
    const finished = await pull(shell)
    assert.equal(finished.code, 0, finished.stderr)
    assert.match(finished.stderr, /going on where an earlier pull stopped/)
    assert.equal(asked, 1, 'only what was missing is asked for')
    assert.ok(!existsSync(partial))
  })

  test('disguises people who have left, short names, and names in scripts without spaces or in another Unicode form', async t => {
    const names = ['Maria Former', '李明', '山田太郎', '김 민수', 'Bo', 'Al Xu', 'José Núñez', 'IT']
    const members = names.map((full_name, index) => ({
      ...person,
      user_id: index + 1,
      email: `p${index}@real.example`,
      full_name,
      is_active: full_name !== 'Maria Former',
    }))
    const description = [
      'led by Maria Former',
      'hello @**李明**',
      '山田太郎さんはいますか',
      '민수는 Mariaさん',
      '@**bo** or Bo, bold',
      'Al Xu, al xu, Al',
      'and José Núñez'.normalize('NFD'),
      'it is ours',
    ].join('\n')
    const many: Record<string, object> = {
      '/api/v1/users': { members },
      '/api/v1/streams': { streams: [{ stream_id: 1, name: 'general', description }] },
    }
    const url = await fakeServer(t, (request, response) => {
      const found = many[request.url!.split('?', 1)[0]!]
      if (found) json(response, { result: 'success', msg: '', ...found })
      else answer(request, response)
    })
    const shell = newShell(t, accountAt(url))
    const { code, stderr } = await pull(shell)
    assert.equal(code, 0, stderr)
    const { users, channels } = seedIn(shell)
    assert.equal(users.length, 6, 'the owner is not in the list, nor is the person who has left')
    const madeUp = String.raw`[A-Z][a-z]+ [A-Z][a-z]+(?: \d+)?`
    const lines = [
      `led by ${madeUp}`,
      String.raw`hello @\*\*${madeUp}\*\*`,
      `${madeUp}さんはいますか`,
      '[A-Z][a-z]+는 (?!Maria)[A-Z][a-z]+さん',
      String.raw`@\*\*(${madeUp})\*\* or \1, bold`,
      String.raw`(${madeUp}), \2, Al`,
      `and ${madeUp}`,
      'it is ours',
    ]
    assert.match(channels[0].description, new RegExp(`^${lines.join('\n')}$`))
  })

  const salt = Buffer.from('a salt of many characters')
  const disguised = (people: readonly Person[], text: string) =>
    disguiseText(people, disguisesFor(people, salt), salt)(text)

  test('disguises whole addresses in all scripts, and those at example.com, the domain of made-up ones', () => {
    const people = [
      { userId: 1, email: 'jörg@straße.de', fullName: 'Jörg Vogel', isBot: false },
      { userId: 2, email: 'ann@example.com', fullName: 'Ann Müller', isBot: false },
    ]
    const [jörg, ann] = [...disguisesFor(people, salt).values()].map(({ email }) => email)
    const known = 'jörg@straße.de, Jörg@STRAßE.de, ann@example.com'
    assert.equal(disguised(people, known), `${jörg}, ${jörg}, ${ann}`)
    const others = [
      'jean@société.fr',
      'müller@example.com',
      'h.müller+x@example.com',
      'zoë_ß@xn--socit-esab.fr',
      'andre\u0301@real.example',
      'иван@почта.рф',
      '太郎@例え.jp',
      'θ@παράδειγμα.δοκιμή',
      'amy@उदाहरण.भारत',
      'amy@example.com',
    ]
    for (const address of others)
      assert.match(disguised(people, `to <${address}>.`), /^to <someone-[\da-f]{8}@example\.com>\.$/, address)
  })

  test('finds addresses in time in proportion to the length of a text', async () => {
    for (const piece of ['é', 'é@', 'é.', 'é@é', `${'é'.repeat(64)}@${'é'.repeat(63)}`]) {
      const time = await processorTime(() => void disguised([], piece.repeat(500_000 / piece.length)))
      assert.ok(time < 5000, `${piece.slice(0, 5)}: ${time} ms of processor time`)
    }
  })

  test('disguises an organization of thousands of people', { timeout: 300_000 }, async t => {
    const members = Array.from({ length: 4000 }, (_, index) => ({
      ...person,
      user_id: index + 1,
      email: `p${index}@real.example`,
      full_name: `First${index} Last${index} O'Neill-${index}`,
    }))
    const description = `Ask FIRST7 last7 O'Neill-7, first8's team or p9@real.example, not xFirst9. ${'The fox jumps. '.repeat(60)}`
    const streams = Array.from({ length: 20 }, (_, index) => ({ stream_id: index + 1, name: `c${index}`, description }))
    const many: Record<string, object> = { '/api/v1/users': { members }, '/api/v1/streams': { streams } }
    const url = await fakeServer(t, (request, response) => {
      const found = many[request.url!.split('?', 1)[0]!]
      if (found) json(response, { result: 'success', msg: '', ...found })
      else answer(request, response)
    })
    const shell = newShell(t, accountAt(url))
    const { code, stderr } = await shell.run(['seed', 'pull', 'team.json'])
    assert.equal(code, 0, stderr)
    const { users, channels } = seedIn(shell)
    const [whole, part, address] = /^Ask (.+), (.+)'s team or (.+), not xFirst9\. The fox/
      .exec(channels[0].description)!
      .slice(1)
    assert.ok(
      users.some((user: { full_name: string }) => user.full_name === whole),
      whole,
    )
    assert.ok(
      users.some((user: { full_name: string }) => user.full_name.split(' ')[0] === part),
      part,
    )
    assert.ok(
      users.some((user: { email: string }) => user.email === address),
      address,
    )
    assert.equal(new Set(users.map((user: { full_name: string }) => user.full_name)).size, users.length)
  })

  test('names accounts with the same name, and finds callers of a recording, in time in proportion to their number', async () => {
    const count = 40_000
    const calls = Array.from({ length: count }, (_, call) => ({
      call,
      time: 0,
      user: `a@x${call}.example`,
      method: 'GET',
      path: '/api/v1/users/me',
      endpoint: 'get-own-user',
      sent: {},
      status: 200,
      answer: {},
    }))
    const time = await processorTime(() => {
      const { users } = buildSeed(organizationIn({ frozen: true, calls }), { salt: undefined, now: 0 })
      assert.equal(new Set(users.map(({ name }) => name)).size, count)
    })
    assert.ok(time < 5000, `${time} ms of processor time`)
  })

  test('ends at a page of a proxy, and leaves nothing out because of it', async t => {
    for (const status of [200, 401]) {
      let isPage = true
      const url = await fakeServer(t, (request, response) => {
        if (isPage && request.url!.endsWith('/streams/1/members')) response.writeHead(status).end('<html>Log in</html>')
        else answer(request, response)
      })
      const shell = newShell(t, accountAt(url))
      const stopped = await pull(shell)
      assert.equal(stopped.code, 1, stopped.stderr)
      assert.match(stopped.stderr, /answered, but it is not a chat server/)
      isPage = false
      assert.equal((await pull(shell)).code, 0)
    }
  })

  test('refuses a server that is not a chat server', async t => {
    const url = await fakeServer(t, (_request, response) => response.writeHead(200).end('<html>Hello</html>'))
    const { code, stderr } = await pull(newShell(t, accountAt(url)))
    assert.equal(code, 1)
    assert.match(stderr, /answered, but it is not a chat server/)
  })
})
