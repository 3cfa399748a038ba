// Avatars: what the specification says of them.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { bots } from '../../../daemon/api/bots/bots.ts'
import { uploads } from '../../../daemon/api/files/uploads.ts'
import { emoji } from '../../../daemon/api/organization/emoji.ts'
import { pictures } from '../../../daemon/api/organization/pictures.ts'
import { avatars as api } from '../../../daemon/api/people/avatars.ts'
import { settings } from '../../../daemon/api/people/settings.ts'
import { users } from '../../../daemon/api/people/users.ts'
import { type Caller, sharedDaemon, startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { pixel } from '../../support/images.ts'
import { until } from '../../support/until.ts'
import { listen, person } from '../../support/world.ts'

let daemon: TestDaemon
let amy: Caller
sharedDaemon({}, async started => {
  daemon = started
  amy = await person(daemon, 'amy')
})

function file(bytes: Uint8Array) {
  return { filename: 'me.png', contentType: 'application/octet-stream', bytes }
}

describe('POST /users/me/avatar', () => {
  test('PNG, JPEG, GIF and WebP are kept, served with their type, and told', async () => {
    const heard = await listen(daemon.owner, ['realm_user'])
    let version = 1
    for (const [type, bytes] of Object.entries(pixel)) {
      const { avatar_url } = await amy.call(api.upload, { file: file(bytes) })
      version++
      assert.match(avatar_url, new RegExp(`^/user_avatars/.*version=${version}$`))
      const served = await daemon.anonymous.raw('GET', avatar_url)
      assert.deepEqual([served.status, served.headers['content-type']], [200, `image/${type}`])
      const [{ person } = {} as any] = await heard()
      assert.deepEqual(person, {
        user_id: amy.id,
        avatar_url,
        avatar_url_medium: avatar_url,
        avatar_source: 'U',
        avatar_version: version,
      })
      const { user } = await daemon.owner.call(users.show, { user_id: amy.id })
      assert.deepEqual([user.avatar_url, user.avatar_version], [avatar_url, version])
    }
  })

  test('anything else is no image, and more than 5 MiB is too much', async () => {
    for (const bytes of ['', 'text', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', 'GIF89a'])
      await amy.refused(api.upload, { file: file(Buffer.from(bytes)) }, 'BAD_IMAGE')
    await amy.refused(api.upload, { file: file(Buffer.alloc(5 * 1024 * 1024 + 1)) }, 'BAD_REQUEST')
    await amy.refused(api.upload, {}, 'BAD_REQUEST')
  })

  // Minutes each, where a parser looks at the rest of the file again and again.
  test('files made to be slow to read are refused like any other', { timeout: 60_000 }, async () => {
    const size = 5 * 1024 * 1024
    for (const bytes of [
      Buffer.from('P3\n'.padEnd(size, '#\n')),
      Buffer.from('P7\n'.padEnd(size, 'x\n')),
      Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(size - 4, 0)]),
      Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(size - 3, 0xff)]),
    ])
      await amy.refused(api.upload, { file: file(bytes) }, 'BAD_IMAGE')
  })
})

