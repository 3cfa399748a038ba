// The short way for texts in which nothing is Markdown must give what the parser gives.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Linkifier } from '../../../daemon/domain/markdown/organization-content.ts'
import { isPlain, toHtml } from '../../../daemon/domain/markdown/parser.ts'
import { Findings } from '../../../daemon/domain/markdown/render-context.ts'
import { cases } from '../../support/cases.ts'
import { context, linkifier, paragraph } from '../../support/markdown.ts'

describe('plain words', () => {
  const word = fc.stringMatching(/^[A-Za-z0-9]{1,8}(?:['-][A-Za-z0-9]{1,4})?[,.!?]?$/)
  const known = fc.constantFrom(
    'www',
    'http',
    'mailto',
    'me',
    'poll',
    'smile',
    'D',
    'xD',
    'o_O',
    'topic',
    '1.',
    '-',
    'all',
  )

  /** With any linkifier, all goes through the parser. */
  const findsNothing: Linkifier = { match: () => [] }

  test('come out of the short way as they come out of the parser', () => {
    let short = 0
    fc.assert(
      fc.property(
        fc.array(fc.oneof(word, known), { minLength: 1, maxLength: 12 }),
        fc.boolean(),
        (words, emoticons) => {
          const source = words.join(' ')
          if (!isPlain(source)) return
          short++
          const env = (linkifiers: readonly Linkifier[]) => ({
            context: { ...context, linkifiers, emoticons },
            findings: new Findings(),
            quoted: false,
            linked: false,
          })
          for (const text of [source, `- ${source}`, `> ${source}`, `|a|b|\n|-|-|\n|${source}|*c*|`]) {
            const [shortEnv, longEnv] = [env([]), env([findsNothing])]
            assert.equal(toHtml(text, shortEnv), toHtml(text, longEnv))
            assert.deepEqual(shortEnv.findings, longEnv.findings)
          }
        },
      ),
      { numRuns: cases(500) },
    )
    assert.ok(short > 50, `only ${short} went the short way`)
  })

  test('are not taken for that when anything in them could mean something', () => {
    for (const source of [
      'see example.com',
      'a@b.c',
      '1. one',
      '- one',
      '# one',
      'one\ntwo',
      ' one',
      'one ',
      'two  spaces',
      'a_b',
      ':)',
      '',
      'x < y',
      '"quoted"',
      'caf\u00e9',
      '$$x$$',
      'tel:1',
      'one...',
      '/me waves',
    ])
      assert.equal(isPlain(source), false, source)
  })

  test('are still looked through for what the organization links', () => {
    assert.match(
      paragraph('see bug12', { linkifiers: [linkifier(/bug(\d+)/, () => 'https://x.example.com')] }),
      /<a href/,
    )
  })
})
