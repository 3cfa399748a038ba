// Markdown: what each piece of syntax becomes, and what it does besides.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { applyFact } from '../../../daemon/domain/index.ts'
import { alertedBy } from '../../../daemon/domain/markdown/alert-words.ts'
import { render, renderDescription, topicLinks } from '../../../daemon/domain/markdown/index.ts'
import { parseWidget } from '../../../daemon/domain/markdown/widgets.ts'
import { type Channel, State } from '../../../daemon/domain/model/state.ts'
import { found } from '../../../daemon/domain/organization/founding.ts'
import { isOwner } from '../../../daemon/domain/rules/index.ts'
import seed from '../../../data/seed.json' with { type: 'json' }
import { linkifier, paragraph, rendering } from '../../support/markdown.ts'

describe('mentions', () => {
  const amy = '<span class="user-mention" data-user-id="12">@Amy Adams</span>'
  const silentAmy = '<span class="user-mention silent" data-user-id="12">Amy Adams</span>'

  test('of a person, by name, by name and ID, by ID', () => {
    for (const source of ['@**Amy Adams**', '@**amy ADAMS**', '@**Amy Adams|12**', '@**|12**']) {
      assert.equal(paragraph(source), amy)
      assert.deepEqual([...rendering(source).findings.users], [12])
    }
  })

  test('stay text when no one has the name, or name and ID disagree', () => {
    for (const source of ['@**Nobody Known**', '@**Amy Adams|13**', '@**|99**'])
      assert.equal(rendering(source).findings.users.size, 0)
    assert.equal(paragraph('@**Nobody <b>**'), '@<strong>Nobody &lt;b&gt;</strong>')
  })

  test('are silent with an underscore, in quotes, and of deactivated accounts', () => {
    assert.equal(paragraph('@_**Amy Adams**'), silentAmy)
    for (const source of [
      '> @**Amy Adams**',
      '```quote\n@**Amy Adams**\n```',
      '> - @**Amy Adams**',
      '@_**Amy Adams**',
    ]) {
      const { html, findings } = rendering(source)
      assert.ok(html.includes(silentAmy), html)
      assert.equal(findings.users.size, 0)
    }
    assert.equal(paragraph('@**Gone Girl**'), '<span class="user-mention silent" data-user-id="13">Gone Girl</span>')
    assert.equal(rendering('@**Gone Girl**').findings.users.size, 0)
    assert.deepEqual([...rendering('> quoted\n\n@**Amy Adams**').findings.users], [12])
  })

  test('do nothing in code', () => {
    for (const source of ['`@**Amy Adams**`', '```\n@**Amy Adams** @**all** @*designers*\n```', '    @**all**']) {
      const { html, findings } = rendering(source)
      assert.ok(!html.includes('mention'), html)
      assert.equal(findings.users.size + findings.groups.size, 0)
      assert.equal(findings.channelWildcard, false)
    }
  })

  test('start at the start of a line, after white space or an opening sign', () => {
    for (const before of ['', 'x ', 'x\n', "'", '"', '(', '{', '[', '/', '<'])
      assert.deepEqual([...rendering(`${before}@**Amy Adams**`).findings.users], [12], before)
    for (const before of ['x', '.', '-', ':']) assert.equal(rendering(`${before}@**Amy Adams**`).findings.users.size, 0)
  })

  test('of everyone in the channel, and of the topic', () => {
    for (const word of ['all', 'everyone', 'channel', 'stream']) {
      const { html, findings } = rendering(`@**${word}**`)
      assert.equal(html, `<p><span class="user-mention channel-wildcard-mention" data-user-id="*">@${word}</span></p>`)
      assert.equal(findings.channelWildcard, true)
    }
    assert.equal(paragraph('@**topic**'), '<span class="topic-mention">@topic</span>')
    assert.equal(rendering('@**topic**').findings.topicWildcard, true)
    assert.equal(rendering('@_**topic** @_**all**').findings.topicWildcard, false)
    assert.equal(rendering('> @**all**').findings.channelWildcard, false)
  })

  test('of groups', () => {
    assert.equal(
      paragraph('@*designers*'),
      '<span class="user-group-mention" data-user-group-id="17">@designers</span>',
    )
    assert.deepEqual([...rendering('@*designers*').findings.groups], [17])
    assert.equal(
      paragraph('@_*role:members*'),
      '<span class="user-group-mention silent" data-user-group-id="6">Members</span>',
    )
    assert.equal(rendering('@_*designers* > @*nobody*').findings.groups.size, 0)
    assert.equal(paragraph('@*nobody*'), '@<em>nobody</em>')
  })
})

