// Sums of a state: the same for the same state, however a daemon came to it, and of the turn in which they were asked for.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { StateDigest } from '../../daemon/cluster/digest.ts'
import type { Message } from '../../daemon/domain/model/message-store/index.ts'
import { State } from '../../daemon/domain/model/state.ts'
import { Replay } from '../../daemon/replay.ts'
import { story } from '../support/every-fact.ts'

describe('the digest of a state', () => {
  const message = (id: number, content = `message ${id}`): Message => ({
    id,
    senderId: 7,
    conversationId: 1,
    time: 1000 + id,
    client: 'test',
    content,
    html: `<p>${content}</p>`,
    marks: 0,
  })
  const snippet = (id: number, userId: number) => ({ id, userId, title: `snippet ${id}`, content: 'x', dateCreated: 1 })
  /** Over two segments of messages. */
  const madeState = () => {
    const state = new State()
    for (let id = 1; id <= 16_600; id += id === 200 ? 16_200 : 1) state.messages.add(message(id))
    state.messageFlags.add(7, 'read', [1, 5])
    state.messageFlags.add(8, 'read', [2, 3])
    for (const id of [1, 2, 3]) state.savedSnippets.put(snippet(id, 7))
    return state
  }
  const sumsOf = (state: State, digest = new StateDigest()) =>
    digest.computeSums({ secretVerifier: 'x', restoreId: undefined, state })
  const differing = (a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>) =>
    Object.keys({ ...a, ...b }).filter(name => a[name] !== b[name])

  test('is the same for rows that were read in another order, with fields in another order', async () => {
    const state = madeState()
    const sections = Object.fromEntries(
      Object.entries(state.save(true)).map(([name, rows]) => [name, JSON.parse(JSON.stringify([...rows]))]),
    )
    const [head, ...snippets] = sections.savedSnippets
    const reordered = snippets.map((row: object) => Object.fromEntries(Object.entries(row).reverse()))
    const changed = {
      ...sections,
      messageFlags: sections.messageFlags.reverse(),
      savedSnippets: [head, ...reordered.reverse()],
    }
    assert.deepEqual(await sumsOf(State.load(changed)), await sumsOf(state))
  })

  test('is the same for a daemon that took every fact and for one that read a snapshot before each of them', async () => {
    const lasting = new Replay()
    let restarted = new Replay()
    for (const fact of story) {
      // As a leader has it, and as it comes from the log.
      lasting.take([fact])
      restarted.take(JSON.parse(JSON.stringify([fact])))
      const sums = await sumsOf(lasting.state)
      assert.deepEqual(await sumsOf(restarted.state), sums, fact.type)
      const saved = Object.entries(restarted.state.save(true)).map(([name, rows]) => [name, [...rows]])
      restarted = new Replay({ sections: JSON.parse(JSON.stringify(Object.fromEntries(saved))) })
      assert.deepEqual(await sumsOf(restarted.state), sums, `${fact.type}, from a snapshot`)
    }
  })

  test('has nothing of event queues and presence, which differ between daemons at one position', async () => {
    const sums = await sumsOf(madeState())
    assert.deepEqual(
      Object.keys(sums).filter(name => /queue|event|presence/.test(name)),
      [],
    )
  })

  test('names the section that differs', async () => {
    const sums = await sumsOf(madeState())
    const state = madeState()
    state.messages.edit(3, 'other', '<p>other</p>', 0, {})
    assert.deepEqual(differing(sums, await sumsOf(state)), ['messages'])
    const other = madeState()
    other.savedSnippets.put(snippet(2, 8))
    assert.deepEqual(differing(sums, await sumsOf(other)), ['savedSnippets'])
  })

  test('shows the state of the turn in which it was asked for, whatever changes while it is computed', async () => {
    const state = madeState()
    const digest = new StateDigest()
    const before = await sumsOf(madeState())
    const asked = sumsOf(state, digest)
    state.messages.setDetails(2, { reactions: [] })
    state.messages.edit(3, 'other', '<p>other</p>', 0, {})
    state.messages.remove([4, 16_500])
    state.messages.add(message(16_601))
    state.savedSnippets.put(snippet(4, 7))
    state.messageFlags.remove(8, 'read', [2, 3])
    assert.deepEqual(await asked, before)
    // With what it has kept of segments, and without it.
    assert.deepEqual(await sumsOf(state, digest), await sumsOf(state))
    assert.deepEqual(differing(await asked, await sumsOf(state, digest)), [
      'messageFlags',
      'savedSnippets',
      'lastMessage',
      'messages',
    ])
  })
})
