// Reading what people write on the command line: values by shape, times, names that are nearly right, accounts.

import assert from 'node:assert/strict'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Chalk } from 'chalk'
import { Failure, refusal } from '../../cli/base/failure.ts'
import { accountFor, normalSite, readProfiles, saveProfile } from '../../cli/base/profile.ts'
import { parseDuration, parseTime, showDistance } from '../../cli/base/times.ts'
import { type Given, readParam, valueName } from '../../cli/input/flags.ts'
import { narrowFrom } from '../../cli/input/narrow.ts'
import { renderLines } from '../../cli/print/output.ts'
import { tableLines } from '../../cli/terminal/table.ts'
import { loadMeasure, markdownText, wrapText } from '../../cli/terminal/terminal.ts'
import * as d from '../../daemon/api/define.ts'
import { nearest } from '../../daemon/local/did-you-mean.ts'
import { harmless } from '../../daemon/local/harmless.ts'
import { newShell } from '../support/cli.ts'

describe('a value', () => {
  const sources = {
    names: {
      find: async (kind: string, name: string) => (kind === 'user' && name === 'amy' ? 8 : 99),
      channelName: async () => 'lunch',
    },
    now: async () => new Date(2026, 0, 5, 12, 0),
    stdin: async () => 'from stdin',
    secret: async () => 'hidden',
  }
  const read = (shape: d.Param['shape'], given: Given) => readParam(d.optional(shape, ''), given, '--x', sources)

  test('is read as the shape of its parameter says', async () => {
    for (const [shape, given, value] of [
      [d.text, '12', '12'],
      [d.int, '-12', -12],
      [d.num, '1.5', 1.5],
      [d.bool, true, true],
      [d.oneOf('a', 'b'), 'b', 'b'],
      [d.oneOf(1, 2), '2', 2],
      [d.nullable(d.int), 'null', null],
      [d.nullable(d.int), '3', 3],
      [d.userId, '12', 12],
      [d.userId, 'id:12', 12],
      [d.userId, 'amy', 8],
      [d.messageId, 'id:12', 12],
      [d.eitherOf(d.userId, d.text), 'amy', 'amy'],
      [d.eitherOf(d.int, d.text), '12', 12],
      [d.markdown, '-', 'from stdin'],
      [d.text, '-', '-'],
      [d.timestamp, '+1h', (await sources.now()).getTime() / 1000 + 3600],
      [d.record({ a: d.int }), '{"a":1}', { a: 1 }],
      [d.anything, '{"a":1}', { a: 1 }],
      [d.anything, 'word', 'word'],
      [d.listOf(d.int), ['1', '2,3', '[4,5]'], [1, 2, 3, 4, 5]],
      [d.listOf(d.userId), ['amy,id:3'], [8, 3]],
      [d.listOf(d.text), ['a,b', '["c,d"]'], ['a', 'b', 'c,d']],
      [d.nullable(d.listOf(d.text)), ['null'], null],
      [
        d.listOf(d.listOf(d.text)),
        ['["a","b"]', '[["c","d"],["e","f"]]'],
        [
          ['a', 'b'],
          ['c', 'd'],
          ['e', 'f'],
        ],
      ],
      [d.listOf(d.record({ a: d.int })), ['{"a":1}', '[{"a":2}]'], [{ a: 1 }, { a: 2 }]],
    ] as const)
      assert.deepEqual(await read(shape, given), value, JSON.stringify(given))
  })

  test('that does not fit is wrong usage, and the flag is named', async () => {
    for (const [shape, given] of [
      [d.int, '1.0'],
      [d.int, ''],
      [d.int, '9007199254740993'],
      [d.natural, '-1'],
      [d.userId, 'id:amy'],
      [d.oneOf('a', 'b'), 'c'],
      [d.timestamp, 'soonish'],
      [d.record({}), '[]'],
      [d.record({}), '{'],
      [d.listOf(d.int), ['1,x']],
      [d.listOf(d.int), ['[1']],
    ] as const)
      await assert.rejects(
        () => read(shape, given),
        (error: Failure) => error instanceof Failure && error.exit === 2 && error.message.startsWith('--x'),
        JSON.stringify(given),
      )
  })

  test('has a name that tells what it is', () => {
    assert.deepEqual(
      [d.text, d.int, d.userId, d.listOf(d.channelId), d.oneOf('a', 'b'), d.record({}), d.timestamp].map(valueName),
      ['text', 'n', 'user', 'channel', 'a|b', 'json', 'time'],
    )
  })
})

