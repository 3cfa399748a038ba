// Previews of pages on other sites that show one picture or video.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rendering } from '../../support/markdown.ts'

function picture(href: string, src = href): string {
  return `<div class="message_inline_image"><a href="${href}"><img src="${src}"></a></div>`
}

function youtube(id: string, href: string): string {
  return `<div class="youtube-video message_inline_image"><a data-id="${id}" href="${href}"><img src="https://i.ytimg.com/vi/${id}/mqdefault.jpg"></a></div>`
}

function link(href: string): string {
  return `<p><a href="${href}">${href}</a></p>`
}

describe('a page around a file', () => {
  const rows: [title: string, source: string, html: string][] = [
    [
      'of GitHub shows the raw file and leads to the page',
      'https://github.com/a/b/blob/main/x/y.png',
      picture('https://github.com/a/b/blob/main/x/y.png', 'https://raw.githubusercontent.com/a/b/main/x/y.png'),
    ],
    [
      'of Wikipedia shows and leads to the file',
      'https://en.wikipedia.org/wiki/File:Moon.jpg',
      picture('https://en.wikipedia.org/wiki/Special:FilePath/File:Moon.jpg'),
    ],
    ['of linx.li too', 'https://linx.li/moon.jpg', picture('https://linx.li/s/moon.jpg')],
    [
      'of Dropbox too',
      'https://www.dropbox.com/scl/fi/ab/moon.JPG?rlkey=cd',
      picture('https://www.dropbox.com/scl/fi/ab/moon.JPG?rlkey=cd&amp;raw=1'),
    ],
    [
      'of Dropbox may be a video',
      'see https://www.dropbox.com/scl/fi/ab/moon.mp4?rlkey=cd&dl=0',
      '<p>see <a href="https://www.dropbox.com/scl/fi/ab/moon.mp4?rlkey=cd&amp;dl=0">https://www.dropbox.com/scl/fi/ab/moon.mp4?rlkey=cd&amp;dl=0</a></p>\n' +
        '<div class="message_inline_image message_inline_video"><a href="https://www.dropbox.com/scl/fi/ab/moon.mp4?rlkey=cd&amp;dl=0&amp;raw=1">' +
        '<video preload="metadata" src="https://www.dropbox.com/scl/fi/ab/moon.mp4?rlkey=cd&amp;dl=0&amp;raw=1"></video></a></div>',
    ],
    [
      'of Dropbox is left alone elsewhere',
      'https://www.dropbox.com/static/logo.png',
      picture('https://www.dropbox.com/static/logo.png'),
    ],
  ]
  for (const [title, source, html] of rows) test(title, () => assert.equal(rendering(source).html, html))
})

describe('a video of YouTube', () => {
  for (const [href, id] of [
    ['https://www.youtube.com/watch?v=hx1mjT73xYE', 'hx1mjT73xYE'],
    ['https://youtu.be/hx1mjT73xYE', 'hx1mjT73xYE'],
    ['http://www.youtube.com/watch_videos?video_ids=nOJgD4fcZhI,i96UO8-GFvw', 'nOJgD4fcZhI'],
    ['https://youtube.com/shorts/a-b_c', 'a-b_c'],
  ] as const)
    test(`is shown by a still below ${href}`, () => {
      const { html, findings } = rendering(href)
      assert.equal(html, `${link(href)}\n${youtube(id, href)}`)
      assert.equal(findings.hasImage, true)
    })

  test('is shown once for each address, and has no title', () => {
    const href = 'https://youtu.be/abc'
    const { html } = rendering(`[a video](${href}) ${href}`)
    assert.equal(html.split('youtube-video').length, 2)
    assert.equal(html.includes('title='), false)
  })

  test('is not shown for playlists, bad IDs, quotes, other sites or without previews', () => {
    for (const source of [
      'https://www.youtube.com/playlist?list=PL8dPuuaLjXt',
      'https://youtu.be/a%22b',
      '> https://youtu.be/abc',
      'https://example.com/watch?v=abc',
    ])
      assert.equal(rendering(source).html.includes('youtube-video'), false, source)
    assert.equal(rendering('https://youtu.be/abc', { imagePreviews: false }).html, link('https://youtu.be/abc'))
  })
})

test('an item that is only the address of a picture has no line break before it', () => {
  assert.equal(
    rendering('* https://example.com/a.png\n* b').html,
    `<ul>\n<li>${picture('https://example.com/a.png')}</li>\n<li>b</li>\n</ul>`,
  )
})