describe('links to places', () => {
  test('name a channel, a topic or a message', () => {
    assert.equal(
      paragraph('#**Announce**'),
      '<a class="stream" data-stream-id="9" href="/#narrow/channel/9-announce">#announce</a>',
    )
    assert.equal(
      paragraph('#**announce>release**'),
      '<a class="stream-topic" data-stream-id="9" href="/#narrow/channel/9-announce/topic/release/with/214">#announce &gt; release</a>',
    )
    assert.equal(
      paragraph('#**announce>release@214**'),
      '<a class="message-link" href="/#narrow/channel/9-announce/topic/release/near/214">#announce &gt; release @ 💬</a>',
    )
    assert.equal(
      paragraph('#**announce>**'),
      '<a class="stream-topic" data-stream-id="9" href="/#narrow/channel/9-announce/topic/">#announce &gt; <em>general chat</em></a>',
    )
    assert.deepEqual([...rendering('#**announce>release@214**').findings.messages], [214])
  })

  test('are encoded with dots', () => {
    assert.equal(
      paragraph('#**R&D (new) v1.0>what? 50%**'),
      '<a class="stream-topic" data-stream-id="10" href="/#narrow/channel/10-R.26D-.28new.29-v1.2E0/topic/what.3F.2050.25">#R&amp;D (new) v1.0 &gt; what? 50%</a>',
    )
  })

  test('stay text for channels that the author cannot see, and in code', () => {
    assert.equal(paragraph('#**secret**'), '#<strong>secret</strong>')
    assert.equal(paragraph('`#**announce**`'), '<code>#**announce**</code>')
  })

  test('absolute ones to this server become relative', () => {
    const html = paragraph('https://chat.example.com/#narrow/channel/9-announce')
    assert.equal(html, '<a href="#narrow/channel/9-announce">https://chat.example.com/#narrow/channel/9-announce</a>')
    assert.match(paragraph('https://other.example.com/#narrow/x'), /href="https:\/\/other/)
  })
})

describe('text', () => {
  const cases: Readonly<Record<string, string>> = {
    '**b** *i* ~~s~~': '<p><strong>b</strong> <em>i</em> <del>s</del></p>',
    '***both*** a**b**c': '<p><strong><em>both</em></strong> a<strong>b</strong>c</p>',
    '_a_ __b__ snake_case_name': '<p>_a_ __b__ snake_case_name</p>',
    '**a\nb**': '<p>**a<br>\nb**</p>',
    'one\ntwo\n\nthree': '<p>one<br>\ntwo</p>\n<p>three</p>',
    '<b>&amp;"': '<p>&lt;b&gt;&amp;"</p>',
    '& &amp; `&amp;`': '<p>&amp; &amp; <code>&amp;amp;</code></p>',
    '~~ a ~~ ~~~b~~~': '<p><del> a </del> ~~~b~~~</p>',
    '` a `': '<p><code> a </code></p>',
    'a\n  b  ': '<p>a<br>\n  b  </p>',
    '# x\n###### y\n#z': '<h1>x</h1>\n<h6>y</h6>\n<p>#z</p>',
    '* a\n- b': '<ul>\n<li>a</li>\n<li>b</li>\n</ul>',
    '- a\n  - b\n- c': '<ul>\n<li>a<ul>\n<li>b</li>\n</ul>\n</li>\n<li>c</li>\n</ul>',
    '1. a\n  - b\n2. c': '<ol>\n<li>a<ul>\n<li>b</li>\n</ul>\n</li>\n<li>c</li>\n</ol>',
    '100. a\n  1. b': '<ol start="100">\n<li>a<ol>\n<li>b</li>\n</ol>\n</li>\n</ol>',
    'x\n3. a\n  7. b': '<p>x</p>\n<ol start="3">\n<li>a<ol start="7">\n<li>b</li>\n</ol>\n</li>\n</ol>',
    '>': '<p>&gt;</p>',
    '>\n>\na': '<blockquote>\n<p>a</p>\n</blockquote>',
    '[](https://a.b) [ ](https://a.b)':
      '<p><a href="https://a.b">https://a.b</a> <a href="https://a.b">https://a.b</a></p>',
    '~~~a:b~~~': '<p>~~~a:b~~~</p>',
    '`a <b> *c*`': '<p><code>a &lt;b&gt; *c*</code></p>',
    '> a\n\n> b': '<blockquote>\n<p>a</p>\n</blockquote>\n<blockquote>\n<p>b</p>\n</blockquote>',
    '```quote\n*a*\n```': '<blockquote>\n<p><em>a</em></p>\n</blockquote>',
    '$$\\frac{1$$': '<p><span class="tex-error">$$\\frac{1$$</span></p>',
    $$_$$: '<p>$$_$$</p>',
    '```math\n\\frac{1\n```': '<p><span class="tex-error">\\frac{1</span></p>',
    '/me waves': '<p>/me waves</p>',
  }
  for (const [source, html] of Object.entries(cases))
    test(JSON.stringify(source), () => assert.equal(rendering(source).html, html))

  test('formulas are typeset, in a line and on their own', () => {
    const inline = paragraph('$$x^2$$')
    assert.match(inline, /^<span class="katex"><span class="katex-mathml"><math .*<msup><mi>x<\/mi><mn>2<\/mn><\/msup>/)
    assert.match(inline, /<annotation encoding="application\/x-tex">x\^2<\/annotation>/)
    assert.match(rendering('```math\n\\frac{1}{2}\n```').html, /^<p><span class="katex-display"><span class="katex">/)
  })

  test('formulas that take long to typeset are shown as they were written', () => {
    const matrix = (cells: number) => `$$\\begin{matrix}${'&'.repeat(cells)}\\end{matrix}$$`
    for (const source of [matrix(500), `$$${'x'.repeat(1001)}$$`, '$$\\def\\a{x}\\a$$', '$$\\newcommand{\\a}{x}\\a$$'])
      assert.match(paragraph(source), /^<span class="tex-error">/)
    assert.match(paragraph(matrix(50)), /^<span class="katex">/)
    assert.match(rendering('```math\nx \\tag{1}\n```').html, /katex-display/)
    // Together, they have too many cells or are larger than a text can be.
    const together = /^<span class="katex">.*<span class="tex-error">.*<span class="tex-error">/s
    for (const source of [matrix(290), '$$x$$ '.repeat(100), `$$${'x^2'.repeat(330)}$$`])
      assert.match(paragraph(`${source} `.repeat(10)), together)
  })

  test('tables', () => {
    const { html } = rendering('| a | b |\n|---|:-:|\n| **1** | 2 |')
    assert.match(html, /^<table>\n<thead>\n<tr>\n<th>a<\/th>/)
    assert.match(html, /<tbody>\n<tr>\n<td><strong>1<\/strong><\/td>/)
  })

  test('code blocks show the name of their language', () => {
    const block = (attribute: string) =>
      `<div class="codehilite"${attribute}><pre><span></span><code>x &lt; y\n</code></pre></div>`
    assert.equal(rendering('```py\nx < y\n```').html, block(' data-code-language="Python"'))
    assert.equal(rendering('~~~~ frobnicate\nx < y\n~~~~').html, block(' data-code-language="frobnicate"'))
    assert.equal(rendering('```\nx < y\n```').html, block(''))
    assert.equal(rendering('    x < y').html, block(''))
    assert.equal(rendering('```\nx < y', { codeLanguage: 'js' }).html, block(' data-code-language="JavaScript"'))
    assert.ok(!rendering('```"><b>\nx\n```').html.includes('<b>'))
  })

  test('spoilers hold Markdown, and fences nest', () => {
    assert.equal(
      rendering('```spoiler The *end*\n- a\n```').html,
      '<div class="spoiler-block"><div class="spoiler-header">\n<p>The <em>end</em></p>\n</div>' +
        '<div class="spoiler-content" aria-hidden="true">\n<ul>\n<li>a</li>\n</ul>\n</div></div>',
    )
    const { html } = rendering('```quote\n```py\nx\n```\n@**all**\n```\nafter')
    assert.match(html, /^<blockquote>.*data-code-language="Python".*silent.*<\/blockquote>\n<p>after<\/p>$/s)
  })

  test('times', () => {
    const time = (iso: string, text: string) => `<time datetime="${iso}">${text}</time>`
    for (const [text, iso] of [
      ['2030-05-01T10:00:00+02:00', '2030-05-01T08:00:00Z'],
      ['2030-05-01 10:00', '2030-05-01T10:00:00Z'],
      ['2030-05-01', '2030-05-01T00:00:00Z'],
      ['May 1 2030, 10:30 PM', '2030-05-01T22:30:00Z'],
      ['1st May 2030', '2030-05-01T00:00:00Z'],
      ['1893456000', '2030-01-01T00:00:00Z'],
    ] as const)
      assert.equal(paragraph(`<time:${text}>`), time(iso, text))
    for (const text of ['soon', 'hello 1', '2030-13-45', '99999999999999'])
      assert.match(paragraph(`<time:${text}>`), /^<span class="timestamp-error">/)
  })
})

describe('emoji', () => {
  test('by name and by character', () => {
    const smile = '<span aria-label="smile" class="emoji emoji-1f604" role="img" title="smile">:smile:</span>'
    assert.equal(paragraph(':smile:'), smile)
    assert.equal(paragraph('😄'), smile)
    assert.match(paragraph(':thumbs_up:'), /aria-label="thumbs up" class="emoji emoji-1f44d".*>:thumbs_up:</)
    assert.match(paragraph('❤️'), /emoji-2764"/)
    assert.match(paragraph('🇺🇸 🏳️‍🌈'), /emoji-1f1fa-1f1f8".*emoji-1f3f3-200d-1f308"/)
    for (const text of [':no_such_emoji:', '10:20:30', '© 2030 ™', '👍🏽', '`:smile:`'.slice(1, -2)])
      assert.equal(paragraph(text), text)
    assert.equal(paragraph('`:smile:`'), '<code>:smile:</code>')
  })

  test('of the organization, and the extra one', () => {
    assert.equal(
      paragraph(':party_parrot:'),
      '<img alt=":party_parrot:" class="emoji" src="/user_avatars/1/emoji/1.gif" title="party parrot">',
    )
    assert.match(paragraph(':svc:'), /^<img alt=":svc:" class="emoji"/)
  })

  test('for emoticons only if the author wants it', () => {
    assert.equal(paragraph('hi :)'), 'hi :)')
    assert.match(paragraph('hi :) <3', { emoticons: true }), /emoji-1f642".*emoji-2764"/)
    assert.equal(paragraph('(x:)y', { emoticons: true }), '(x:)y')
  })
})

describe('linkifiers', () => {
  test('link what follows a boundary, but never in links or code', () => {
    const link = '<a href="https://bugs.example.com/12">#12</a>'
    assert.equal(paragraph('see #12, (#12) **#12**'), `see ${link}, (${link}) <strong>${link}</strong>`)
    for (const source of ['x#12', '#12a', '`#12`', '`a`#12']) assert.ok(!paragraph(source).includes('<a'), source)
    assert.equal(paragraph('[#12](/x)'), '<a href="/x">#12</a>')
  })

  test('the earlier one wins', () => {
    const first = linkifier(/T-(\d+)/, ([, id]) => `https://one.example.com/${id}`)
    const second = linkifier(/T-\d+-X/, () => 'https://two.example.com')
    assert.match(paragraph('T-1-X', { linkifiers: [first, second] }), /one\.example\.com\/1">T-1</)
    assert.match(paragraph('T-1-X', { linkifiers: [second, first] }), /two\.example\.com">T-1-X</)
  })

  test('topic links come in the order of the topic, addresses after linkifiers', () => {
    const state = new State()
    state.linkifiers.put({
      id: 1,
      pattern: '#(?P<id>[0-9]+)',
      urlTemplate: 'https://bugs.example.com/{id}',
      order: 1,
    } as never)
    assert.deepEqual(topicLinks(state, 'https://a.b/c about #7'), [
      { text: 'https://a.b/c', url: 'https://a.b/c' },
      { text: '#7', url: 'https://bugs.example.com/7' },
    ])
    assert.deepEqual(topicLinks(new State(), 'nothing'), [])
  })
})

describe('alert words', () => {
  /** The words that occur, in the order in which they are given. */
  const alertWordsIn = (text: string, words: readonly string[]) => {
    const state = new State()
    for (const [userId, word] of words.entries()) state.alertWords.put({ userId, words: [word] })
    return alertedBy(state, text).map(userId => words[userId])
  }

  test('stand by themselves, in any case', () => {
    assert.deepEqual(alertWordsIn('Deploy FAILED, again', ['failed', 'deploy', 'fail']), ['failed', 'deploy'])
    assert.deepEqual(alertWordsIn('undeployed redeploy deploy-bot', ['deploy']), [])
    assert.deepEqual(alertWordsIn('the Big one!', ['big one', '']), ['big one'])
    assert.deepEqual(alertWordsIn('big  one, big', ['big one', 'big o', 'big']), ['big'])
    assert.deepEqual(alertWordsIn('use .net, not asp.net', ['.net']), ['.net'])
    assert.deepEqual(alertWordsIn('asp.net', ['.net', 'net', 'asp.net', 'asp']), ['net', 'asp.net', 'asp'])
    assert.deepEqual(alertWordsIn('c++ and (c#)', ['c++', 'c#', 'c']), ['c++', 'c#'])
  })

  test('cost the same however many there are', { timeout: 60_000 }, () => {
    const words = Array.from({ length: 200_000 }, (_, i) => `a a${i}`)
    assert.deepEqual(alertWordsIn('a '.repeat(5000), words), [])
  })
})

describe('widgets', () => {
  test('polls and to-do lists', () => {
    assert.deepEqual(parseWidget('/poll Lunch?\n- pizza\nsoup\n'), {
      widget_type: 'poll',
      extra_data: { question: 'Lunch?', options: ['pizza', 'soup'] },
    })
    assert.deepEqual(parseWidget('/todo Trip\nbook: by train'), {
      widget_type: 'todo',
      extra_data: { task_list_title: 'Trip', tasks: [{ task: 'book', desc: 'by train' }] },
    })
    assert.equal(parseWidget('/polls are fun'), undefined)
    assert.equal(parseWidget('a /poll'), undefined)
  })
})

describe('rendering for someone', () => {
  const state = new State()
  applyFact(state, found(seed, 'example.com', 0))
  const owner = [...state.users.values()].find(isOwner)!
  const guest = { ...owner, id: 50, role: 600 as const, fullName: 'Gus Guest', email: 'gus@example.com' }
  state.users.put(guest)
  state.users.put({ ...guest, id: 51, active: false, fullName: 'Dora Double' })
  state.users.put({ ...guest, id: 52, fullName: 'Dora Double' })
  const permissions = Object.create(null) as Channel['permissions']
  state.channels.put({ id: 3, name: 'plans', inviteOnly: false, webPublic: false, permissions } as Channel)

  test('tells what the message needs', () => {
    const text = render({ state, actor: owner }, '/me says hi to @**gus guest** in #**plans** @*role:members*')
    assert.deepEqual(text.mentions.userIds, [50])
    assert.equal(text.mentions.groupIds.length, 1)
    assert.deepEqual(text.linkedChannelIds, [3])
    assert.equal(text.isMe, true)
    assert.equal(text.hasAttachment, false)
    assert.ok(text.html.includes('>@Members</span>'))
  })

  test('only channels that the author has access to are links', () => {
    assert.equal(render({ state, actor: guest }, '#**plans**').html, '<p>#<strong>plans</strong></p>')
  })

  test('of two people with one name the active one is meant', () => {
    assert.deepEqual(render({ state, actor: owner }, '@**Dora Double**').mentions.userIds, [52])
    assert.deepEqual(render({ state, actor: owner }, '@**Dora Double|51**').mentions.userIds, [])
  })

  test('descriptions mention no one and show no pictures', () => {
    assert.equal(renderDescription(state, state.organization, ''), '')
    assert.equal(
      renderDescription(state, state.organization, '@**Gus Guest** https://a.b/c.png'),
      '<p>@<strong>Gus Guest</strong> <a href="https://a.b/c.png">https://a.b/c.png</a></p>',
    )
  })

  test('HTML beyond all measure is refused', () => {
    assert.throws(() => render({ state, actor: owner }, `$$${'x^2'.repeat(330)}$$ `.repeat(10)), /too large/)
  })
})
