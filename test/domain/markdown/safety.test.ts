// Whatever the text: its HTML cannot run anything, and making it takes linear time.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { character } from '../../support/arbitrary.ts'
import { cases } from '../../support/cases.ts'
import { linkifier, paragraph, rendering } from '../../support/markdown.ts'

const attributes: Readonly<Record<string, readonly string[]>> = {
  a: ['class', 'data-stream-id', 'href', 'title'],
  audio: ['controls', 'data-original-url', 'preload', 'src', 'title'],
  div: ['aria-hidden', 'class', 'data-code-language'],
  img: ['alt', 'class', 'data-original-content-type', 'data-original-dimensions', 'src', 'title'],
  ol: ['start'],
  span: ['aria-label', 'class', 'data-user-group-id', 'data-user-id', 'role', 'title'],
  td: ['style'],
  th: ['style'],
  time: ['datetime'],
  video: ['preload', 'src'],
}
const plain = 'blockquote br code del em h1 h2 h3 h4 h5 h6 hr li p pre strong table tbody thead tr ul'.split(' ')
const empty = new Set(['br', 'hr', 'img'])
/** Of KaTeX, which writes styles too. */
const formulaTags =
  'math semantics annotation mrow mi mn mo ms mtext mspace msup msub msubsup mover munder munderover mfrac msqrt mroot mtable mtr mtd menclose mpadded mphantom mstyle svg path line'.split(
    ' ',
  )

/** Reads HTML as strictly as we write it; throws at anything else. */
function checkHtml(html: string): void {
  const open: string[] = []
  const token =
    /([^<>&]|&(?:#\d+|#x[0-9a-f]+|[0-9a-z]+);)+|<(\/?)([a-z][a-z0-9]*)((?: [a-zA-Z-]+(?:="[^<>"]*")?)*)\/?>/iy
  while (token.lastIndex < html.length) {
    const at = token.lastIndex
    const found = token.exec(html)
    assert.ok(found, `not HTML of ours: ${JSON.stringify(html.slice(at, at + 60))}`)
    const [, , closing, tag, written] = found
    if (tag === undefined) continue
    const isFormula = formulaTags.includes(tag) || written?.includes(' style=') || written?.includes(' aria-hidden=')
    assert.ok(isFormula || plain.includes(tag) || attributes[tag], `<${tag}>`)
    if (closing) assert.equal(open.pop(), tag, `</${tag}> closes something else`)
    else if (!empty.has(tag)) {
      assert.ok(tag !== 'a' || !open.includes('a'), 'a link in a link')
      open.push(tag)
    }
    for (const [, name, value] of (written ?? '').matchAll(/ ([a-zA-Z-]+)(?:="([^"]*)")?/g)) {
      if (isFormula) assert.doesNotMatch(name!, /^(?:on|href|src)/i)
      else assert.ok(attributes[tag]?.includes(name!), `<${tag} ${name}>`)
      assert.ok(!/&(?!(?:amp|lt|gt|quot);)/.test(value ?? ''), value)
      if (name === 'href' || name === 'src') checkAddress(value!)
    }
  }
  assert.deepEqual(open, [])
}

const harmless =
  /^(https?|ftp|file|bitcoin|geo|im|ircs?|magnet|mailto|matrix|mms|news|nntp|openpgp4fpr|sip|sms|smsto|ssh|tel|urn|webcal|wtai|xmpp)$/i

function checkAddress(value: string): void {
  // As a browser reads it: control characters and spaces do not count.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
  const read = value.replaceAll('&amp;', '&').replace(/[\u0000-\u0020]/g, '')
  const scheme = /^([^/?#:]*):/.exec(read)?.[1]
  if (scheme !== undefined) assert.match(scheme, harmless, value)
}

const syntax = [
  ...['*', '**', '~~', '_', '`', '``', '```', '~~~', '[', ']', '(', ')', '](', '![', '<', '>', '"', "'", '&', '\\'],
  ...['\n', '\n\n', ' ', '    ', '\t', '> ', '- ', '1. ', '# ', '|', '|-|\n', '---\n', '$$', ':', '@', '#', '\0', '\r'],
  ...['@**', '@_**', '@*', '#**', '#**announce>', '@**Amy Adams**', '@**all**', '#**announce**', '<time:', ':smile:'],
  ...['javascript:alert(1)', 'JAVASCRIPT:', 'data:text/html,', 'https://a.b/', 'https://a.b/c.png', 'a@b.co', '#12'],
  ...['```quote\n', '```spoiler ', '```math\n', '```py\n', '/user_uploads/1/a.png', '/user_uploads/a.mp4', '.mp3)'],
  ...['<script>', '<img src=x onerror=alert(1)>', '" onclick="x', '&#106;', '&lt;', '😄', '\ud83d', '\u202e', '\u0085'],
]
const texts = fc
  .array(fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...syntax) }, fc.string({ maxLength: 4, unit: character })), {
    maxLength: 40,
  })
  .map(parts => parts.join(''))

describe('no text renders to executable HTML', () => {
  test('whatever syntax is put together', () => {
    fc.assert(
      fc.property(texts, fc.boolean(), (source, emoticons) => checkHtml(rendering(source, { emoticons }).html)),
      { numRuns: cases(800) },
    )
  })

  test('known attacks', () => {
    for (const source of [
      '<script>alert(1)</script>',
      '[x](javascript:alert(1))',
      '[x](java\tscript:alert(1))',
      '[x](&#106;avascript:alert(1))',
      '[x]( javascript:alert(1))',
      '[x](" onmouseover="alert(1))',
      '[x](/a "t\' onclick=alert(1)")',
      'https://a.b/"onmouseover="alert(1)',
      '![x](javascript:a.mp3)',
      '```x" onload="y\n```',
      '```spoiler <img src=x onerror=y>\n```',
      '<time:"><script>>',
      '@**<b>** #**announce><script>**',
      '$$</span><script>$$',
    ])
      checkHtml(rendering(source).html)
  })

  test('not even by a linkifier', () => {
    const evil = linkifier(/#(\d+)/, ([, id]) => `javascript:alert(${id})`)
    assert.equal(paragraph('#12', { linkifiers: [evil] }), '#12')
  })

  test('escaping happens once: what is shown is what was written', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][a-z&<>"';]*$/), source => {
        const shown = paragraph(source)
          .replaceAll('&lt;', '<')
          .replaceAll('&gt;', '>')
          .replaceAll('&quot;', '"')
          .replaceAll('&amp;', '&')
        assert.equal(shown, source)
      }),
    )
  })

  test('nesting ends, and what is deeper stays text', () => {
    for (const opening of ['> ', '- ', '1. ', '> - ', '```quote\n', '```spoiler x\n']) {
      const { html } = rendering(`${opening.repeat(500)}deep`)
      checkHtml(html)
      assert.ok(html.includes('deep'), opening)
      assert.ok(html.split('<blockquote>').length < 30)
    }
  })
})

