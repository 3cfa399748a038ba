// Links: bare addresses, named links and what they show below a message.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { paragraph, rendering } from '../../support/markdown.ts'

describe('links', () => {
  test('allowed schemes and paths; dangerous schemes stay text', () => {
    for (const url of ['http://a.b', 'https://a.b/c_(d)', 'mailto:a@b.co', 'tel:+1', 'sms:+1', '/x', '#narrow/x'])
      assert.equal(paragraph(`[*t*](${url})`), `<a href="${url}"><em>t</em></a>`)
    for (const url of ['javascript:alert(1)', 'JaVaScRiPt:x', 'data:text/html,x', 'vbscript:x', '\u0001javascript:x'])
      assert.ok(!paragraph(`[t](${url})`).includes('<a'), url)
  })

  test('bare ones end before the punctuation of the sentence', () => {
    const link = (url: string) => `<a href="${url}">${url}</a>`
    assert.equal(paragraph('(see https://a.b/c_d_(e)).'), `(see ${link('https://a.b/c_d_(e)')}).`)
    assert.equal(paragraph('**https://a.b/x*y**'), '<strong>https://a.b/x*y</strong>')
    assert.equal(paragraph('mail a.b@c.co.uk!'), 'mail <a href="mailto:a.b@c.co.uk">a.b@c.co.uk</a>!')
    assert.equal(paragraph('xhttps://a.b @b.co a@b'), 'xhttps://a.b @b.co a@b')
    assert.equal(paragraph('x=https://a.b a@b.co/c'), 'x=https://a.b a@b.co/c')
  })

  test('domains with a known ending are links, and file names are not', () => {
    const link = (text: string) => `<a href="http://${text}">${text}</a>`
    assert.equal(paragraph('Is it foo.org? "is.gd/a/"'), `Is it ${link('foo.org')}? "${link('is.gd/a/')}"`)
    assert.equal(paragraph('www.a.co.uk/(b) data:a.com'), `${link('www.a.co.uk/(b)')} data:${link('a.com')}`)
    assert.equal(paragraph('setup.py a.b README.md 1.5'), 'setup.py a.b README.md 1.5')
  })

  test('may be of bitcoin', () => {
    const address = 'bitcoin:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'
    assert.equal(paragraph(`to ${address}, or not`), `to <a href="${address}">${address}</a>, or not`)
    assert.equal(paragraph('bitcoin:1A'), 'bitcoin:1A')
  })

  test('of a written link, an address without a scheme is one of the web or of mail', () => {
    const addresses = {
      'www.zulip.org': 'http://www.zulip.org',
      'a.b/c?d@e': 'http://a.b/c?d@e',
      'a@b.co': 'mailto:a@b.co',
      '/b': '/b',
      '#b': '#b',
      'ftp://a.b/c': 'ftp://a.b/c',
      'magnet:?xt=a': 'magnet:?xt=a',
      'user_uploads/1/a.txt': 'http://user_uploads/1/a.txt',
    }
    for (const [written, href] of Object.entries(addresses))
      assert.equal(paragraph(`[a](${written})`), `<a href="${href}">a</a>`)
  })

  test('are told', () => {
    assert.equal(rendering('plain #**announce**').findings.hasLink, false)
    for (const source of ['https://a.b', '[a](/b)', '#12', 'a@b.co'])
      assert.equal(rendering(source).findings.hasLink, true, source)
  })

  test('to pictures show them below, once, outside quotes', () => {
    const box =
      '<div class="message_inline_image"><a href="https://a.b/c.png" title="pic"><img src="https://a.b/c.png"></a></div>'
    const { html, findings } = rendering('[pic](https://a.b/c.png) [pic](https://a.b/c.png)')
    assert.ok(html.endsWith(`</p>\n${box}`), html)
    assert.equal(html.split('message_inline_image').length, 2)
    assert.equal(findings.hasImage, true)
    for (const [source, changes] of [
      ['> https://a.b/c.png', {}],
      ['https://a.b/c.png', { imagePreviews: false }],
      ['https://a.b/c.svg', {}],
    ] as const)
      assert.ok(!rendering(source, changes).html.includes('message_inline_image'), source)
  })

  test('to uploads are attachments, with pictures and players', () => {
    const { html, findings } = rendering('[a](/user_uploads/1/a.png)')
    const picture =
      'data-original-content-type="image/png" data-original-dimensions="80x60" src="/user_uploads/1/a.png"'
    assert.ok(html.includes(`<img ${picture}>`), html)
    assert.deepEqual([...findings.uploads], ['/user_uploads/1/a.png'])
    assert.match(
      rendering('[a](/user_uploads/1/a.mp4)').html,
      /<div class="message_inline_image message_inline_video"><a href="[^"]+" title="a"><video preload="metadata"/,
    )
    assert.match(paragraph('![a](/user_uploads/1/a.mp3)'), /^<audio controls preload="metadata" src="/)
    assert.equal(paragraph('![a](/b.txt)'), '![a](/b.txt)')
  })
})
