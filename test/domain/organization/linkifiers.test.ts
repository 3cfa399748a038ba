// Linkifiers: what the specification says of them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { linkifiers as api } from '../../../daemon/api/organization/linkifiers.ts'
import { variablesOfTemplate } from '../../../daemon/domain/markdown/linkify.ts'
import { topicLinks } from '../../../daemon/domain/markdown/topic-links.ts'
import { State } from '../../../daemon/domain/model/state.ts'
import { type Caller, sharedDaemon, type TestDaemon } from '../../support/daemon.ts'
import { fetched, listen, person } from '../../support/world.ts'

let daemon: TestDaemon
let amy: Caller
let owner: Caller

sharedDaemon({}, async started => {
  daemon = started
  owner = daemon.owner
  amy = await person(daemon, 'amy')
})

const issue = { pattern: '#(?P<id>[0-9]+)', url_template: 'https://issues.example.com/{id}' }
const capable = { client_capabilities: { linkifier_url_template: true } }

describe('linkifiers', () => {
  test('are added, changed, put in order and removed by administrators, and told to clients that know them', async () => {
    const heard = await listen(amy, ['realm_linkifiers'], capable)
    const older = await listen(amy, ['realm_linkifiers'])
    const first = (await owner.call(api.add, issue)).id
    const second = (
      await owner.call(api.add, { pattern: 'go/(?<name>\\w+)', url_template: 'https://go.example.com/{+name}' })
    ).id
    await owner.call(api.update, { filter_id: first, ...issue, url_template: 'https://bugs.example.com/{id}' })
    await owner.call(api.reorder, { ordered_linkifier_ids: [second, first] })
    const { linkifiers } = await amy.call(api.list, {})
    assert.deepEqual(
      linkifiers.map(({ id }) => id),
      [second, first],
    )
    assert.deepEqual((await fetched(amy, ['realm_linkifiers'], capable)).realm_linkifiers, linkifiers)
    assert.deepEqual((await fetched(amy, ['realm_linkifiers'])).realm_linkifiers, [])
    await owner.call(api.remove, { filter_id: second })
    await owner.call(api.remove, { filter_id: first })
    const events = await heard()
    assert.equal(events.length, 6)
    assert.deepEqual(events[3]?.realm_linkifiers, linkifiers)
    assert.deepEqual(events[5], { type: 'realm_linkifiers', realm_linkifiers: [] })
    assert.deepEqual(await older(), [])
  })

  test('are not for members to change, and unknown ones cannot be changed', async () => {
    await amy.refused(api.add, issue, 'UNAUTHORIZED_PRINCIPAL')
    await amy.refused(api.update, { filter_id: 1, ...issue }, 'UNAUTHORIZED_PRINCIPAL')
    await amy.refused(api.remove, { filter_id: 1 }, 'UNAUTHORIZED_PRINCIPAL')
    await amy.refused(api.reorder, { ordered_linkifier_ids: [] }, 'UNAUTHORIZED_PRINCIPAL')
    await owner.refused(api.update, { filter_id: 9999, ...issue }, 'BAD_REQUEST')
    await owner.refused(api.remove, { filter_id: 9999 }, 'BAD_REQUEST')
    await owner.refused(api.reorder, { ordered_linkifier_ids: [9999] }, 'BAD_REQUEST')
    await owner.refused(api.reorder, { ordered_linkifier_ids: [1, 1] }, 'BAD_REQUEST')
  })

  test('a bad pattern or template is a clear error that names the field', async () => {
    const template = 'https://example.com/{id}'
    for (const [pattern, url_template, field] of [
      ['', template, 'pattern'],
      ['#(?P<id>[0-9]+', template, '__all__'],
      ['(?<=#)(?P<id>[0-9]+)', template, '__all__'],
      ['(?P<id>a)\\1', template, '__all__'],
      ['(?P<id>(a{1000}){1000})', template, '__all__'],
      [issue.pattern, '', 'url_template'],
      [issue.pattern, 'https://example.com/{id', 'url_template'],
      [issue.pattern, 'https://example.com/{!id}', 'url_template'],
      [issue.pattern, 'https://example.com/ {id}', 'url_template'],
      [issue.pattern, 'https://example.com/', '__all__'],
      [issue.pattern, 'javascript:{id}', 'url_template'],
      [issue.pattern, `https://example.com/${'{id}'.repeat(500)}`, 'url_template'],
      [issue.pattern, 'https://example.com/{id}/{other}', '__all__'],
    ] as const) {
      const { errors } = await owner.refused(api.add, { pattern, url_template }, 'BAD_REQUEST')
      assert.deepEqual(Object.keys(errors as object), [field], pattern)
    }
    const { id } = await owner.call(api.add, issue)
    const { errors } = await owner.refused(api.add, issue, 'BAD_REQUEST')
    assert.deepEqual(Object.keys(errors as object), ['__all__'])
    await owner.call(api.remove, { filter_id: id })
  })
})

