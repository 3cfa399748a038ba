// Snapshots that a stranger wrote: each is refused with a sentence that names the row, or makes a world that works. The daemon
// and its other spaces go on in either case.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { events } from '../../daemon/api/events.ts'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Caller, sharedDaemon } from '../support/daemon.ts'
import { changed, type Document, original } from '../support/edited-snapshot.ts'
import type { HttpReply } from '../support/http.ts'
import { openSpace, type TestSpace } from '../support/spaces.ts'

function load({ control }: TestSpace, text: string): Promise<HttpReply> {
  return control.try('POST', '/snapshots/theirs/file', { document: text })
}

/** Every account of the world can use it. */
async function use({ control, url }: TestSpace): Promise<void> {
  await control.call('POST', '/snapshots/theirs/restore')
  const { accounts } = await control.call('GET', '/accounts')
  for (const { user_id, email, api_key } of accounts) {
    const caller = new Caller(url, email, api_key, user_id)
    const calls = [
      [events.register, {}],
      [messages.list, { anchor: 'newest', num_before: 100, num_after: 0 }],
      [users.list, {}],
      [messages.send, { type: 'direct', to: [user_id], content: 'Still *here*' }],
    ] as const
    for (const [endpoint, params] of calls) {
      const { status, text } = await caller.try(endpoint as typeof users.list, params as Record<string, unknown>)
      assert.ok(status < 500, `${endpoint.id} of ${email}: ${status} ${text}`)
    }
  }
  const again = await control.try('GET', '/snapshots/now/file')
  assert.equal(again.status, 200, again.text)
  const back = await control.try('POST', '/snapshots/again/file', { document: again.text })
  assert.equal(back.status, 200, back.text)
}

