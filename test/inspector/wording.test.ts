// Texts of the inspector's page: commands to copy, times, sizes and names. Without a browser.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

type Module = Record<string, any>

let commands: Module
let format: Module
let session: Module

/** Their types are checked with those of a browser, see daemon/inspector/tsconfig.json: here they have none. */
const load = (name: string): Promise<Module> => import(`../../daemon/inspector/${name}.ts`)
const loadPart = (name: string): Promise<Module> => import(`../../daemon/inspector/parts/${name}.ts`)

before(async () => {
  // The little of a browser that these modules look at when they are loaded.
  const globals = globalThis as Record<string, unknown>
  globals.document ??= { documentElement: { dataset: {} } }
  globals.location ??= { href: 'http://127.0.0.1:9991/#/world', hash: '#/world', pathname: '/', search: '' }
  globals.sessionStorage ??= { getItem: () => null, setItem() {}, removeItem() {} }
  commands = await loadPart('commands')
  format = await loadPart('format')
  session = await load('session')
})

describe('commands to copy', () => {
  test('curl has the key as a variable, and fields or files as the call had them', () => {
    const { writeCurl } = commands
    assert.equal(
      writeCurl('GET', '/messages', 'amy@example.com', { anchor: 'newest', narrow: [1] }),
      'curl -sS -u amy@example.com:"$NATTER_API_KEY" -G http://127.0.0.1:9991/api/v1/messages --data-urlencode anchor=newest --data-urlencode \'narrow=[1]\'',
    )
    assert.equal(
      writeCurl('POST', '/spaces/a/api/v1/user_uploads', null, { file: { filename: "it's.txt" }, note: 'x' }),
      "curl -sS -X POST http://127.0.0.1:9991/api/v1/user_uploads -F 'file=@it'\\''s.txt' -F note=x",
    )
  })

  test('natter api takes texts and JSON', () => {
    assert.equal(
      commands.writeNatter('POST', '/spaces/a/api/v1/typing', 'amy@example.com', { op: 'start', to: [8] }),
      "natter api POST /typing -f op=start -F 'to=[8]' --site http://127.0.0.1:9991 --user amy@example.com",
    )
    assert.equal(commands.writeNatter('GET', '/users', null, {}), 'natter api GET /users --site http://127.0.0.1:9991')
  })

  test('wait and tail ask for what the event was', () => {
    const { writeFollow } = commands
    const site = '--site http://127.0.0.1:9991'
    const message = {
      type: 'stream',
      display_recipient: 'general',
      subject: 'two words',
      sender_email: 'amy@example.com',
    }
    assert.equal(
      writeFollow('wait', { type: 'message', message }, 'bo@example.com'),
      `natter wait --channel general --topic 'two words' --sender amy@example.com --within 30s ${site} --user bo@example.com`,
    )
    assert.equal(
      writeFollow('tail', { type: 'message', message: { type: 'private' } }, null),
      `natter tail --dm ${site}`,
    )
    assert.equal(writeFollow('tail', { type: 'reaction' }, null), `natter tail --type reaction ${site}`)
  })
})

describe('times, sizes and names', () => {
  test('a time from now has the largest unit that fits', () => {
    const cases = [
      [300, 'now'],
      [5_000, 'in 5 s'],
      [-5_000, '5 s ago'],
      [180_000, 'in 3 min'],
      [-7_200_000, '2 h ago'],
      [172_800_000, 'in 2 days'],
    ] as const
    for (const [ms, text] of cases) assert.equal(format.fromNow(1e12 + ms, 1e12), text)
  })

  test('durations and sizes are short', () => {
    assert.deepEqual([null, 0.25, 12.4, 1500].map(format.duration), ['…', '0.3 ms', '12 ms', '1.5 s'])
    assert.deepEqual([10, 1024, 1536, 5 * 1024 ** 2, 3 * 1024 ** 6].map(format.bytes), [
      '10 B',
      '1.0 KiB',
      '1.5 KiB',
      '5.0 MiB',
      '3145728.0 TiB',
    ])
  })

  test('an account has a short name, initials and a colour', () => {
    session.accounts.value = [{ user_id: 8, email: 'amy@example.com' }]
    assert.deepEqual([format.shortName(8), format.shortName(9)], ['amy', 'user 9'])
    assert.deepEqual(['Amy Adams', ' bo ', 'Zoë van Dam', ''].map(format.initials), ['AA', 'B', 'ZD', ''])
    assert.deepEqual([1, 8].map(format.hueOf), [95, 212])
  })

  test('a time of day has milliseconds', () => {
    assert.match(format.timeOfDay(1e12 + 7), /^\d\d:\d\d:\d\d\.007$/)
    assert.match(format.hourAndMinute(1e12), /^\d\d:\d\d$/)
    assert.match(format.formatDay(1e12), /2001/)
    assert.match(format.fullTime(1e12), /2001/)
    assert.doesNotMatch(format.fullTime(1e12), /[AP]M/i)
  })

  test('a poll has its question, and its options with the number of votes', async () => {
    const { readWidget } = await load('chat/widget')
    const part = (sender_id: number, content: unknown) => ({ sender_id, content: JSON.stringify(content) })
    const widget = { widget_type: 'poll', extra_data: { question: 'Lunch?', options: ['Pizza', 'Pasta'] } }
    const parts = [
      part(8, widget),
      part(8, { type: 'vote', key: 'canned,0', vote: 1 }),
      part(9, { type: 'vote', key: 'canned,0', vote: 1 }),
      part(8, { type: 'vote', key: 'canned,0', vote: -1 }),
      part(9, { type: 'new_option', idx: 1, option: 'Soup' }),
      part(8, { type: 'vote', key: 'no such option', vote: 1 }),
      { sender_id: 8, content: 'not JSON' },
    ]
    assert.deepEqual(readWidget(parts), {
      title: 'Lunch?',
      items: [
        { key: 'canned,0', text: 'Pizza: 1 vote' },
        { key: 'canned,1', text: 'Pasta: 0 votes' },
        { key: '9,1', text: 'Soup: 0 votes' },
      ],
    })
    assert.equal(readWidget([]), undefined)
  })

  test('a to-do list has its title, and its tasks with those that are done', async () => {
    const { readWidget } = await load('chat/widget')
    const part = (sender_id: number, content: unknown) => ({ sender_id, content: JSON.stringify(content) })
    const tasks = [
      { task: 'Bread', desc: '' },
      { task: 'Milk', desc: 'two litres' },
    ]
    const widget = { widget_type: 'todo', extra_data: { task_list_title: 'Shopping', tasks } }
    const parts = [
      part(8, widget),
      part(9, { type: 'new_task', key: 2, task: 'Tea', desc: '', completed: false }),
      part(8, { type: 'strike', key: '1,canned' }),
      part(8, { type: 'strike', key: '2,9' }),
      part(9, { type: 'strike', key: '2,9' }),
      part(8, { type: 'strike', key: 'no such task' }),
      part(8, { type: 'new_task_list_title', title: 'Shopping on Friday' }),
      { sender_id: 8, content: 'not JSON' },
    ]
    assert.deepEqual(readWidget(parts), {
      title: 'Shopping on Friday',
      items: [
        { key: '0,canned', text: 'Bread' },
        { key: '1,canned', text: 'Milk: two litres (done)' },
        { key: '2,9', text: 'Tea' },
      ],
    })
    assert.deepEqual(readWidget([part(8, { widget_type: 'todo' })]), { title: 'Task list', items: [] })
  })
})
