// Hashing of passwords, and the line in which they wait for it.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { users } from '../../daemon/api/people/users.ts'
import { Refusal, rateLimited } from '../../daemon/domain/refusal.ts'
import { noPassword, Passwords } from '../../daemon/io/passwords.ts'
import { readConfig } from '../../daemon/start/config.ts'
import { startDaemon } from '../support/daemon.ts'

describe('passwords', () => {
  test('are hashed one after the other; what does not fit into the line is refused with 429', async () => {
    const passwords = new Passwords(1024, rateLimited, 2)
    const all = await Promise.allSettled(['a', 'b', 'c', 'd'].map(text => passwords.hashPassword(text)))
    assert.deepEqual(
      all.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled', 'rejected'],
    )
    const { reason } = all[3] as PromiseRejectedResult
    assert.ok(reason instanceof Refusal)
    assert.deepEqual([reason.status, reason.code, reason.fields], [429, 'RATE_LIMIT_HIT', { 'retry-after': 1 }])
    // The line moves on, and after a failure too.
    const hash = await passwords.hashPassword('e')
    assert.equal(await passwords.verifyPassword('e', hash), true)
    assert.equal(await passwords.verifyPassword('f', hash), false)
    assert.equal(await passwords.verifyPassword('f', undefined), false)
  })

  test('match in any normal form; long runs of combining marks are left as they are', { timeout: 60_000 }, async () => {
    const passwords = new Passwords(1024, rateLimited)
    assert.equal(await passwords.verifyPassword('cafe\u0301', await passwords.hashPassword('caf\u00e9')), true)
    const marks = 'a'.padEnd(1_000_000, '\u0301\u0316')
    assert.equal(await passwords.verifyPassword(marks, await passwords.hashPassword(marks)), true)
  })

  test('match whatever the cost of their hash; the highest fits into the memory that scrypt may use', async () => {
    const [cheap, dear] = [new Passwords(1024, rateLimited), new Passwords(131_072, rateLimited)]
    const hashes = [await cheap.hashPassword('a'), await dear.hashPassword('a')]
    assert.deepEqual(
      hashes.map(hash => hash.split('$')[1]),
      ['1024', '131072'],
    )
    for (const hash of hashes) assert.equal(await cheap.verifyPassword('a', hash), true)
    assert.equal(await cheap.verifyPassword('b', hashes[0]), false)
    assert.equal(await dear.verifyPassword('', noPassword), false)
    // From a store that was tampered with: refused, and no memory is allocated for it.
    for (const n of ['1073741824', '1000', '0', '-1', 'x'])
      assert.equal(await cheap.verifyPassword('a', hashes[0]!.replace('$1024$', `$${n}$`)), false, n)
    for (const text of ['', 'a', 'scrypt', 'scrypt$1024', 'scrypt$1024$', '$$$$'])
      assert.equal(await cheap.verifyPassword('a', text), false, text)
  })
})

describe('the cost of password hashes', () => {
  test('is a flag; without it, fixtures in memory hash with less work than a store', () => {
    const costOf = (...args: string[]) => readConfig(args, {}).passwordCost
    assert.equal(costOf('--data', 'store'), 16_384)
    assert.equal(costOf('--memory'), 1024)
    assert.equal(costOf('--memory', '--password-cost', '65536'), 65_536)
    assert.equal(readConfig(['--data', 'store'], { NATTER_PASSWORD_COST: '4096' }).passwordCost, 4096)
    assert.throws(() => costOf('--password-cost', '1000'), /--password-cost takes 1024, .* or 131072, not '1000'/)
  })

  test('is that of the hashes in the store', async t => {
    const daemon = await startDaemon(t, { flags: ['--password-cost', '4096'] })
    const amy = { email: 'amy@example.com', password: 'correct horse battery', full_name: 'Amy' }
    await daemon.owner.call(users.create, amy)
    const journal = readFileSync(join(daemon.data, 'journal.ndjson'), 'utf8')
    assert.match(journal, /"scrypt\$4096\$/)
    const { email, password } = amy
    const login = await daemon.anonymous.call(users.fetchApiKey, { username: email, password })
    assert.equal(login.email, email)
  })
})