describe('what linkifiers match', () => {
  function found(text: string, ...rules: [string, string][]) {
    const state = new State()
    for (const [index, [pattern, urlTemplate]] of rules.entries())
      state.linkifiers.put({ id: index + 1, pattern, urlTemplate, order: index })
    return topicLinks(state, text).map(link => `${link.text} -> ${link.url}`)
  }
  const hash: [string, string] = ['#(?P<id>[0-9]+)', 'https://x/{id}']

  test('is bounded by white space or opening punctuation before, and by no letter or digit after', () => {
    assert.deepEqual(found('#1 #2,#3 (#4) é#5 #6é #7x x#8 "#9"', hash), [
      '#1 -> https://x/1',
      '#2 -> https://x/2',
      '#3 -> https://x/3',
      '#4 -> https://x/4',
      '#9 -> https://x/9',
    ])
  })

  test('earlier linkifiers win where two overlap', () => {
    const both: [string, string] = ['issue #(?P<n>[0-9]+)', 'https://y/{n}']
    assert.deepEqual(found('issue #12, #13', hash, both), ['#12 -> https://x/12', '#13 -> https://x/13'])
    assert.deepEqual(found('issue #12, #13', both, hash), ['issue #12 -> https://y/12', '#13 -> https://x/13'])
  })

  test('is escaped as the template says, and never becomes a script', () => {
    assert.deepEqual(found('q:a/b', ['q:(?P<q>\\S+)', 'https://x/?{&q}']), ['q:a/b -> https://x/?&q=a%2Fb'])
    assert.deepEqual(found('javascript:alert(1)', ['(?P<url>\\S+)', '{+url}']), [])
  })

  test('stays text where the template would cut a character in half', () => {
    for (const template of ['https://x/{id:1}', 'https://x/{+id:1}', 'https://x/\ud800{id}'])
      assert.deepEqual(found('#\u{1f600}a', ['#(?P<id>\\S+)', template]), [], template)
    assert.deepEqual(found('#\u{1f600}a', ['#(?P<id>\\S+)', 'https://x/{id:2}']), [
      '#\u{1f600}a -> https://x/%F0%9F%98%80',
    ])
  })

  test('takes time that grows with the text only', () => {
    const started = process.cpuUsage()
    found('a'.repeat(100_000), ['(?P<x>(a+)+)b', 'https://x/{x}'])
    const { user, system } = process.cpuUsage(started)
    assert.ok(user + system < 2_000_000, `${user + system} µs of processor time`)
  })

  test('templates are RFC 6570', () => {
    assert.deepEqual(variablesOfTemplate('https://x{/a,b}{?c*,d:3}{#e}{+f}'), ['a', 'b', 'c', 'd', 'e', 'f'])
    for (const bad of ['{', '}', '{}', '{a b}', '{=a}', 'a b', '{a:0}', '{a,}'])
      assert.equal(variablesOfTemplate(bad), undefined, bad)
  })
})

describe('the work of linkifiers', () => {
  const found = (patterns: readonly string[], text: string, urlTemplate = 'https://example.com/{x}'): number => {
    const state = new State()
    for (const [index, pattern] of patterns.entries())
      state.linkifiers.put({ id: index + 1, pattern, urlTemplate, order: index + 1 })
    return topicLinks(state, text).length
  }

  test('leaves links of a message full of them in place', () => {
    assert.equal(found(['#(?P<x>[0-9]+)'], '#1 and '.repeat(300)), 300)
  })

  test('finds a match that is longer than the part of the text that is looked at first', () => {
    assert.equal(found(['<(?P<x>[a-z ]+)>'], `a ${'word '.repeat(10)}<${'long '.repeat(400)}> b`), 1)
    assert.equal(found(['#(?P<x>[0-9]+)'], `${'word '.repeat(1900)}#12`), 1)
  })

  test('ends for a pattern that reads all that follows before it matches a little', () => {
    const links = found(['(?P<x>a)(?: [a ]*z)?'], 'a '.repeat(5000))
    assert.ok(links > 0 && links < 5000, `${links} links`)
  })

  test('is shared by all linkifiers of a message', () => {
    const costly = Array.from({ length: 40 }, (_, n) => `(?P<x>[a-c ]{1,60}[xyz]${n})`)
    assert.equal(found([...costly, '#(?P<x>[0-9]+)'], `${'ab c '.repeat(1900)} #1`), 0)
    assert.equal(found([...costly, '#(?P<x>[0-9]+)'], 'ab c #1'), 1)
  })

  test('ends when the URLs of a message would not fit into it', () => {
    const long = `https://example.com/${'{x}'.repeat(3000)}`
    const few = found(['#(?P<x>[0-9]*)'], '#1 '.repeat(3333), long)
    assert.ok(few > 0 && few < 30, `${few} links`)
    assert.equal(found(['#(?P<x>[0-9]+)'], `#${'1'.repeat(9999)}`, long), 0)
  })

  test('has a limit on the patterns together', async () => {
    const big = (n: number) => ({ pattern: `(?P<x>[a-z]{1,900}${n})`, url_template: 'https://example.com/{x}' })
    let refused = 0
    for (let n = 0; n < 6; n++) if ((await owner.try(api.add, big(n))).body.result === 'error') refused++
    assert.ok(refused > 0)
    const { msg } = await owner.refused(api.add, big(7), 'BAD_REQUEST')
    assert.match(msg, /^pattern: is too long together with the patterns of the other linkifiers/)
  })
})
