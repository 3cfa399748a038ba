// The line in which passwords wait to be hashed.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Refusal, rateLimited } from '../../daemon/domain/refusal.ts'
import { Passwords } from '../../daemon/io/passwords.ts'

describe('passwords', () => {
  test('are hashed one after the other; what does not fit into the line is refused with 429', async () => {
    const passwords = new Passwords(rateLimited, 2)
    const all = await Promise.allSettled(['a', 'b', 'c', 'd'].map(text => passwords.hashPassword(text)))
    assert.deepEqual(
      all.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled', 'rejected'],
    )
    const { reason } = all[3] as PromiseRejectedResult
    assert.ok(reason instanceof Refusal)
    assert.deepEqual([reason.status, reason.code, reason.fields], [429, 'RATE_LIMIT_HIT', { 'retry-after': 5 }])
    // The line moves on, and after a failure too.
    const hash = await passwords.hashPassword('e')
    assert.equal(await passwords.verifyPassword('e', hash), true)
    assert.equal(await passwords.verifyPassword('f', hash), false)
    assert.equal(await passwords.verifyPassword('f', undefined), false)
  })

  test('match in any normal form; long runs of combining marks are left as they are', { timeout: 60_000 }, async () => {
    const passwords = new Passwords(rateLimited)
    assert.equal(await passwords.verifyPassword('cafe\u0301', await passwords.hashPassword('caf\u00e9')), true)
    const marks = 'a'.padEnd(1_000_000, '\u0301\u0316')
    assert.equal(await passwords.verifyPassword(marks, await passwords.hashPassword(marks)), true)
  })
})
