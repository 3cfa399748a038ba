// The icon and the logos of the organization.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pictures as api } from '../../../daemon/api/organization/pictures.ts'
import { server } from '../../../daemon/api/organization/server.ts'
import { type Caller, sharedDaemon, type TestDaemon } from '../../support/daemon.ts'
import { pixel } from '../../support/images.ts'
import { fetched, listen, person } from '../../support/world.ts'

let daemon: TestDaemon
let amy: Caller
sharedDaemon({}, async started => {
  daemon = started
  amy = await person(daemon, 'amy')
})

const file = { filename: 'acme.png', contentType: 'image/png', bytes: pixel.png }

describe('POST and DELETE /realm/icon', () => {
  test('the icon is kept, served, announced to everyone and reported', async () => {
    const heard = await listen(amy, ['realm'])
    const { icon_url } = await daemon.owner.call(api.uploadIcon, { file })
    assert.match(icon_url, /^\/user_avatars\/1\/realm\/icon\.png\?version=2$/)
    const served = await daemon.anonymous.raw('GET', icon_url)
    assert.deepEqual([served.status, served.headers['content-type']], [200, 'image/png'])
    const data = { icon_source: 'U', icon_url }
    assert.deepEqual(await heard(), [{ type: 'realm', op: 'update_dict', property: 'icon', data }])
    const state = await fetched(amy, ['realm'])
    assert.deepEqual([state.realm_icon_source, state.realm_icon_url], ['U', icon_url])
    assert.equal((await daemon.anonymous.call(server.settings, {})).realm_icon, icon_url)
  })

  test('without an icon the default one is used, and the file is no longer served', async () => {
    const { icon_url } = await daemon.owner.call(api.uploadIcon, { file })
    const heard = await listen(amy, ['realm'])
    const reply = await daemon.owner.call(api.deleteIcon, {})
    assert.notEqual(reply.icon_url, icon_url)
    const data = { icon_source: 'G', icon_url: reply.icon_url }
    assert.deepEqual(await heard(), [{ type: 'realm', op: 'update_dict', property: 'icon', data }])
  })

  test('is for administrators, and takes pictures only', async () => {
    await amy.refused(api.uploadIcon, { file }, 'UNAUTHORIZED_PRINCIPAL')
    await amy.refused(api.deleteIcon, {}, 'UNAUTHORIZED_PRINCIPAL')
    const bytes = Buffer.from('no picture')
    await daemon.owner.refused(api.uploadIcon, { file: { ...file, bytes } }, 'BAD_IMAGE')
    await daemon.owner.refused(api.uploadIcon, {} as never, 'BAD_REQUEST')
  })
})

describe('POST and DELETE /realm/logo', () => {
  for (const [night, prefix] of [
    [false, 'logo'],
    [true, 'night_logo'],
  ] as const)
    test(`${prefix} is announced under its own name`, async () => {
      const heard = await listen(amy, ['realm'])
      await daemon.owner.call(api.uploadLogo, { night, file })
      const [uploaded] = await heard()
      assert.equal(uploaded!.property, prefix)
      assert.equal(uploaded!.data[`${prefix}_source`], 'U')
      const state = await fetched(amy, ['realm'])
      assert.equal(state[`realm_${prefix}_url`], uploaded!.data[`${prefix}_url`])
      await daemon.owner.call(api.deleteLogo, { night })
      const [deleted] = await heard()
      assert.equal(deleted!.data[`${prefix}_source`], 'D')
    })

  test('is for administrators, takes pictures only, and needs to know which logo', async () => {
    await amy.refused(api.uploadLogo, { night: true, file }, 'UNAUTHORIZED_PRINCIPAL')
    await amy.refused(api.deleteLogo, { night: true }, 'UNAUTHORIZED_PRINCIPAL')
    const bytes = Buffer.from('no picture')
    // Permission comes first: nothing is written for a caller without it.
    await amy.refused(api.uploadLogo, { night: true, file: { ...file, bytes } }, 'UNAUTHORIZED_PRINCIPAL')
    await daemon.owner.refused(api.uploadLogo, { night: true, file: { ...file, bytes } }, 'BAD_IMAGE')
    await daemon.owner.refused(api.uploadLogo, { night: true } as never, 'BAD_REQUEST')
    await daemon.owner.refused(api.uploadLogo, { file } as never, 'REQUEST_VARIABLE_MISSING')
    await daemon.owner.refused(api.deleteLogo, {} as never, 'REQUEST_VARIABLE_MISSING')
  })
})

describe('GET /realm/icon and GET /realm/logo', () => {
  test('lead to the pictures, with the query of the request', async () => {
    const { icon_url } = await daemon.owner.call(api.uploadIcon, { file })
    await daemon.owner.call(api.uploadLogo, { file, night: true })
    const { realm_logo_url, realm_night_logo_url } = await fetched(amy, ['realm'])
    for (const [path, location] of [
      ['icon', icon_url],
      ['icon?size=2', `${icon_url}&size=2`],
      ['logo?night=false', `${realm_logo_url}?night=false`],
      ['logo?night=true', `${realm_night_logo_url}&night=true`],
    ]) {
      const { status, headers } = await amy.raw('GET', `/api/v1/realm/${path}`)
      assert.deepEqual([status, headers.location], [302, location])
    }
  })

  test('need an account, and the logo its parameter', async () => {
    assert.equal((await daemon.anonymous.raw('GET', '/api/v1/realm/icon')).status, 401)
    assert.equal((await amy.raw('GET', '/api/v1/realm/logo')).body.code, 'REQUEST_VARIABLE_MISSING')
    assert.equal((await amy.raw('GET', '/api/v1/realm/logo?night=x')).body.code, 'BAD_REQUEST')
  })
})
