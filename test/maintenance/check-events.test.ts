// `natter store check` of a journal whose rows are right, but not the events that a start makes of it for the queues in the store.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fact } from '../../daemon/domain/facts.ts'
import { checkRows } from '../../daemon/domain/row-checks/index.ts'
import { FileJournal } from '../../daemon/journal/file-journal.ts'
import { checkStore } from '../../daemon/maintenance/index.ts'
import { host, newStoreFolder } from '../support/daemon.ts'
import { registration, World } from '../support/in-process.ts'

test('a message to a person who comes one fact later is found, as a start finds it', async () => {
  const folder = newStoreFolder()
  const founding = await host(folder)
  await founding.stop()
  const { id: owner } = founding.owner
  const late = new World().join(400, { email: 'late@example.com', fullName: 'Late' })
  const conversation = { id: 50, userIds: [owner, 99] }
  const message = {
    id: 50,
    senderId: owner,
    conversationId: 50,
    time: 0,
    client: 'x',
    content: 'x',
    html: '<p>x</p>',
    marks: 0,
  }
  const journal = await FileJournal.open<Fact>({ folder, durability: 'os' })
  const queue = { type: 'queue.registered', queue: { id: 'q', userId: owner, ...registration([]) } } as Fact
  const facts = [
    { type: 'message.sent', message, conversation },
    { type: 'user.created', user: { ...late, id: 99 } },
  ]
  await journal.append({ time: 0, op: 'test', actor: null, facts: [queue] }).durable
  await journal.append({ time: 0, op: 'test', actor: null, facts: facts as unknown as Fact[] }).durable
  await journal.close()
  const { problems } = await checkStore(folder)
  assert.match(problems[0]?.message ?? '', /the fact "message\.sent" cannot be applied/)
  await assert.rejects(host(folder), /cannot be applied|was edited/)
})

test('a flag of a message that there is not is found, and takes no memory up to its ID', async () => {
  const folder = newStoreFolder()
  await (await host(folder)).stop()
  const journal = await FileJournal.open<Fact>({ folder, durability: 'os' })
  const fact = { type: 'message-flags.changed', userId: 2, op: 'add', flag: 'read', runs: [1, 900_000_000] } as Fact
  await journal.append({ time: 0, op: 'test', actor: null, facts: [fact] }).durable
  await journal.close()
  const { problems } = await checkStore(folder)
  assert.match(problems[0]?.message ?? '', /"message-flags\.changed" cannot be applied: runs: there is no such message/)
})

test('a queue whose event IDs have no distance is found', async () => {
  const folder = newStoreFolder()
  await (await host(folder)).stop()
  const journal = await FileJournal.open<Fact>({ folder, durability: 'os' })
  const queue = { type: 'queue.registered', queue: { id: 'q', userId: 2, ...registration([]), step: 0 } } as Fact
  await journal.append({ time: 0, op: 'test', actor: null, facts: [queue] }).durable
  await journal.close()
  const { problems } = await checkStore(folder)
  assert.match(
    problems[0]?.message ?? '',
    /"queue\.registered" cannot be applied: queue\["step"\]: must be an integer from 1 to 10000/,
  )
})

test('a fact that can be applied but not announced is found', async () => {
  const folder = newStoreFolder()
  await (await host(folder)).stop()
  const journal = await FileJournal.open<Fact>({ folder, durability: 'os' })
  const queue = { type: 'queue.registered', queue: { id: 'q', userId: 2, ...registration([]) } } as Fact
  const fact = { type: 'organization.changed' } as Fact
  await journal.append({ time: 0, op: 'test', actor: null, facts: [queue, fact] }).durable
  await journal.close()
  const { problems } = await checkStore(folder)
  assert.match(problems[0]?.message ?? '', /the fact "organization\.changed" cannot be applied/)
  await assert.rejects(host(folder))
})

test('a queue that waits for an event whose text is missing is found', () => {
  const queue = { id: 'q', userId: 2, ...registration([]), birth: -1, newest: 0, acknowledged: -1, position: 1 }
  const rows = { queues: ['{"type":"heartbeat"}', { ...queue, pending: [[0, 1, 1, true]] }] }
  assert.throws(() => [...checkRows(rows)], /queues, row 2: pending: there is no text 1 before it/)
})
