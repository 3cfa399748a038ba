// The messages that a narrow means.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { topicPolicy, visibility } from '../../../daemon/domain/model/topic-policy.ts'
import { threePeople } from '../../support/domain-world.ts'

describe('narrows', () => {
  test('every operator finds what a look at every message finds', () => {
    const { world: w, amy, bob, cat } = threePeople()
    const general = w.channel('general', [amy, bob])
    const random = w.channel('random', [amy, cat])
    const quiet = w.channel('quiet', [cat])
    const secret = w.channel('secret', [cat], { inviteOnly: true })
    const texts = [
      'hello world',
      'see https://example.com/a.png',
      'a [file](/user_uploads/1/x)',
      '@**amy** ping',
      '@**all**',
    ]
    for (let i = 0; i < 60; i++) {
      const sender = [amy, bob, cat][i % 3]!
      const channel = [general, random, quiet, secret][(i >> 1) % 4]!
      const topic = i % 5 === 0 ? '✔ done' : ['Lunch', 'lunch', '', 'tea'][(i >> 1) % 4]!
      const to = [[bob.id], [bob.id, cat.id], [amy.id]][i % 3]!
      const content = texts[i % texts.length]!
      if (i % 2 === 0) w.run(amy, 'send-message', { type: 'direct', to, content })
      else if ((channel === secret && sender !== cat) || (channel === quiet && i % 3 === 0)) continue
      else w.send(sender, channel, topic, content)
    }
    w.run(amy, 'update-message-flags', { messages: [2, 4, 6, 9], op: 'add', flag: 'starred' })
    w.run(amy, 'update-message-flags', { messages: [1, 2, 3, 4, 5], op: 'add', flag: 'read' })
    w.run(bob, 'add-reaction', { message_id: 1, emoji_name: 'tada' })
    const all = w.run(amy, 'get-messages', {
      message_ids: Array.from({ length: 60 }, (_, i) => i + 1),
      allow_empty_topic_name: true,
    }).messages as any[]
    const own = all.filter(({ flags }) => !flags.includes('historical') || flags.includes('starred'))
    const isDirect = (m: any) => m.type === 'private'
    const withUsers = (m: any) => (isDirect(m) ? m.display_recipient.map((user: any) => user.id) : [])
    const flagged = (flag: string) => (m: any) => m.flags.includes(flag)
    const cases: [any, any[], (message: any) => boolean][] = [
      [['channel', 'General'], all, m => m.stream_id === general.id],
      [{ operator: 'stream', operand: quiet.id }, all, m => m.stream_id === quiet.id],
      [['channels', 'public'], all, m => !isDirect(m)],
      [['topic', 'LUNCH'], own, m => m.subject.toLowerCase() === 'lunch'],
      [['topic', 'general chat'], own, m => !isDirect(m) && m.subject === ''],
      [['sender', 'bob@example.com'], own, m => m.sender_id === bob.id],
      [{ operator: 'sender', operand: cat.id }, own, m => m.sender_id === cat.id],
      [{ operator: 'dm', operand: [bob.id] }, own, m => withUsers(m).join() === `${amy.id},${bob.id}`],
      [['pm-with', 'bob@example.com,cat@example.com'], own, m => withUsers(m).length === 3],
      [{ operator: 'dm-including', operand: bob.id }, own, m => withUsers(m).includes(bob.id)],
      [['group-pm-with', 'bob@example.com'], own, m => withUsers(m).length === 3],
      [['is', 'dm'], own, isDirect],
      [['is', 'starred'], all, flagged('starred')],
      [['is', 'unread'], own, m => !m.flags.includes('read')],
      [['is', 'mentioned'], own, m => m.flags.includes('mentioned') || m.flags.includes('wildcard_mentioned')],
      [['is', 'alerted'], own, flagged('has_alert_word')],
      [['is', 'resolved'], own, m => m.subject.startsWith('✔ ')],
      [
        ['is', 'followed'],
        own,
        m => !isDirect(m) && topicPolicy(w.state, amy.id, m.stream_id, m.subject) === visibility.followed,
      ],
      [['is', 'muted'], own, () => false],
      [['has', 'link'], own, m => /https|user_uploads/.test(m.content)],
      [['has', 'image'], own, m => /png/.test(m.content)],
      [['has', 'attachment'], own, m => /user_uploads/.test(m.content)],
      [['has', 'reaction'], own, m => m.reactions.length > 0],
      [['in', 'home'], own, () => true],
      [['in', 'all'], own, () => true],
      [{ operator: 'id', operand: '7' }, all, m => m.id === 7],
      [['near', '7'], own, () => true],
      [['search', 'hello'], own, m => /hello/.test(m.content)],
    ]
    const ask = (narrow: any[], anchor = 'newest') =>
      w
        .run(amy, 'get-messages', { anchor, num_before: anchor === 'newest' ? 100 : 0, num_after: 100, narrow })
        .messages.map((message: any) => message.id)
    const ids = (messages: any[]) => messages.map(message => message.id)
    for (const [term, scope, fits] of cases) {
      const name = JSON.stringify(term)
      assert.deepEqual(ask([term]), ids(scope.filter(fits)), name)
      assert.deepEqual(ask([term], 'oldest'), ids(scope.filter(fits)), `${name} upwards`)
      const { operator, operand } = Array.isArray(term) ? { operator: term[0], operand: term[1] } : term
      if (['search', 'near', 'in'].includes(operator)) continue
      const negated = ids(own.filter(message => !fits(message)))
      assert.deepEqual(ask([{ operator, operand, negated: true }]), negated, `not ${name}`)
    }
    const first = own.find(message => message.stream_id === general.id)
    assert.deepEqual(
      ask([['channel', 'random'], { operator: 'with', operand: first.id }]),
      ids(all.filter(m => m.stream_id === general.id && m.subject.toLowerCase() === first.subject.toLowerCase())),
    )
    assert.deepEqual(
      ask([
        ['channel', 'general'],
        ['topic', 'tea'],
        ['has', 'link'],
      ]).length > -1,
      true,
    )
    const both = w.refused(amy, 'get-messages', {
      anchor: 'newest',
      narrow: [
        ['channel', 'general'],
        ['is', 'dm'],
      ],
    })
    assert.equal(both.code, 'BAD_NARROW')
    assert.equal(
      w.refused(amy, 'get-messages', { anchor: 'newest', narrow: [['channel', 'secret']] }).code,
      'BAD_NARROW',
    )
  })
})
