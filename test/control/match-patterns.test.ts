// Patterns in waits: they run in linear time, and what they cost has a bound. So has the work of moving the clock.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { messages } from '../../daemon/api/messages/messages.ts'
import { compilePattern, patternIn, patternLimits } from '../../daemon/api/pattern.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { openSpace } from '../support/spaces.ts'
import { until } from '../support/until.ts'

const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })
const control = () => new Control(daemon())
const frozen = { clock: 'frozen@2030-01-01T00:00:00Z' }

function finds(source: string, text: string, flags = ''): boolean {
  const pattern = compilePattern(source, flags)
  assert.ok('test' in pattern, JSON.stringify(pattern))
  return pattern.test(text)
}

describe('a pattern', () => {
  test('is read from a text between slashes, with flags', () => {
    assert.deepEqual(patternIn('/ok|done/i'), { source: 'ok|done', flags: 'i' })
    assert.equal(patternIn('ok'), undefined)
    assert.equal(patternIn('//'), undefined)
    assert.equal(patternIn('/api/v1/register'), undefined, 'a path')
    assert.ok(finds('^OK$', 'no\nok\nno', 'im'))
    assert.ok(finds('a.b', 'a\nb', 's'))
    assert.ok(!finds('a.b', 'a\nb'))
    assert.ok(finds('(?<name>\\w+)\\/x', 'y/x', 'u'))
  })

  test('takes no longer for a text that other engines try in every way', () => {
    assert.ok(!finds('^(a+)+$', `${'a'.repeat(9000)}b`))
    assert.ok(!finds('(x+x+)+y', 'x'.repeat(9000)))
  })

  test('is searched for in the beginning of a long text', () => {
    assert.ok(finds('b', `${'a'.repeat(patternLimits.text - 1)}b`))
    assert.ok(!finds('b', `${'a'.repeat(patternLimits.text)}b`))
  })

  for (const [source, problem] of [
    ['a(?=b)', /in RE2 syntax, without lookaround and backreferences/],
    ['(?<=a)b', /in RE2 syntax/],
    ['(a)\\1', /in RE2 syntax/],
    ['(?<n>a)\\k<n>', /in RE2 syntax/],
    ['(', /in RE2 syntax/],
    ['x'.repeat(1001), /at most 1000 characters/],
    ['(ab){500}', /repeats too much/],
    ['((a{99}){99}){99}', /RE2 syntax|repeats too much/],
  ] as const)
    test(`is refused when it is ${source.slice(0, 20)}`, () => {
      const pattern = compilePattern(source)
      assert.match('problem' in pattern ? pattern.problem : 'accepted', problem)
    })

  test('is refused with the parameter that has it', async () => {
    for (const [body, msg] of [
      [{ event: { content: '/a(?=b)/' } }, /^event: \/a\(\?=b\)\/ must be a regular expression in RE2 syntax/],
      [{ call: { path: '/x/y' } }, /^call: \/x\/y has the unknown flag y; use i, m, s or u/],
      [{ webhook: { error: { deep: ['/(/'] } } }, /^webhook: /],
      [
        { event: Object.fromEntries([1, 2, 3, 4, 5, 6].map(n => [`f${n}`, `/${'x'.repeat(190)}${n}/`])) },
        /^event: .*fewer/,
      ],
      [{ event: { drafts: Array(6).fill({ content: `/${'x'.repeat(190)}/` }) } }, /^event: .*fewer/],
      [{ event: { texts: Array(8).fill('x'.repeat(9000)) } }, /^event: must be at most 65536 characters of JSON/],
      [{ call: { params: { ids: Array(500).fill(1) } } }, /^call: must have at most 500 fields and items/],
    ] as const) {
      const reply = await control().try('POST', '/wait', { ...body, within: 0 })
      assert.deepEqual([reply.status, reply.headers['natter-parameter']], [400, Object.keys(body)[0]])
      assert.match(reply.body.msg, msg)
    }
  })
})

describe('waits of one space', () => {
  test('are over at once for a pattern that other engines try in every way, hours for 60 letters', async () => {
    const [space, other] = [await openSpace(daemon()), await openSpace(daemon())]
    const content = `${'a'.repeat(60)}b`
    await space.owner.call(messages.send, { type: 'direct', to: [space.owner.id], content })
    const wait = { event: { type: 'message', message: { content: '/^(a+)+$/' } }, within: 0 }
    const [{ met, near }] = await Promise.all([
      space.control.call('POST', '/wait', wait),
      other.owner.call(users.me, {}),
    ])
    assert.equal(met, false)
    assert.equal(near[0].event.event.message.content, content)
  })

  test('that need more work than a log is worth are refused', async () => {
    const space = await openSpace(daemon())
    const me = { type: 'direct' as const, to: [space.owner.id] }
    for (let i = 0; i < 60; i++) await space.owner.call(messages.send, { ...me, content: `${'ab'.repeat(4990)} ${i}` })
    const costly = { message: { content: '/[ab]{190}[xyz]/' } }
    const reply = await space.control.try('POST', '/wait', { event: costly, within: 1 })
    assert.match(reply.body.msg, /^since: the patterns are too long for a log of this length/)
    const met = await space.control.call('POST', '/wait', { event: { message: { content: '/ 59$/' } }, within: 1 })
    assert.equal(met.met, true)
  })

  test('that wait with too many patterns at once are refused, until some of them end', async () => {
    const space = await openSpace(daemon())
    const wait = (n: number, within: number) =>
      space.control.try('POST', '/wait', { event: { type: `/${'x'.repeat(190)}${n}/` }, within })
    const parked = Array.from({ length: 5 }, (_, n) => wait(n, 600))
    await until(async () => {
      const { body } = await wait(6, 0)
      if (body.result === 'success') return false
      assert.match(body.msg, /^within: the patterns of all waits in progress are too long together/)
      return true
    })
    await control().call('DELETE', `/spaces/${space.name}`)
    await Promise.all(parked)
  })
})

