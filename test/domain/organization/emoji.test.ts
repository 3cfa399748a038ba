// Custom emoji: pictures of the organization's own.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { emoji as api } from '../../../daemon/api/organization/emoji.ts'
import { userStatus } from '../../../daemon/api/people/user-status.ts'
import { extractStill } from '../../../daemon/domain/files/still-images.ts'
import { type Caller, sharedDaemon, type TestDaemon } from '../../support/daemon.ts'
import { animated, pixel } from '../../support/images.ts'
import { fetched, listen, person } from '../../support/world.ts'

let daemon: TestDaemon
let amy: Caller
let bob: Caller

sharedDaemon({}, async started => {
  daemon = started
  amy = await person(daemon, 'amy')
  bob = await person(daemon, 'bob')
})

function file(bytes: Uint8Array = pixel.png) {
  return { filename: 'picture.png', contentType: 'image/png', bytes }
}

describe('POST /realm/emoji/{emoji_name}', () => {
  test('adds an emoji that everyone hears of and can use', async () => {
    const heard = await listen(bob, ['realm_emoji'])
    await amy.call(api.upload, { emoji_name: 'ship it', file: file() })
    const { emoji } = await bob.call(api.list, {})
    const [added] = Object.values(emoji)
    assert.deepEqual([added?.name, added?.author_id, added?.deactivated], ['ship_it', amy.id, false])
    assert.deepEqual(await heard(), [{ type: 'realm_emoji', op: 'update', realm_emoji: emoji }])
    assert.deepEqual((await fetched(bob, ['realm_emoji'])).realm_emoji, emoji)
    await bob.call(userStatus.update, { emoji_name: 'ship_it' })
    const { status } = await amy.call(userStatus.get, { user_id: bob.id })
    assert.deepEqual([status.reaction_type, status.emoji_code], ['realm_emoji', added?.id])
  })

  test('an animated image has a still one, others have none', async () => {
    const shown = async (emoji_name: string, bytes: Uint8Array) => {
      await amy.call(api.upload, { emoji_name, file: file(bytes) })
      return Object.values((await amy.call(api.list, {})).emoji).find(({ name }) => name === emoji_name)!
    }
    for (const [type, bytes] of Object.entries(pixel)) assert.equal((await shown(`one-${type}`, bytes)).still_url, null)
    for (const [type, bytes] of Object.entries(animated)) {
      const { still_url, source_url } = await shown(`many-${type}`, bytes)
      assert.notEqual(still_url, source_url)
      const { status, headers } = await daemon.anonymous.raw('GET', still_url!)
      assert.deepEqual([status, headers['content-type']], [200, `image/${type}`])
    }
    assert.deepEqual(extractStill(animated.gif), new Uint8Array(pixel.gif))
    assert.deepEqual(extractStill(animated.png), new Uint8Array(pixel.png))
    for (const bytes of Object.values(animated))
      for (let length = 0; length < bytes.length; length++) extractStill(bytes.subarray(0, length))
  })

  test('the field of the file may have any name', async () => {
    const boundary = 'natter-test'
    const body = Buffer.concat([
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="whatever.png"; filename="whatever.png"\r\n` +
          'Content-Type: image/png\r\n\r\n',
      ),
      pixel.png,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ])
    const headers = { 'Content-Type': `multipart/form-data; boundary=${boundary}` }
    const reply = await amy.raw('POST', '/api/v1/realm/emoji/whatever', { headers, body })
    assert.deepEqual(reply.body, { result: 'success', msg: '' })
  })

  test('bad and taken names are refused; a built-in name needs an administrator', async () => {
    await amy.call(api.upload, { emoji_name: 'our_own', file: file() })
    for (const emoji_name of ['our_own', 'Our_own', 'über', 'end_', '-', 'tada'])
      await amy.refused(api.upload, { emoji_name, file: file() }, 'BAD_REQUEST')
    await daemon.owner.call(api.upload, { emoji_name: 'tada', file: file() })
  })

  test('what is no image is BAD_IMAGE, and nothing is kept', async () => {
    await amy.refused(api.upload, { emoji_name: 'torn_picture', file: file(Buffer.from('not a picture')) }, 'BAD_IMAGE')
    await amy.refused(api.upload, { emoji_name: 'big', file: file(Buffer.alloc(5 * 1024 * 1024 + 1)) }, 'BAD_REQUEST')
    const { emoji } = await amy.call(api.list, {})
    assert.ok(!Object.values(emoji).some(({ name }) => name === 'torn_picture' || name === 'big'))
  })
})

describe('DELETE /realm/emoji/{emoji_name}', () => {
  test('by its author or an administrator; it stays in the list, deactivated, and its name is free', async () => {
    await amy.call(api.upload, { emoji_name: 'passing', file: file() })
    await bob.refused(api.deactivate, { emoji_name: 'passing' }, 'BAD_REQUEST')
    await amy.call(api.deactivate, { emoji_name: 'passing' })
    const { status, body } = await amy.try(api.deactivate, { emoji_name: 'passing' })
    assert.deepEqual([status, body.code], [404, 'BAD_REQUEST'])
    const { emoji } = await amy.call(api.list, {})
    assert.equal(Object.values(emoji).find(({ name }) => name === 'passing')?.deactivated, true)
    await bob.call(api.upload, { emoji_name: 'passing', file: file() })
  })
})
