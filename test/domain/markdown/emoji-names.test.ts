// Emoji: names, codes and which namespace a name means.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  emojiByName,
  isEmojiCode,
  isEmojiPair,
  noSuchEmoji,
  unicodeCode,
  unicodeName,
} from '../../../daemon/domain/markdown/emoji-names.ts'
import { State } from '../../../daemon/domain/model/state.ts'
import names from '../../../data/emoji.json' with { type: 'json' }

const state = new State()

describe('emoji', () => {
  test('have the names that clients know', () => {
    for (const [name, code] of Object.entries({
      smile: '1f604',
      '+1': '1f44d',
      thumbs_up: '1f44d',
      tada: '1f389',
      octopus: '1f419',
      heart: '2764',
      rocket: '1f680',
      check: '2705',
      robot: '1f916',
      working_on_it: '1f6e0',
      poop: '1f4a9',
      a: '1f170',
      piñata: '1fa85',
      flag_ascension_island: '1f1e6-1f1e8',
      hash: '0023-20e3',
    })) {
      assert.equal(unicodeCode(name), code, name)
      assert.deepEqual(emojiByName(state, name), { type: 'unicode_emoji', code, name })
    }
    assert.equal(unicodeName('1f604'), 'smile')
  })

  test('every name means one emoji, every code is dash-separated hexadecimal', () => {
    const seen = new Set<string>()
    for (const [code, list] of Object.entries(names)) {
      assert.match(code, /^[0-9a-f]{4,6}(-[0-9a-f]{4,6})*$/)
      for (const name of list.split(' ')) {
        assert.match(name, /^[\p{L}\p{N}_+-]+$/u)
        assert.ok(!seen.has(name), name)
        seen.add(name)
      }
    }
    assert.equal(seen.size, 3308)
    assert.equal(Object.keys(names).length, 1875)
  })

  test('a character means its emoji, with and without a selector', () => {
    for (const [character, name, code] of [
      ['👍', '+1', '1f44d'],
      ['❤️', 'heart', '2764'],
      ['❤', 'heart', '2764'],
      ['🇩🇪', 'flag_germany', '1f1e9-1f1ea'],
    ] as const)
      assert.deepEqual(emojiByName(state, character), { type: 'unicode_emoji', code, name })
    assert.equal(emojiByName(state, '👍👍'), undefined)
  })

  test('an unknown name is refused with names that are close to it', () => {
    assert.equal(
      noSuchEmoji(state, 'robott').message,
      'emoji_name: there is no emoji "robott". Did you mean robot or root or rowboat?',
    )
    assert.equal(noSuchEmoji(state, 'qqqqqqqqqq').message, 'emoji_name: there is no emoji "qqqqqqqqqq"')
  })

  test('unknown names, codes and types are told', () => {
    assert.equal(emojiByName(state, 'no_such_emoji'), undefined)
    assert.equal(emojiByName(state, 'constructor'), undefined)
    assert.ok(isEmojiCode(state, 'unicode_emoji', '1f604'))
    for (const [type, code] of [
      ['unicode_emoji', 'zzz'],
      ['unicode_emoji', 'toString'],
      ['realm_emoji', '1'],
      ['realm_emoji', 'x'],
      ['svc_extra_emoji', 'other'],
      ['nonsense', '1f604'],
    ] as const)
      assert.equal(isEmojiCode(state, type, code), false, `${type} ${code}`)
  })

  test('name and code must belong together', () => {
    assert.ok(isEmojiPair(state, { type: 'unicode_emoji', name: 'thumbs_up', code: '1f44d' }))
    assert.ok(isEmojiPair(state, { type: 'svc_extra_emoji', name: 'svc', code: 'svc' }))
    assert.ok(!isEmojiPair(state, { type: 'unicode_emoji', name: 'smile', code: '1f44d' }))
    assert.ok(!isEmojiPair(state, { type: 'realm_emoji', name: 'smile', code: '1' }))
  })
})
