// Descriptions and profile fields: they are always shown, and take little room and work.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import katex from 'katex'
import MarkdownIt from 'markdown-it'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { reminders } from '../../../daemon/api/messages/reminders.ts'
import { linkifiers } from '../../../daemon/api/organization/linkifiers.ts'
import { limits } from '../../../daemon/domain/limits.ts'
import { renderDescription } from '../../../daemon/domain/markdown/index.ts'
import { roles } from '../../../daemon/domain/model/roles.ts'
import { State } from '../../../daemon/domain/model/state.ts'
import { Control } from '../../support/control.ts'
import { sharedDaemon } from '../../support/daemon.ts'
import { threePeople } from '../../support/domain-world.ts'
import { fetched, listen, people } from '../../support/world.ts'

/** With it, 500 digits become a million characters. */
const longLinks = { pattern: '(?P<id>[0-9])', url_template: `https://e.com/{id}?${'x'.repeat(1900)}` }
const digits = '1 '.repeat(500).trim()

describe('a linkifier that makes existing texts too large', () => {
  const daemon = sharedDaemon({ flags: ['--control', '--clock', 'frozen@2030-01-01T00:00:00Z'] })

  test('leaves their channels, folders and reminders as they were, with descriptions as plain text', async () => {
    const { owner } = daemon()
    const [amy] = await people(daemon(), 'amy')
    const { id } = await owner.call(channels.create, { name: 'digits', description: digits, subscribers: [owner.id] })
    await amy.call(reminders.create, { note: digits })
    await owner.call(linkifiers.add, longLinks)
    const heard = await listen(amy, ['subscription', 'stream'])
    await amy.call(subscriptions.subscribe, { subscriptions: ['digits'] })
    const { subscriptions: found } = await fetched(amy, ['subscription'])
    assert.equal(found[0].rendered_description, `<p>${digits}</p>`)
    await owner.call(channels.update, { stream_id: id, description: `${digits} <b>` })
    const events = await heard()
    assert.equal(events.at(-1)!.rendered_description, `<p>${digits} &lt;b&gt;</p>`)
    await new Control(daemon()).advance('2h')
    const { messages: received } = await amy.call(messages.list, { anchor: 'newest', num_before: 1 })
    assert.ok(received[0]!.content.includes(`&gt; ${digits}`))
    await amy.refused(messages.send, { type: 'direct', to: [amy.id], content: digits }, 'BAD_REQUEST')
  })
})