describe('waits of one log', () => {
  test('end when their patterns take a second of ten, and no others begin', async () => {
    const space = await openSpace(daemon())
    let ended = 0
    const waits = Array.from({ length: 5 }, async (_, n) => {
      const event = { message: { content: `/^[ab]*a[ab]{${179 - n}}$/` } }
      const { body } = await space.control.try('POST', '/wait', { event, within: 600 })
      ended++
      return body
    })
    const begin = process.hrtime()
    // As good as random: the engine finds no state of the pattern twice.
    const letters = Array.from({ length: 9999 }, (_, n) => 'ab'[Math.trunc(Math.abs(Math.sin(n)) * 1e6) % 2])
    const content = `${letters.join('')}c`
    const me = { type: 'direct' as const, to: [space.owner.id] }
    for (let sent = 0; ended < 5 && sent < 60; sent++) await space.owner.call(messages.send, { ...me, content })
    const sentence = /^within: the waits in progress take too long; wait 10 seconds/
    for (const { msg } of await Promise.all(waits)) assert.match(msg, sentence)
    if (process.hrtime(begin)[0] >= 9) return
    const { body } = await space.control.try('POST', '/wait', { event: { type: 'message' }, within: 0 })
    assert.match(body.msg, sentence)
    const { met } = await space.control.call('POST', '/wait', { call: { endpoint: 'send-message' }, within: 0 })
    assert.equal(met, true)
  })
})

describe('a clock that is moved by ages', () => {
  test('goes no further than the year 9999', async () => {
    const space = await openSpace(daemon(), frozen)
    for (const [path, body, parameter] of [
      ['/clock/advance', { by: `${10_000 * 53}w` }, 'by'],
      ['/clock/advance', { by: '9'.repeat(90) }, 'by'],
      ['/clock/advance', { by: 1e300 }, 'by'],
      ['/clock/set', { to: '+012345-01-01T00:00:00Z' }, 'to'],
      ['/clock/set', { to: 1e15 }, 'to'],
      ['/clock/freeze', { at: 1e15 }, 'at'],
    ] as const) {
      const { status, body: reply } = await space.control.try('POST', path, body)
      assert.equal(status, 400, JSON.stringify(reply))
      assert.match(reply.msg, new RegExp(`^${parameter}: `))
    }
    assert.equal((await space.control.call('GET', '/clock')).time, '2030-01-01T00:00:00.000Z')
  })

  test('stops after 50,000 timers and says where, and others are answered meanwhile', async () => {
    const [space, other] = [await openSpace(daemon(), frozen), await openSpace(daemon())]
    let [isMoving, answered] = [true, 0]
    const moving = space.control.try('POST', '/clock/set', { to: '9999-12-31T23:59:59Z' }).finally(() => {
      isMoving = false
    })
    for (; isMoving; answered++) await other.owner.call(users.me, {})
    assert.ok(answered > 10, `${answered} calls`)
    const { status, body } = await moving
    const { time } = await space.control.call('GET', '/clock')
    assert.equal(status, 400)
    assert.equal(
      body.msg,
      `to: more than 50000 things fall due on the way; the clock has stopped at ${time}. Move it on from there`,
    )
    assert.ok(time > '2030-01-02' && time < '9999', time)
  })

  test('stops when the client leaves', async () => {
    const space = await openSpace(daemon(), frozen)
    const time = async (): Promise<number> => (await space.control.call('GET', '/clock')).now
    await until(async () => {
      const [begin, leave] = [await time(), new AbortController()]
      const url = `${space.url}/control/v1/clock/advance`
      const headers = { Authorization: `Bearer ${space.token}`, 'Content-Type': 'application/json' }
      const moving = fetch(url, { method: 'POST', headers, body: '{"by":"5000w"}', signal: leave.signal })
      await until(async () => (await time()) > begin)
      leave.abort()
      await moving.catch(() => {})
      let [before, now] = [-1, await time()]
      for (; before !== now; now = await time()) before = now
      // On a slow machine it may have arrived before the client left: try again.
      return now - begin < 5000 * 7 * 86_400_000
    })
  })
})
