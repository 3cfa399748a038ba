// Limits on password attempts: guesses are bounded, and they keep out only the client that makes them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { settings } from '../../daemon/api/people/settings.ts'
import { users } from '../../daemon/api/people/users.ts'
import { maskNetwork } from '../../daemon/http/login-budget.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'

const password = 'correct horse battery'

describe('passwords', () => {
  const flags = ['--memory', '--rate-limit', '--trust-proxy', '--clock', 'frozen@2030-01-01T00:00:00Z']
  const daemon = sharedDaemon({ flags })

  /** The code of the answer, or `success`. */
  const login = async (username: string, from: string, given = 'a guess') => {
    const { body } = await daemon().anonymous.raw('POST', '/api/v1/fetch_api_key', {
      headers: { 'X-Forwarded-For': from, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ username, password: given }).toString(),
    })
    return (body.code as string | undefined) ?? body.result
  }
  const count = (codes: readonly string[], code: string) => codes.filter(one => one === code).length
  const newPerson = async (name: string) => {
    await daemon().owner.call(users.create, { email: `${name}@example.com`, password, full_name: `${name} x` })
    return `${name}@example.com`
  }

  test('five wrong guesses keep out the client that made them, and no other', async () => {
    const ann = await newPerson('ann')
    const codes: string[] = []
    for (let n = 0; n < 7; n++) codes.push(await login(ann, '198.51.100.1'))
    assert.equal(count(codes, 'AUTHENTICATION_FAILED'), 5, codes.join())
    assert.equal(count(codes, 'RATE_LIMIT_HIT'), 2, codes.join())
    assert.equal(await login(ann, '198.51.100.1', password), 'RATE_LIMIT_HIT')
    assert.equal(await login(ann, '198.51.100.2', password), 'success')
    await new Control(daemon()).advance('30m')
    assert.equal(await login(ann, '198.51.100.1', password), 'success')
  })

  test('a correct password ends the count of its client', async () => {
    const bea = await newPerson('bea')
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 4; n++) assert.equal(await login(bea, '198.51.100.3'), 'AUTHENTICATION_FAILED')
      assert.equal(await login(bea, '198.51.100.3', password), 'success')
    }
  })

  test('guesses from everywhere are bounded, and a client that logged in before still gets in', async () => {
    const cay = await newPerson('cay')
    assert.equal(await login(cay, '203.0.113.250', password), 'success')
    const codes: string[] = []
    for (let client = 1; client <= 30; client++)
      for (let n = 0; n < 2; n++) codes.push(await login(cay, `203.0.113.${client}`))
    assert.equal(count(codes, 'AUTHENTICATION_FAILED'), 50, codes.join())
    assert.equal(count(codes, 'RATE_LIMIT_HIT'), 10, codes.join())
    assert.equal(await login(cay, '203.0.113.251', password), 'RATE_LIMIT_HIT')
    assert.equal(await login(cay, '203.0.113.250', password), 'success')
    await new Control(daemon()).advance('1h')
    assert.equal(await login(cay, '203.0.113.251', password), 'success')
  })

  test('one client has thirty guesses at all accounts together', async () => {
    const dee = await newPerson('dee')
    const codes: string[] = []
    for (let n = 0; n < 40; n++) codes.push(await login(`nobody${n}@example.com`, '198.51.100.4'))
    assert.equal(count(codes, 'AUTHENTICATION_FAILED'), 30, codes.join())
    assert.equal(await login(dee, '198.51.100.4', password), 'RATE_LIMIT_HIT')
    assert.equal(await login(dee, '198.51.100.5', password), 'success')
  })

  test('a network of IPv6 is the first four groups, wherever its zeros are left out', () => {
    for (const [network, ...addresses] of [
      ['2620:0:0:5', '2620:0:0:5:1:2:3:4', '2620:0:0:5::1', '2620::5:0:0:0:1'],
      ['2001:db8:0:0', '2001:db8::1', '2001:db8:0:0:1:2:3:4'],
      ['0:0:0:0', '::1', '::'],
      ['1:2:3:4', '1:2:3:4:5:6:7:8', '1:2:3:4::'],
    ])
      for (const address of addresses) assert.equal(maskNetwork(address), network, address)
  })

  test('the addresses of an IPv6 network of 64 bits are one client, and the spellings of an address one account', async () => {
    const eve = await newPerson('eve')
    const codes: string[] = []
    for (let n = 1; n <= 6; n++) codes.push(await login(n % 2 ? eve : ` ${eve.toUpperCase()} `, `2001:db8:1:2::${n}`))
    assert.equal(count(codes, 'AUTHENTICATION_FAILED'), 5, codes.join())
    assert.equal(await login(eve, '2001:db8:1:2:ffff:1:2:3', password), 'RATE_LIMIT_HIT')
    assert.equal(await login(eve, '2001:db8:1:3::1', password), 'success')
    const spelt: string[] = []
    for (let zeros = 0; zeros < 9; zeros++)
      spelt.push(await login(`user${'0'.repeat(zeros)}8@example.com`, '198.51.100.6'))
    assert.equal(count(spelt, 'AUTHENTICATION_FAILED'), 5, spelt.join())
  })

  test('no budget shows which addresses belong together, or exist', async () => {
    const fay = await newPerson('fay')
    const { members } = await daemon().owner.call(users.list, {})
    const { user_id } = members.find(({ email }) => email === fay)!
    const answers = async (username: string, client: string) => {
      const codes: string[] = []
      for (let n = 0; n < 6; n++) codes.push(await login(username, client))
      return codes
    }
    const known = await answers(fay, '198.51.100.7')
    // Its other address has a budget of its own, as an address without an account has.
    assert.deepEqual(await answers(`user${user_id}@example.com`, '198.51.100.7'), known)
    assert.deepEqual(await answers('nil@example.com', '198.51.100.7'), known)
  })

  test('old_password can be guessed five times; other refusals of the same call do not count', async () => {
    const gil = await person(daemon(), 'gil')
    const change = async (old_password: string, new_password: string) => {
      const { body } = await gil.try(settings.update, { old_password, new_password })
      return body.code ?? body.result
    }
    const old = 'gil has a long password'
    for (let n = 0; n < 8; n++) assert.equal(await change(old, 'x'), 'BAD_REQUEST')
    // Without a new password nothing is checked, so this neither counts nor ends the count.
    const idle = () => gil.call(settings.update, { old_password: 'x' })
    const codes: string[] = []
    for (let n = 0; n < 7; n++) {
      codes.push(await change('a guess', 'another long password'))
      await idle()
    }
    assert.equal(count(codes, 'BAD_REQUEST'), 5, codes.join())
    assert.equal(count(codes, 'RATE_LIMIT_HIT'), 2, codes.join())
    // Logging in has a budget of its own.
    assert.equal(await login(gil.email!, '198.51.100.8', old), 'success')
  })
})