describe('a snapshot file from a stranger', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--control'] })

  test('with rows of every kind is a world that works', async () => {
    const space = await openSpace(daemon())
    assert.equal((await load(space, original)).status, 200)
    await use(space)
  })

  const mistakes: [what: string, change: (sections: Document['sections']) => unknown, sentence: RegExp][] = [
    [
      'settings that are null',
      s => Object.assign(s.users[1], { settings: null }),
      /users, row 2: settings: must be an object/,
    ],
    [
      'the message -1',
      s => Object.assign(s.messages[1], { id: -1 }),
      /messages, row 2: id: must be an integer from 1 to \d+/,
    ],
    [
      'the message 1e15',
      s => Object.assign(s.messages[1], { id: 1e15 }),
      /messages, row 2: id: must be an integer from 1 to \d+/,
    ],
    [
      'a last ID of 2^53',
      s => Object.assign(s.messages[0], { last_id: 2 ** 53 }),
      /messages, row 1: last_id: must be an integer/,
    ],
    [
      'a last ID far above its messages',
      s => Object.assign(s.messages[0], { last_id: 2 ** 28 }),
      /messages: the ID 268435456 is too high for the number of rows; give IDs up to \d+/,
    ],
    [
      'a message in the last of many empty segments',
      s => s.messages.push({ ...s.messages[1], id: 2 ** 28 }),
      /messages: the ID 268435456 is too high/,
    ],
    ...['read', 'unread', 'starred', 'collapsed', 'historical', 'gained', 'lost'].map(
      set =>
        [
          `messages that do not exist marked as ${set}`,
          (s: Document['sections']) => s.messageFlags.splice(0, 1, { userId: 2, [set]: [1, 2 ** 28] }),
          /messageFlags: the ID 268435456 is too high/,
        ] as [string, (sections: Document['sections']) => unknown, RegExp],
    ),
    [
      'an ID that is a text',
      s => Object.assign(s.users[1], { id: '1' }),
      /users, row 2: id: must be an integer from 1 to 5000000/,
    ],
    [
      'a user ID that takes memory',
      s => Object.assign(s.users[1], { id: 2 ** 31 }),
      /users, row 2: id: must be an integer from 1 to/,
    ],
    ['the same user twice', s => s.users.push(s.users[1]), /users, row \d+: there is an earlier row for the same/],
    [
      'a role that is none',
      s => Object.assign(s.users[2], { role: 150 }),
      /users, row 3: role: must be 100, 200, 300, 400 or 600/,
    ],
    [
      'a sender who is missing',
      s => Object.assign(s.messages[1], { senderId: 999 }),
      /messages, the row with the ID 1: senderId: there is no user 999/,
    ],
    [
      'a channel that is missing',
      s => Object.assign(s.messages[1], { channelId: 999 }),
      /messages, the row with the ID 1: channelId: there is no channel 999/,
    ],
    [
      'a message that is nowhere',
      s => {
        delete s.messages[1].topic
      },
      /messages, row 2: must have channelId and topic/,
    ],
    [
      'an active subscription that has ended',
      s => Object.assign(s.subscriptions[0], { active: true, spans: [] }),
      /subscriptions, row 1: spans: the last must have no end if the subscription is active/,
    ],
    [
      'a field of another',
      s => Object.assign(s.channels[1], { secret: 1 }),
      /channels, row 2: secret: is not a field of such a row/,
    ],
    [
      'a setting that is none',
      s => Object.assign(s.users[1], { settings: { volume: 11 } }),
      /users, row 2: settings\["volume"\]: is not/,
    ],
    [
      'a permission of nobody',
      s => Object.assign(s.channels[1].permissions, { can_send_message_group: 999 }),
      /channels, the row with the ID 1: permissions.can_send_message_group: there is no group 999/,
    ],
    [
      'a time before 1970',
      s => Object.assign(s.users[1], { joined: -1 }),
      /users, row 2: joined: must be a number from 0 to/,
    ],
    ['a section that is no list', s => Object.assign(s, { users: {} }), /a section is not a list of rows/],
    ['a section of another program', s => Object.assign(s, { beans: [{}] }), /"beans" is not a section of rows/],
    [
      'a row that is nested',
      s => Object.assign(s.drafts[1], { to: [[[[[[]]]]]] }),
      /drafts, row 2: to\[0\]: must be an integer/,
    ],
    ['no organization', s => Object.assign(s, { organization: [] }), /organization: the row is missing/],
    ['two organizations', s => s.organization.push(s.organization[0]), /organization, row 2: there is an earlier row/],
    [
      'no owner',
      s => {
        for (const user of s.users) if (user.role === 100) user.role = 400
      },
      /users: there is no active owner/,
    ],
    ['no system groups', s => s.groups.splice(1), /groups: the system group role:nobody is missing/],
    [
      'a path as the name of a file',
      s => Object.assign(s.attachments[1], { file: '../secret' }),
      /attachments, row 2: file: must be a text that matches/,
    ],
    [
      'a pattern that is none',
      s => Object.assign(s.linkifiers[1], { pattern: '(' }),
      /linkifiers, the row with the ID 1: pattern: must be a regular expression/,
    ],
    [
      'runs that go backwards',
      s => Object.assign(s, { messageFlags: [{ userId: 1, read: [9, 1] }] }),
      /messageFlags, row 1: read: must be pairs/,
    ],
    [
      'a run without an end',
      s => Object.assign(s, { messageFlags: [{ userId: 1, read: [1, 1e15] }] }),
      /messageFlags, row 1: read\[1\]: must be an integer/,
    ],
    [
      'a clock of another age',
      s => Object.assign(s, { clock: [{ frozenAt: 1e18 }] }),
      /clock, row 1: frozenAt: must be a number from 0 to/,
    ],
    [
      'an upload that is no base64',
      s => Object.assign(s, { uploads: [{ name: 'a'.repeat(64), content: '!' }] }),
      /uploads, row 1: content: must be a text that matches/,
    ],
    [
      'an upload of another name',
      s => Object.assign(s, { uploads: [{ name: 'a'.repeat(64), content: 'aaaa' }] }),
      /uploads, row 1: name: must be the SHA-256/,
    ],
    [
      'a long alert word',
      s => Object.assign(s.alertWords[1], { words: ['.'.repeat(201)] }),
      /alertWords.*200 characters/,
    ],
    [
      'no rows at all',
      s => {
        for (const name of Object.keys(s)) delete s[name]
      },
      /users: there is no active owner/,
    ],
  ]

  test('is refused with the place and what is expected', async () => {
    const space = await openSpace(daemon())
    for (const [what, change, sentence] of mistakes) {
      const { status, body } = await load(space, changed(change))
      assert.equal(status, 400, `${what}: ${JSON.stringify(body)}`)
      assert.equal(body.code, 'BAD_REQUEST')
      assert.match(body.msg, sentence, what)
      assert.match(body.msg, /^document: /, what)
    }
    await space.owner.call(users.me, {})
    await daemon().owner.call(users.me, {})
  })

  test('with keys of the prototype changes none', async () => {
    const space = await openSpace(daemon())
    for (const place of ['"settings":{', '"profile":{', '"sections":{', '"permissions":{']) {
      const text = original.replace(place, `${place}"__proto__":{"polluted":"yes"},`)
      const { status, body } = await load(space, text)
      assert.equal(status, 400, `${place}: ${JSON.stringify(body)}`)
    }
  })

  test('with rows nested deeply, or very many of them, is answered', async () => {
    const space = await openSpace(daemon())
    const deep = original.replace('"settings":{}', `"settings":${'['.repeat(100_000)}${']'.repeat(100_000)}`)
    assert.equal((await load(space, deep)).status, 400)
    const withSums = deep.replace('"sums":"edited"', '"sums":{"head":"","sections":{}}')
    const refused = await load(space, withSums)
    assert.equal(refused.status, 400)
    assert.doesNotMatch(refused.body.msg, /call stack/)
    const many = (length: number) =>
      changed(sections => {
        const [first] = sections.alertWords.slice(1)
        sections.alertWords = [...sections.alertWords, ...Array.from({ length }, () => first)]
      })
    assert.equal((await load(space, many(20_000))).status, 400)
    assert.equal((await load(space, many(50_000))).status, 413)
  })

  test('with more linkifiers, or larger ones, than an organization may have is refused before they are compiled', async () => {
    const space = await openSpace(daemon())
    const withPatterns = (length: number, pattern: string) =>
      changed(({ linkifiers }) => {
        const [head, row] = linkifiers
        const id = head.last_id + 1
        head.last_id += length
        for (let n = 0; n < length; n++)
          linkifiers.push({ ...row, id: id + n, order: id + n, pattern: `${pattern}${n}` })
      })
    const refused: [text: string, said: RegExp][] = [
      [withPatterns(200, 'x'), /linkifiers: there are 20\d, and at most 100 are allowed/],
      [
        withPatterns(1, '(?:x{900}){1}'.repeat(1000)),
        /pattern: must be a regular expression \(RE2\): the pattern repeats too much/,
      ],
      [withPatterns(50, 'x{900}'), /pattern: is too long together with the patterns before it/],
      [withPatterns(1, 'x'.repeat(500_000)), /pattern: must have at most 20000 characters/],
    ]
    for (const [text, said] of refused) {
      const { status, body } = await load(space, text)
      assert.equal(status, 400)
      assert.match(body.msg, said)
    }
  })

  test('with the type or the name of an upload that no header can have makes that upload one of bytes', async () => {
    const space = await openSpace(daemon())
    const file = { filename: 'a.txt', contentType: 'text/plain', bytes: Buffer.from('some bytes') }
    const { url } = await space.owner.call(uploads.upload, { file })
    const { text } = await space.control.try('GET', '/snapshots/now/file')
    const document = JSON.parse(text) as Document
    document.sums = 'edited'
    Object.assign(document.sections.attachments.at(-1), {
      contentType: 'text/html\u010d\u010aX: y',
      name: '\ud800.txt',
    })
    assert.equal((await load(space, JSON.stringify(document))).status, 200)
    await space.control.call('POST', '/snapshots/theirs/restore')
    const served = await space.owner.raw('GET', url)
    assert.deepEqual([served.status, served.text], [200, 'some bytes'])
    assert.equal(served.headers['content-type'], 'application/octet-stream')
  })

  test('with a bot whose server has no valid address is a world that works', async () => {
    const space = await openSpace(daemon())
    const text = changed(({ users }) => {
      const bot = { type: 3, ownerId: 2, system: false, service: { url: 'http://[', interface: 1 } }
      users.push({ ...users[3], id: 4, email: 'bot@example.com', bot })
      users[0].last_id = 4
    })
    assert.equal((await load(space, text)).status, 200)
    await use(space)
    const { accounts } = await space.control.call('GET', '/accounts')
    const { user_id, email, api_key } = accounts.find(({ email }: { email: string }) => email.startsWith('owner'))
    await new Caller(space.url, email, api_key, user_id).call(messages.send, { type: 'direct', to: [4], content: 'Hi' })
    const wanted = { status: 'failed', bot: 'bot@example.com', within: '10s' }
    const { webhook } = await space.control.call('POST', '/webhooks/wait', wanted)
    assert.equal(webhook?.error, 'The URL of the bot’s server is not valid')
  })

  test('that is changed anywhere is refused with a sentence or is a world that works', async () => {
    const space = await openSpace(daemon())
    let accepted = 0
    let refused = 0
    await fc.assert(
      fc.asyncProperty(change, async how => {
        const document = JSON.parse(original) as Document
        how(document)
        const reply = await load(space, JSON.stringify(document))
        if (reply.status === 400) {
          assert.match(reply.body.msg, /^document: \S.{10,}/s)
          refused++
          assert.doesNotMatch(reply.body.msg, /undefined|is not a function|Cannot read|\[object|not iterable/)
          return
        }
        assert.equal(reply.status, 200, reply.text)
        accepted++
        await use(space)
      }),
      { numRuns: Number(process.env.NATTER_SNAPSHOT_RUNS ?? 60) },
    )
    await daemon().owner.call(users.me, {})
    // Both outcomes were seen, so neither the checks nor the changes are for nothing.
    assert.ok(accepted > 0 && refused > 0, `${accepted} accepted, ${refused} refused`)
  })
})