describe('a time', () => {
  const now = new Date(2026, 0, 5, 12, 30, 10) // a Monday
  const local = (year: number, month: number, day: number, hours = 0, minutes = 0) =>
    new Date(year, month, day, hours, minutes).getTime() / 1000

  test('is written in many ways', () => {
    for (const [text, seconds] of [
      ['1700000000', 1_700_000_000],
      ['now', Math.floor(now.getTime() / 1000)],
      ['+2h', now.getTime() / 1000 + 7200],
      ['+1h30m', now.getTime() / 1000 + 5400],
      ['-10m', now.getTime() / 1000 - 600],
      ['90m', now.getTime() / 1000 + 5400],
      ['1h30m', now.getTime() / 1000 + 5400],
      ['in 5 minutes', now.getTime() / 1000 + 300],
      ['in 1 hour and 5 min', now.getTime() / 1000 + 3900],
      ['2 days', now.getTime() / 1000 + 172_800],
      ['2026-01-05T12:30:00Z', Date.UTC(2026, 0, 5, 12, 30) / 1000],
      ['2026-01-05T12:30+0200', Date.UTC(2026, 0, 5, 10, 30) / 1000],
      ['2026-01-05 12:30', local(2026, 0, 5, 12, 30)],
      ['2026-02-01', local(2026, 1, 1)],
      ['tomorrow 9:00', local(2026, 0, 6, 9)],
      ['Tomorrow at 9am', local(2026, 0, 6, 9)],
      ['today 23:15', local(2026, 0, 5, 23, 15)],
      ['9:00', local(2026, 0, 6, 9)],
      ['14:00', local(2026, 0, 5, 14)],
      ['12pm', local(2026, 0, 6, 12)],
      ['friday 17:30', local(2026, 0, 9, 17, 30)],
      ['mon', local(2026, 0, 12)],
    ] as const)
      assert.equal(parseTime(text, now), seconds, text)
  })

  test('that cannot be read is undefined', () => {
    for (const text of [
      '',
      'x',
      '25:00',
      '13pm',
      '9',
      '+',
      '+2x',
      '2026-13-01',
      '2026-02-30',
      'tomorrow x',
      '1e9',
      'in',
      '5 moons',
    ])
      assert.equal(parseTime(text, now), text === '9' ? 9 : undefined, text)
  })

  test('a duration has units; a bare number is seconds', () => {
    assert.deepEqual(
      ['15s', '2', '1h30m', '500ms', '0.5s', '1w'].map(parseDuration),
      [15_000, 2000, 5_400_000, 500, 500, 604_800_000],
    )
    assert.deepEqual(['', 's', '15 s', '-1s', '1y'].map(parseDuration), Array(5).fill(undefined))
  })
})

test('suggestions begin with the nearest name and leave out distant ones', () => {
  assert.deepEqual(nearest('snipets', ['users', 'snippets', 'typing']), ['snippets'])
  assert.deepEqual(nearest('lsit', ['list', 'last']), ['list'])
  assert.deepEqual(nearest('zebra', ['users', 'snippets']), [])
})

test('without the header Natter-Refusal, exit codes follow status and code', () => {
  const cases = [
    [400, 'BAD_REQUEST', 1],
    [404, 'BAD_REQUEST', 3],
    [400, 'STREAM_DOES_NOT_EXIST', 3],
    [400, 'BAD_EVENT_QUEUE_ID', 3],
    [401, 'INVALID_API_KEY', 4],
    [400, 'UNAUTHORIZED_PRINCIPAL', 4],
    [403, 'X', 4],
    [429, 'RATE_LIMIT_HIT', 7],
    [500, 'INTERNAL_ERROR', 1],
    [502, 'HTTP_502', 6],
  ] as const
  for (const [http, code, exit] of cases) assert.equal(refusal(http, { code }).exit, exit, `${http} ${code}`)
})

test('the header Natter-Refusal decides the exit code, unless its kind is unknown', () => {
  const body = { code: 'BAD_REQUEST', msg: 'there is no such thing' }
  const exit = (kind: string) => refusal(400, body, ['x', 'y', 'natter-refusal', kind]).exit
  const kinds = ['invalid', 'conflict', 'not-found', 'forbidden', 'unauthenticated', 'rate-limited', 'unavailable']
  assert.deepEqual(kinds.map(exit), [1, 1, 3, 4, 4, 7, 6])
  assert.deepEqual(['defect', 'constructor', ''].map(exit), [1, 1, 1])
})

