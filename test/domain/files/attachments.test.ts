// Links between messages and files: a message shares a limited number of files, and a file lists a limited number of messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { uploads as api } from '../../../daemon/api/files/uploads.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { findAttachments } from '../../../daemon/domain/files/attachments.ts'
import { limits } from '../../../daemon/domain/limits.ts'
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

test('a message shares the files that it names first, up to a limit', async () => {
  const urls: string[] = []
  for (let i = 0; i <= limits.filesPerMessage; i++) urls.push(await upload(`${i}`))
  await share(urls.map(url => `[](${url})`).join(''))
  assert.equal((await bob.raw('GET', urls.at(-2)!)).status, 200)
  assert.equal((await bob.raw('GET', urls.at(-1)!)).status, 404)
})

/** A world in which so many messages share a file, and what sends one more. */
function worldWithFile(messages: number) {
  const { world, amy } = threePeople()
  const lunch = world.channel('lunch', [amy])
  const path = '1/aa/token/notes.txt'
  const file = { id: 1, userId: amy.id, name: 'notes.txt', path, file: 'f', size: 1, contentType: 'text/plain' }
  const known = Array.from({ length: messages }, (_, n) => ({ id: 1_000_000 + n, time: 0 }))
  world.state.attachments.put({ ...file, created: 0, messages: known })
  return { world, amy, send: () => world.send(amy, lunch, 'soup', `[](/user_uploads/${path})`) }
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