const patterns = [
  ...[
    '*',
    '**a ',
    'a**b',
    '*a **b ',
    '***a',
    'a***b* ',
    '~~a ',
    '*a_ ',
    '[',
    '[a](',
    '[a](b "',
    '[a]([b](',
    '[[]',
    '![',
  ],
  ...['@**', '@**a', '@**a* ', '@*a', '#**a>', '`a``', '$$a', '<time:1', 'http://', 'http://a(', 'http://\\', ':a'],
  ...['a@', 'a@b.', 'a.', '> ', '> a\n', '- ', '- a\n', '  - a\n', '1. a\n', '> - ', '```quote\n', '```\n', '|'],
  ...['a|b\n-|-\n', '\n', ' ', '😄', '\u200d', '<', '&amp;', 'a\n> b\n', 'https://a.b/c.png '],
]
/** What fails only at its end. */
const enclosed: readonly (readonly [before: string, pattern: string, after: string])[] = [
  ['```', 'a', '`'],
  ['```a', ' ', '`'],
  ['```a', '\t', '`'],
  ['\ta', ' ', 'b'],
  ['\ta', '\n', '\tb'],
  ['```\na', ' ', 'b'],
]

describe('no text grows without bound', () => {
  test('ten thousand emoji are 1,000 pictures and 9,000 signs', () => {
    const html = rendering('😄'.repeat(10_000)).html
    assert.equal(html.split('class="emoji').length - 1, 1000)
    assert.equal(html.split('😄').length - 1, 9000)
    assert.ok(html.length < 150_000)
  })

  test('tables of a message have 3,000 cells together, and what comes after them stays text', () => {
    const table = (columns: number, rows: number) =>
      `${'a|'.repeat(columns)}\n${'-|'.repeat(columns)}\n${'|\n'.repeat(rows)}\n`
    const rowsIn = (source: string) => rendering(source).html.split('<tr>').length - 1
    assert.equal(rowsIn(table(49, 50)), 51)
    // 60 lines of 50 columns each, one of which is the line below the head.
    assert.equal(rowsIn(table(49, 100)), 59)
    assert.equal(rowsIn(table(49, 40) + table(49, 40)), 59 - 1)
    assert.equal(rowsIn(table(1600, 1700)), 0)
    assert.equal(rowsIn(`${table(10, 10)}${'text\n'.repeat(1000)}`), 11)
  })
})

describe('no text takes more than linear time', () => {
  const alone = patterns.map(pattern => ['', pattern, ''] as const)
  for (const [before, pattern, after] of [...alone, ...enclosed])
    test(`${JSON.stringify(before + pattern + after)}, with ${JSON.stringify(pattern)} over and over`, () => {
      const timeOf = (length: number) =>
        timeToRender(before + pattern.repeat(Math.ceil(length / pattern.length)) + after)
      // Four times the text may take four times as long; squares would take sixteen. Other work on the machine only adds
      // time, so a pattern fails if no attempt was near.
      let best = Number.POSITIVE_INFINITY
      for (let attempt = 0; attempt < 30 && best > 9; attempt++) {
        // Twice, because the first run may still be compiled: a short one that is slow would hide a square.
        const short = Math.min(timeOf(5000), timeOf(5000))
        best = Math.min(best, timeOf(20_000) / Math.max(short, 0.5))
      }
      assert.ok(best <= 9, `four times the text took ${best.toFixed(1)} times as long`)
    })
})

/** Milliseconds of processor time. */
function timeToRender(source: string): number {
  const start = process.cpuUsage()
  rendering(source)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}