test('text from elsewhere cannot steer the terminal', () => {
  assert.equal(harmless('a\u001b]0;x\u0007\n\u202eb'), 'a\\x1b]0;x\\x07\n\\x202eb')
  assert.deepEqual(renderLines({ a: 'x\ny', b: null, long: [1] }, undefined), ['a     x\\ny', 'b     -', 'long  1'])
})

test('a table is as wide as it needs, or as the terminal is', async () => {
  const rows = [
    { id: 1, text: 'four words and more' },
    { id: 20, text: '日本' },
  ]
  await loadMeasure()
  const table = (columns: number | undefined) => tableLines(rows, String, { columns, colors: undefined })
  assert.deepEqual(table(undefined), ['id  text', '1   four words and more', '20  日本'])
  assert.deepEqual(table(16), ['id  text', '1   four words…', '20  日本'])
  assert.deepEqual(
    tableLines(rows, String, { columns: 7, colors: undefined }, ['id', 'text']),
    ['id', '1', '20'],
    'rather fewer columns than several lines',
  )
  const wide = tableLines([{ aaaaaaaaaa: 1, bbbbbbbbbb: 2 }], String, { columns: 20, colors: undefined })
  assert.deepEqual(wide, ['aaaaaaaaaa  1', 'bbbbbbbbbb  2'])
})

test('text is wrapped to the terminal with a hanging indent, Markdown gets colours', () => {
  assert.equal(wrapText('one two three', 20, 2, 12), 'one two\n  three')
  assert.equal(wrapText('a\nb', undefined, 4, 0), 'a\n    b')
  const colors = new Chalk({ level: 1 })
  assert.equal(markdownText('**b** `c` \u001b', undefined), '**b** `c` \\x1b')
  assert.equal(
    markdownText('**b** @**Amy** `c`', colors),
    `${colors.bold('b')} ${colors.magenta('@Amy')} ${colors.yellow('c')}`,
  )
  assert.equal(
    markdownText('*i* #**general>lunch** @_**Amy|8** [docs](https://example.com/a)', colors),
    `${colors.italic('i')} ${colors.blue('#general > lunch')} ${colors.magenta('@Amy')} ${colors.underline('docs')} ${colors.dim('<https://example.com/a>')}`,
  )
  assert.equal(
    markdownText('> **q**\n```\n**x**\n```\n**b**', colors),
    [colors.dim('> **q**'), colors.dim('```'), colors.yellow('**x**'), colors.dim('```'), colors.bold('b')].join('\n'),
  )
  assert.equal(
    markdownText('```` quote\nq\n```\nr\n````\n**b**', colors),
    [colors.dim('> q'), colors.dim('> ```'), colors.dim('> r'), colors.bold('b')].join('\n'),
  )
})

test('distances in time are words', () => {
  const cases = [
    [0, 'just now'],
    [-90, '2 min ago'],
    [-7200, '2 h ago'],
    [-3 * 86_400, '3 d ago'],
    [30, 'in a moment'],
    [7200, 'in 2 h'],
  ] as const
  for (const [distance, said] of cases) assert.equal(showDistance(1_000_000 + distance, 1_000_000), said)
})

test('a narrow is written as words or as JSON', () => {
  assert.deepEqual(narrowFrom('channel:general -topic:"release notes" id:7'), [
    { operator: 'channel', operand: 'general' },
    { operator: 'topic', operand: 'release notes', negated: true },
    { operator: 'id', operand: 7 },
  ])
  assert.deepEqual(narrowFrom('[["is","dm"]]'), [{ operator: 'is', operand: 'dm' }])
  for (const wrong of ['hello', '[1]', '[']) assert.throws(() => narrowFrom(wrong), /--narrow/)
})