describe('files of avatars', () => {
  const filesOf = ({ data }: TestDaemon) => readdirSync(join(data, 'files')).length

  test('do not pile up: a picture goes with the next one, and what is refused keeps none', async t => {
    const own = await startDaemon(t, { flags: ['--durability', 'os', '--upload-quota', '1'] })
    const { owner } = own
    const painted = (seed: number) => file(Buffer.concat([pixel.png, Buffer.from([seed])]))
    for (let i = 0; i < 5; i++) await owner.call(api.upload, { file: painted(i) })
    await until(async () => filesOf(own) === 1)
    await owner.call(bots.create, { full_name: 'Taken', short_name: 'taken', file: painted(10) })
    for (let i = 11; i < 15; i++)
      await owner.refused(bots.create, { full_name: 'Taken', short_name: 'taken', file: painted(i) }, 'BAD_REQUEST')
    await until(async () => filesOf(own) === 2)
    const large = file(Buffer.concat([pixel.png, Buffer.alloc(1024 * 1024)]))
    const [bot] = (await owner.call(bots.list, {})).bots
    const { members } = await owner.call(users.list, {})
    const bot_id = members.find(({ email }) => email === bot!.username)!.user_id
    await owner.refused(api.upload, { file: large }, 'REALM_UPLOAD_QUOTA')
    await owner.refused(bots.create, { full_name: 'Large', short_name: 'large', file: large }, 'REALM_UPLOAD_QUOTA')
    await owner.refused(bots.update, { bot_id, file: large }, 'REALM_UPLOAD_QUOTA')
    await owner.refused(emoji.upload, { emoji_name: 'large', file: large }, 'REALM_UPLOAD_QUOTA')
    await owner.refused(pictures.uploadIcon, { file: large }, 'REALM_UPLOAD_QUOTA')
    await owner.refused(pictures.uploadLogo, { night: false, file: large }, 'REALM_UPLOAD_QUOTA')
    assert.equal(filesOf(own), 2)
  })

  test('the picture of someone who hides their address does not give it away', async () => {
    const eve = await person(daemon, 'eve')
    const hash = createHash('md5').update('eve@example.com').digest('hex')
    const shown = async () => (await amy.call(users.show, { user_id: eve.id, client_gravatar: false })).user.avatar_url!
    assert.ok((await shown()).includes(hash))
    await eve.call(settings.update, { email_address_visibility: 3 })
    assert.ok(!(await shown()).includes(hash))
    assert.match(await shown(), /gravatar\.com\/avatar\/[0-9a-f]{32}/)
  })
})

describe('DELETE /users/me/avatar', () => {
  test('goes back to the avatar provider, and tells so each time: the level is before 443', async () => {
    await amy.call(api.upload, { file: file(pixel.png) })
    const heard = await listen(amy, ['realm_user'])
    const { avatar_url } = await amy.call(api.delete, {})
    assert.match(avatar_url, /^https:\/\/secure\.gravatar\.com/)
    await amy.call(api.delete, {})
    assert.deepEqual(
      (await heard()).map(event => event.person.avatar_source),
      ['G', 'G'],
    )
  })
})

describe('GET /avatar/{id or email}', () => {
  test('leads to the image, by ID or by address, under the API too', async () => {
    const { avatar_url } = await amy.call(api.upload, { file: file(pixel.png) })
    for (const path of [`/avatar/${amy.id}`, `/avatar/${amy.email}`, `/api/v1/avatar/${amy.id}`])
      for (const size of ['', '/medium']) {
        const { status, headers } = await daemon.owner.raw('GET', path + size)
        assert.deepEqual([status, headers.location], [302, avatar_url])
      }
    await amy.call(api.delete, {})
    const { headers } = await daemon.owner.raw('GET', `/api/v1/avatar/${amy.id}/medium`)
    assert.match(String(headers.location), /^https:\/\/secure\.gravatar\.com.*&s=500/)
  })

  test('needs an account', async () => {
    assert.equal((await daemon.anonymous.raw('GET', `/avatar/${amy.id}`)).status, 401)
  })

  test('an unknown ID and an unknown address have pictures too', async () => {
    const unknown = await amy.raw('GET', '/api/v1/avatar/999?size=big')
    assert.deepEqual([unknown.status, unknown.headers.location], [302, '/static/unknown-user.svg?size=big'])
    const { status, headers } = await amy.raw('GET', '/avatar/none@example.com?size=big')
    assert.equal(status, 302)
    assert.match(String(headers.location), /^https:\/\/secure\.gravatar\.com\/avatar\/[0-9a-f]{32}\?.*&size=big$/)
  })
})

describe('GET /user_avatars/…', () => {
  test('what is not there is not found', async () => {
    for (const path of ['/user_avatars/', '/user_avatars/2/x.png', `/user_avatars/2/${'0'.repeat(64)}`])
      assert.equal((await daemon.anonymous.raw('GET', path)).status, 404)
  })

  test('no other picture is served there, by the hash of its content or otherwise', async () => {
    const bytes = Buffer.concat([pixel.png, Buffer.from('of amy alone')])
    await amy.call(uploads.upload, { file: { filename: 'own.png', contentType: 'image/png', bytes } })
    const name = createHash('sha256').update(bytes).digest('hex')
    for (const folder of [amy.id, 1, 'emoji/images', '1/realm', `${amy.id}/x`])
      for (const ending of ['', '.png', '?version=1'])
        assert.equal((await daemon.anonymous.raw('GET', `/user_avatars/${folder}/${name}${ending}`)).status, 404)
  })
})