/** Values that are no rows, or not these. */
const strange: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1,
  2,
  7,
  1e15,
  2 ** 53,
  -(2 ** 31),
  '',
  'x',
  '1',
  '__proto__',
  '\0',
  'a'.repeat(30_000),
  [],
  [[]],
  [null],
  {},
  { id: 1 },
  { last_id: 5 },
  { __proto__: null, constructor: 1 },
]

/** Goes down into the document, and deletes, replaces or doubles what it comes to. */
const change = fc
  .record({
    way: fc.array(fc.nat(1000), { minLength: 2, maxLength: 6 }),
    what: fc.constantFrom('delete', 'replace', 'double', 'swap'),
    value: fc.constantFrom(...strange),
  })
  .map(({ way, what, value }) => (document: Document) => {
    let holder: any = document.sections
    let key: any
    for (const [index, step] of way.entries()) {
      const keys = Object.keys(holder)
      if (keys.length === 0) break
      key = keys[step % keys.length]
      const inner = holder[key]
      if (index === way.length - 1 || typeof inner !== 'object' || inner === null || Object.keys(inner).length === 0)
        break
      holder = inner
    }
    if (key === undefined) return
    if (what === 'delete') {
      if (Array.isArray(holder)) holder.splice(Number(key), 1)
      else delete holder[key]
    } else if (what === 'double' && Array.isArray(holder)) holder.push(holder[key])
    else if (what === 'swap') {
      const other = Object.keys(holder).at(-1)!
      ;[holder[key], holder[other]] = [holder[other], holder[key]]
    } else holder[key] = value
  })