describe('the account', () => {
  const site = 'http://127.0.0.1:9991'

  test('comes from flag, then environment, then profile, then zuliprc', t => {
    const { home } = newShell(t)
    const env = { HOME: home, ZULIP_CONFIG: join(home, 'rc') }
    writeFileSync(
      env.ZULIP_CONFIG,
      '[other]\nkey=no\n[api]\nemail = rc@example.com\nkey=rc-key\nsite: https://rc.example.com\n',
    )
    const pick = (flags: object, more = {}) => {
      const { site, email, apiKey } = accountFor(flags, { ...env, ...more })
      return [site, email, apiKey]
    }
    assert.deepEqual(pick({}), ['https://rc.example.com', 'rc@example.com', 'rc-key'])
    saveProfile('local', { site, email: 'p@example.com', api_key: 'p-key' }, env)
    assert.deepEqual(pick({}), [site, 'p@example.com', 'p-key'])
    const ours = { NATTER_SITE: `${site}/`, NATTER_EMAIL: 'e@example.com', NATTER_API_KEY: 'e-key' }
    assert.deepEqual(pick({}, ours), [site, 'e@example.com', 'e-key'])
    assert.deepEqual(pick({ user: 'f@example.com', apiKey: 'f-key' }, ours), [site, 'f@example.com', 'f-key'])
    assert.deepEqual(pick({ profile: 'local' }, ours), [site, 'p@example.com', 'p-key'])
    assert.throws(() => pick({ profile: 'locl' }), /no profile is called "locl"/)
  })

  test('never sends a key to another site or for another user', t => {
    const { home } = newShell(t)
    const env = { HOME: home }
    saveProfile('local', { site, email: 'p@example.com', api_key: 'p-key' }, env)
    assert.deepEqual(accountFor({ site: 'https://evil.example.com' }, env), {
      site: 'https://evil.example.com',
      from: { site: 'flag' },
    })
    assert.equal(accountFor({ user: 'q@example.com' }, env).apiKey, undefined)
    assert.equal(accountFor({ user: 'q@example.com' }, env).site, site)
    assert.equal(accountFor({ user: 'P@example.com' }, env).apiKey, 'p-key')
  })

  test('refuses a key whose source names no site, unless a flag or a saved place says where it goes', t => {
    const { home } = newShell(t)
    const rc = { HOME: home, ZULIP_CONFIG: join(home, 'rc') }
    const key = { NATTER_EMAIL: 'e@example.com', NATTER_API_KEY: 'e-key' }
    writeFileSync(rc.ZULIP_CONFIG, `[api]\nsite=${site}\n`)
    assert.throws(
      () => accountFor({}, { ...rc, ...key }),
      /the API key comes from the environment \(NATTER_\*\), but the site from .*rc$/,
    )
    assert.throws(
      () => accountFor({ user: 'f@example.com', apiKey: 'f-key' }, rc),
      /the API key comes from a flag, but the site from .*rc$/,
    )
    // Typed for this call: the site may come from the environment or a profile, or be typed too.
    assert.equal(accountFor({ site, user: 'f@example.com', apiKey: 'f-key' }, rc).site, site)
    assert.equal(accountFor({ site }, { ...rc, ...key }).apiKey, 'e-key')
    assert.equal(accountFor({ user: 'f@example.com', apiKey: 'f-key' }, { NATTER_SITE: site, HOME: home }).site, site)
    saveProfile('local', { site, email: 'p@example.com', api_key: 'p-key' }, { HOME: home })
    assert.equal(accountFor({ user: 'f@example.com', apiKey: 'f-key' }, { HOME: home }).apiKey, 'f-key')
  })

  test('is kept in a private file, and the first profile is the current one', t => {
    const { home } = newShell(t)
    const env = { NATTER_CONFIG_DIR: join(home, 'config') }
    mkdirSync(env.NATTER_CONFIG_DIR, { mode: 0o755 })
    const file = saveProfile('a', { site, email: 'a@example.com', api_key: 'k' }, env)
    saveProfile('b', { site, email: 'b@example.com', api_key: 'k' }, env)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(statSync(env.NATTER_CONFIG_DIR).mode & 0o777, 0o700)
    assert.deepEqual([readProfiles(env).current, Object.keys(readProfiles(env).profiles)], ['a', ['a', 'b']])
    writeFileSync(file, 'not json')
    assert.throws(() => readProfiles(env), /is not a profiles file/)
  })

  test('takes an address as people write it', () => {
    assert.equal(normalSite('localhost:9991'), 'http://localhost:9991')
    assert.equal(normalSite('chat.example.com/'), 'https://chat.example.com')
    assert.equal(normalSite('https://example.com/zulip/api/v1/'), 'https://example.com/zulip')
    assert.throws(() => normalSite('http://'), Failure)
  })
})
