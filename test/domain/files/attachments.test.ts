// Links between messages and files: a message shares a limited number of files, and a file lists a limited number of messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { topics } from '../../../daemon/api/channels/topics.ts'
import { uploads as api } from '../../../daemon/api/files/uploads.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { attachmentAt, findAttachments } from '../../../daemon/domain/files/attachments.ts'
import { applyFact } from '../../../daemon/domain/index.ts'
import { limits } from '../../../daemon/domain/limits.ts'
import { deleteByPlace } from '../../../daemon/domain/messages/messages/deletion-facts.ts'
import type { Attachment } from '../../../daemon/domain/model/rows/messages.ts'
import type { Channel } from '../../../daemon/domain/model/state.ts'
import { Table } from '../../../daemon/domain/model/table.ts'
import { type Caller, sharedDaemon } from '../../support/daemon.ts'
import { threePeople } from '../../support/domain-world.ts'
import { people } from '../../support/world.ts'

let amy: Caller
let bob: Caller

sharedDaemon({}, async running => {
  ;[amy, bob] = await people(running, 'amy', 'bob')
  await amy.call(channels.create, { name: 'files', subscribers: [amy.id, bob.id], invite_only: true })
})

async function upload(name: string): Promise<string> {
  const file = { filename: name, contentType: 'text/plain', bytes: Buffer.from(name) }
  return (await amy.call(api.upload, { file })).url
}

async function share(content: string): Promise<number> {
  return (await amy.call(messages.send, { type: 'channel', to: 'files', topic: 'x', content })).id
}

function fileOf(userId: number, id: number): Attachment {
  const path = `1/aa/token${id}/notes.txt`
  return {
    id,
    userId,
    name: 'notes.txt',
    path,
    file: 'f',
    size: 1,
    contentType: 'text/plain',
    created: 0,
    messages: [],
  }
}

test('a message shares the files that it names first, up to a limit', async () => {
  const urls: string[] = []
  for (let i = 0; i <= limits.filesPerMessage; i++) urls.push(await upload(`${i}`))
  await share(urls.map(url => `[](${url})`).join(''))
  assert.equal((await bob.raw('GET', urls.at(-2)!)).status, 200)
  assert.equal((await bob.raw('GET', urls.at(-1)!)).status, 404)
})

/** A topic of so many messages that each link all of so many files of amy. */
function topicWithFiles(messages: number, files: number) {
  const { world, amy } = threePeople()
  const lunch = world.channel('lunch', [world.owner, amy])
  const sent = Array.from({ length: messages }, () => ({ id: world.send(amy, lunch, 'soup', 'a'), time: 0 }))
  for (let id = 1; id <= files; id++) world.state.attachments.put({ ...fileOf(amy.id, id), messages: sent })
  let changes = 0
  world.state.attachments.onChange = () => changes++
  return {
    world,
    ids: sent.map(({ id }) => id),
    remove: () => world.run(world.owner, topics.delete.id, { stream_id: lunch.id, topic_name: 'soup' }),
    changes: () => changes,
    told: () => world.heard(amy).filter(({ type }) => type === 'attachment'),
  }
}

test('a topic that is deleted changes each file once, and its owner is told once', () => {
  const { world, ids, remove, changes, told } = topicWithFiles(250, 20)
  assert.deepEqual(remove(), { complete: true })
  assert.equal(changes(), 20)
  assert.deepEqual(
    told().map(({ op, attachment: { id, messages } }) => [op, id, messages]),
    Array.from({ length: 20 }, (_, n) => ['update', n + 1, []]),
  )
  assert.deepEqual(findAttachments(world.state, ids), [])
})

test('messages that the retention policy deletes together change each file once too', () => {
  const { world, ids, changes, told } = topicWithFiles(250, 20)
  const facts = deleteByPlace(world.state, ids, null)
  assert.equal(facts.length, 3)
  world.take(facts)
  assert.deepEqual([changes(), told().length], [20, 20])
})

test('one call deletes fewer messages of a topic if they link many files, and says that some are left', () => {
  const { world, ids, remove } = topicWithFiles(250, 100)
  assert.deepEqual(remove(), { complete: false })
  assert.deepEqual(
    ids.filter(id => world.state.messages.has(id)),
    ids.slice(0, 50),
  )
  assert.deepEqual(remove(), { complete: true })
})

test('a deletion in a store of an earlier version takes the links of its messages with it', () => {
  const { world, ids } = topicWithFiles(3, 2)
  const place = { channelId: world.state.messages.place(ids[0]!).thread.channelId, topic: 'soup' }
  applyFact(world.state, { type: 'messages.deleted', ids: ids.slice(0, 2), place, userId: null, files: [1, 2] })
  assert.deepEqual(findAttachments(world.state, ids.slice(0, 2)), [])
  assert.deepEqual(findAttachments(world.state, ids), [1, 2])
})

test('whether someone may see a file is settled once for the channel of its messages, however many there are', () => {
  const { world, amy, bob } = threePeople()
  const secret = world.channel('secret', [amy], { inviteOnly: true })
  const sent = Array.from({ length: 1000 }, () => ({ id: world.send(amy, secret, 'soup', 'a'), time: 0 }))
  const file = { ...fileOf(amy.id, 1), messages: sent }
  world.state.attachments.put(file)
  const { channels } = world.state
  let lookups = 0
  channels.get = id => {
    lookups++
    return Table.prototype.get.call(channels, id) as Channel | undefined
  }
  assert.equal(attachmentAt(world.context(bob), `/user_uploads/${file.path}`), undefined)
  assert.ok(lookups < 10, `${lookups}`)
})

/** A world in which so many messages share a file, and what sends one more. */
function worldWithFile(messages: number) {
  const { world, amy } = threePeople()
  const lunch = world.channel('lunch', [amy])
  const file = fileOf(amy.id, 1)
  const known = Array.from({ length: messages }, (_, n) => ({ id: 1_000_000 + n, time: 0 }))
  world.state.attachments.put({ ...file, messages: known })
  return { world, amy, send: () => world.send(amy, lunch, 'soup', `[](/user_uploads/${file.path})`) }
}

test('a file lists the newest messages that link it, and older ones once these do not', () => {
  const { world, amy, send } = worldWithFile(0)
  const sent = Array.from({ length: limits.messagesListedPerFile + 1 }, send)
  const listed = () => world.run(amy, api.list.id, {}).attachments[0].messages.map(({ id }: { id: number }) => id)
  assert.deepEqual(listed(), sent.slice(1))
  world.run(amy, messages.update.id, { message_id: sent.at(-1), content: 'none' })
  assert.deepEqual(listed(), sent.slice(0, -1))
})

test('10,000 messages share a file; one more is refused with the reason', () => {
  const { world, send } = worldWithFile(limits.messagesPerFile - 1)
  assert.deepEqual(findAttachments(world.state, [send()]), [1])
  assert.throws(send, { message: 'content: 10000 messages share the file "notes.txt"; upload it again, and link that' })
})
