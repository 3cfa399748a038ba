// Marking what a search has found.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HtmlDifferences } from '../../../daemon/domain/messages/messages/html-differences.ts'
import { type Plan, planNarrow } from '../../../daemon/domain/narrow/index.ts'
import { highlight, highlightedText, searchTerms } from '../../../daemon/domain/narrow/search.ts'
import { threePeople } from '../../support/domain-world.ts'

describe('searches', () => {
  test('look for each word once', () => {
    assert.deepEqual(searchTerms('Tea tea "tea" "green  tea" "green tea" http://tea'), ['tea', 'green tea'])
    const { world, amy } = threePeople()
    const lunch = world.channel('lunch', [amy])
    const id = world.send(amy, lunch, 'soup', 'green tea')
    const narrow = Array.from({ length: 50 }, () => ({ operator: 'search', operand: 'tea green tea', negated: false }))
    assert.match(
      world.refused(amy, 'check-messages-match-narrow', { msg_ids: [id], narrow }).message,
      /at most 50 words/,
    )
  })

  test('of one narrow read a message once, and none of those that a cheaper term or another search leaves out', () => {
    const { world, amy } = threePeople()
    const lunch = world.channel('lunch', [amy])
    for (let n = 0; n < 200; n++) world.send(amy, lunch, 'soup', 'green tea')
    world.send(amy, lunch, 'soup', 'coffee')
    const { messages } = world.state
    const readContent = messages.content.bind(messages)
    let reads = 0
    messages.content = id => {
      reads++
      return readContent(id)
    }
    const without = Array.from({ length: 48 }, (_, n) => ({ operator: 'search', operand: `no${n}`, negated: true }))
    const find = (...terms: { operator: string; operand: string; negated: boolean }[]) => {
      reads = 0
      return planNarrow(world.context(amy), [...without, ...terms])
    }
    const walk = ({ source, test }: Plan) => [...source.up(0)].filter(test).length
    assert.equal(walk(find({ operator: 'is', operand: 'resolved', negated: false })), 0)
    assert.equal(reads, 0)
    assert.equal(walk(find({ operator: 'search', operand: 'tea', negated: true })), 1)
    assert.equal(reads, 201)
  })

  test('are refused when they would read too much text, in whichever order the terms are and wherever the text repeats itself', () => {
    const { world, amy } = threePeople()
    const lunch = world.channel('lunch', [amy])
    const words = Array.from({ length: 48 }, (_, n) => `word${n}`)
    const refusal = (terms: readonly string[], negated: boolean) => {
      const narrow = terms.map(operand => ({ operator: 'search', operand, negated }))
      return world.refused(amy, 'get-messages', { narrow, anchor: 'newest', num_before: 10, num_after: 0 })
    }
    const message = /^narrow: the search would read too much text; name a channel/
    // Each message has another of the words than the one before it.
    for (let n = 0; n < 300; n++) world.send(amy, lunch, 'soup', `${'wxw '.repeat(2100)}word${n % 48}`)
    assert.match(refusal([...words.slice(300 % 48), ...words.slice(0, 300 % 48)], true).message, message)
    for (let n = 0; n < 300; n++) world.send(amy, lunch, 'soup', `${'wxw '.repeat(2100)}${words.join(' ')}`)
    assert.match(refusal([...words, '"word1 word0"'], false).message, message)
    for (let n = 0; n < 10; n++) world.send(amy, lunch, 'soup', `${'a '.repeat(4990)}b`)
    assert.match(
      refusal(
        Array.from({ length: 50 }, (_, n) => `"${'a '.repeat(440 + n)}c"`),
        true,
      ).message,
      message,
    )
  })

  test('a term that fits no message is asked first, wherever it is in the narrow', () => {
    const { world, amy } = threePeople()
    const lunch = world.channel('lunch', [amy])
    for (let n = 0; n < 200; n++) world.send(amy, lunch, 'soup', 'green tea')
    const { messages } = world.state
    const readPlace = messages.place.bind(messages)
    let asked = 0
    messages.place = id => {
      asked++
      return readPlace(id)
    }
    const without = Array.from({ length: 90 }, (_, n) => ({ operator: 'topic', operand: `no${n}`, negated: true }))
    const { source, test: fits } = planNarrow(world.context(amy), [
      ...without,
      { operator: 'is', operand: 'resolved', negated: false },
    ])
    assert.equal([...source.up(0)].filter(fits).length, 0)
    assert.ok(asked < 1000, `${asked} times`)
  })

  test('mark words in a file of others, where no tag is closed, as fast as elsewhere', () => {
    const open = '<'.repeat(1_000_000)
    assert.equal(highlight(`${open} tea`, ['tea']), `${open} <span class="highlight">tea</span>`)
    assert.ok(new HtmlDifferences().between(open, `${open}<b>tea`).includes('tea'))
  })

  test('mark words, but nothing in tags and entities', () => {
    assert.equal(
      highlight('<p title="a">a <b>a b</b> &amp; amp R&amp;D</p>', ['a', 'amp', 'r&d', 'p']),
      '<p title="a">' +
        ['a', 'a'].map(word => `<span class="highlight">${word}</span>`).join(' <b>') +
        ' b</b> &amp; <span class="highlight">amp</span> <span class="highlight">R&amp;D</span></p>',
    )
    assert.equal(highlight('<p>İstanbul tea</p>', ['tea']), '<p>İstanbul <span class="highlight">tea</span></p>')
    assert.equal(highlightedText("it's <tea>", ['tea']), 'it&#39;s &lt;<span class="highlight">tea</span>&gt;')
  })

  test('mark a text of very many words and entities in one pass', () => {
    const count = 300_000
    const marked = highlight('a &amp; '.repeat(count), ['a'])
    assert.equal(marked, '<span class="highlight">a</span> &amp; '.repeat(count))
  })
})
