// The server's description of itself.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { server as api } from '../../../daemon/api/organization/server.ts'
import { sharedDaemon, startDaemon } from '../../support/daemon.ts'
import { freePort } from '../../support/free-port.ts'

describe('GET /server_settings', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--org', 'Ants & <Bees>'] })

  test('needs no account, and minds none, not even a wrong one', async () => {
    const { url, anonymous } = daemon()
    await anonymous.call(api.settings, {})
    for (const auth of ['nobody@example.com:wrong', undefined])
      assert.equal((await anonymous.raw('GET', '/api/v1/server_settings', { auth })).status, 200)
    assert.equal((await anonymous.call(api.settings, {})).realm_url, url)
  })

  test('has every field of the specification', async () => {
    const reply = await daemon().anonymous.call(api.settings, {})
    assert.equal(reply.svc_feature_level, 417)
    assert.equal(reply.realm_name, 'Ants & <Bees>')
    assert.equal(reply.realm_uri, reply.realm_url)
    assert.equal(reply.is_incompatible, false)
    assert.equal(reply.email_auth_enabled, true)
    assert.deepEqual(reply.external_authentication_methods, [])
    for (const name of ['password', 'dev', 'email', 'ldap', 'remoteuser', 'saml', 'openid connect'])
      assert.equal(typeof reply.authentication_methods[name], 'boolean', name)
    assert.equal(reply.authentication_methods.dev, false)
  })

  test('its icon is there', async () => {
    const { realm_icon } = await daemon().anonymous.call(api.settings, {})
    const reply = await daemon().anonymous.raw('GET', new URL(realm_icon).pathname)
    assert.equal(reply.status, 200)
    assert.match(String(reply.headers['content-type']), /^image\//)
  })

  test('the URL is what clients are to call it, when told', async t => {
    const port = await freePort()
    const flags = ['--memory', '--dev-auth', '--port', `${port}`, '--url', `http://localhost:${port}/`]
    const { anonymous } = await startDaemon(t, { flags })
    const reply = await anonymous.call(api.settings, {})
    assert.equal(reply.realm_url, `http://localhost:${port}`)
    assert.equal(reply.authentication_methods.dev, true)
  })
})