describe('descriptions', () => {
  test('have less room than messages, and formulas stop where it ends', t => {
    const { mock } = t.mock.method(katex, 'renderToString')
    const source = '$$x$$ '.repeat(165).trim()
    assert.equal(renderDescription(new State(), {}, source), `<p>${source}</p>`)
    assert.ok(mock.callCount() < 40, `${mock.callCount()} formulas`)
    assert.match(renderDescription(new State(), {}, 'about $$x^2$$'), /class="katex"/)
  })

  test('are not parsed at all if their source is too long', t => {
    const { mock } = t.mock.method(MarkdownIt.prototype, 'parse')
    const source = `${'@**'.repeat(100_000)}`
    assert.equal(renderDescription(new State(), {}, source), `<p>${source}</p>`)
    assert.equal(mock.callCount(), 0)
  })

  test('are rendered once for each row', t => {
    const { mock } = t.mock.method(katex, 'renderToString')
    const { world, amy } = threePeople()
    world.channel('squares', [amy], { description: 'about $$x^2$$' })
    for (let i = 0; i < 5; i++)
      assert.match(world.section(amy, 'subscription').subscriptions[0].rendered_description, /class="katex"/)
    assert.equal(mock.callCount(), 1)
  })

  test('are rendered again when a linkifier, a channel, a topic or an emoji that they name changes', () => {
    const { world, amy } = threePeople()
    const { state } = world
    const row = world.channel('notes', [amy])
    const shown = () => renderDescription(state, row, '#1 #**lunch** #**lunch>soup** :bento: :lunch:')
    let before = shown()
    const change = (what: string, make: () => unknown) => {
      make()
      assert.notEqual(shown(), before, what)
      before = shown()
    }
    change('a linkifier', () =>
      state.linkifiers.put({ id: 1, pattern: '#(?P<id>[0-9]+)', urlTemplate: 'https://x/{id}', order: 1 }),
    )
    const lunch = world.channel('lunch', [amy])
    change('a channel', () => shown())
    change('a topic', () => world.send(amy, lunch, 'soup', 'hot'))
    world.send(amy, lunch, 'soup', 'cold')
    assert.equal(shown(), before, 'a later message of the topic changes nothing')
    change('a channel that became private', () => state.channels.put({ ...lunch, inviteOnly: true }))
    change('an emoji', () =>
      state.emoji.put({ id: 1, name: 'lunch', authorId: amy.id, deactivated: false, file: '1.png' } as never),
    )
    assert.equal(shown(), renderDescription(state, {}, '#1 #**lunch** #**lunch>soup** :bento: :lunch:'))
  })

  test('of channels that one request creates have a largest size together', () => {
    const { world, amy } = threePeople()
    const wanted = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ name: `c${i}`, description: 'x'.repeat(1000) }))
    const most = limits.newDescriptions / 1000
    const { message } = world.refused(amy, 'subscribe', { subscriptions: wanted(most + 1) })
    assert.match(
      message,
      /^subscriptions: the descriptions of new channels must have at most 20000 characters together/,
    )
    assert.equal(world.attempt(amy, 'subscribe', { subscriptions: wanted(most) }), undefined)
    // Those of existing channels are not looked at.
    assert.equal(world.attempt(amy, 'subscribe', { subscriptions: wanted(most + 1) }), undefined)
  })

  test('of all channels have a largest size, without those in plain sentences, and can be shortened beyond it', () => {
    const { world, amy } = threePeople()
    const owner = world.account('olive', roles.owner)
    const formatted = `*${'x'.repeat(1022)}*`
    const most = Math.floor(limits.formattedDescriptions / formatted.length)
    const notes = Array.from({ length: most }, (_, i) => world.channel(`c${i}`, [amy], { description: formatted }))
    const wanted = (description: string) => ({ subscriptions: [{ name: 'more', description }] })
    const refused = world.refused(amy, 'subscribe', wanted(formatted))
    assert.match(refused.message, /^subscriptions: all descriptions can have 200000 characters/)
    const { id } = notes[0]!
    assert.equal(world.attempt(amy, 'subscribe', wanted('A plain sentence, '.repeat(40))), undefined)
    assert.equal(world.attempt(owner, 'update-stream', { stream_id: id, description: '*short*' }), undefined)
    assert.equal(world.attempt(owner, 'update-stream', { stream_id: id, description: formatted }), undefined)
  })

  test('with formulas count 50 times, and those of folders count too', () => {
    const { world, amy } = threePeople()
    const owner = world.account('olive', roles.owner)
    const formula = `$$${'x'.repeat(996)}$$`
    const most = limits.formattedDescriptions / (50 * formula.length)
    for (let i = 1; i < most; i++) world.channel(`c${i}`, [amy], { description: formula })
    const wanted = { name: 'folder', description: formula }
    assert.equal(world.attempt(owner, 'create-channel-folder', wanted), undefined)
    const again = { ...wanted, name: 'another folder' }
    assert.match(
      world.refused(owner, 'create-channel-folder', again).message,
      /^description: all descriptions can have/,
    )
    assert.equal(world.attempt(owner, 'create-channel-folder', { ...again, description: 'Plain.' }), undefined)
    const [, second] = [...world.state.channelFolders.values()]
    const edit = { channel_folder_id: second!.id, description: '$$x$$' }
    assert.match(world.refused(owner, 'update-channel-folder', edit).message, /^description: all descriptions can have/)
  })

  test('typeset formulas of 200 characters together', t => {
    const { mock } = t.mock.method(katex, 'renderToString')
    // Colors become no HTML of their own.
    const formula = `$$${'\\color{red}'.repeat(9)}x$$`
    const html = renderDescription(new State(), {}, [formula, formula, formula].join(' '))
    assert.equal(mock.callCount(), 2)
    assert.equal(html.split('class="katex"').length, 3)
    assert.match(html, /<span class="tex-error">/)
  })
})
