// The secret of a store: what happens when it is empty, missing or another one.

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { users } from '../../daemon/api/people/users.ts'
import { backupToFile } from '../../daemon/maintenance/backup.ts'
import { checkBackup, openBackup } from '../../daemon/maintenance/index.ts'
import { host, type TestDaemon } from '../support/daemon.ts'
import { refusal } from '../support/gives-up.ts'

const scratch = mkdtempSync(join(tmpdir(), 'natter-secret-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

function started(data: string, ...flags: string[]): Promise<TestDaemon> {
  return host(data, { flags })
}

/** A store that was used once, with or without a snapshot. */
async function usedStore(compacted: boolean, ...flags: string[]): Promise<{ data: string; key: string }> {
  const data = mkdtempSync(join(scratch, 'store-'))
  const daemon = await started(data, ...flags)
  if (compacted) await daemon.compact()
  await daemon.end()
  return { data, key: daemon.owner.key! }
}

describe('the secret of a store', () => {
  for (const compacted of [false, true]) {
    const where = compacted ? 'a snapshot' : 'only a journal'

    test(`with ${where}: an empty or short secret is refused, and accepted with --new-secret`, async () => {
      const { data, key } = await usedStore(compacted)
      const file = join(data, 'secret')
      const old = readFileSync(file, 'utf8')
      for (const [text, words] of [
        ['', /secret is empty.*--new-secret/s],
        ['\n', /secret is empty/],
        ['0123456789abcde', /15 characters/],
      ] as const) {
        writeFileSync(file, text)
        assert.match(await refusal(data), words)
        assert.equal(readFileSync(file, 'utf8'), text, 'the file was changed')
      }
      const other = await started(data, '--new-secret')
      assert.notEqual(other.owner.key, key)
      await other.owner.call(users.me, {})
      assert.match(readFileSync(file, 'utf8'), /^[0-9a-f]{64}\n$/)
      await other.end()
      // From now on the new one is the right one.
      await (await started(data)).end()
      writeFileSync(file, old)
      assert.match(await refusal(data), /not the one that this store was used with/)
    })

    test(`with ${where}: a missing secret is refused, and nothing is written in its place`, async () => {
      const { data, key } = await usedStore(compacted)
      const shared = mkdtempSync(join(scratch, 'shared-'))
      cpSync(data, shared, { recursive: true, filter: source => !source.endsWith('/secret') })
      assert.match(await refusal(shared), /'secret' is missing.*--new-secret/s)
      assert.match(await refusal(shared), /'secret' is missing/)
      cpSync(join(data, 'secret'), join(shared, 'secret'))
      const same = await started(shared)
      assert.equal(same.owner.key, key)
      await same.stop()
    })

    test(`with ${where}: another secret is refused, by file and by flag`, async () => {
      const { data, key } = await usedStore(compacted)
      const file = join(data, 'secret')
      const old = readFileSync(file, 'utf8')
      assert.match(
        await refusal(data, ['--secret', 'a quite different text']),
        /not the one that this store was used with/,
      )
      writeFileSync(file, 'another secret of a good length\n')
      assert.match(await refusal(data), /not the one that this store was used with.*--new-secret/s)
      writeFileSync(file, old)
      const same = await started(data)
      assert.equal(same.owner.key, key)
      await same.stop()
    })
  }

  test('given by flag, it must be given again', async () => {
    const { data, key } = await usedStore(true, '--secret', 'known beforehand')
    assert.match(await refusal(data), /'secret' is missing/)
    const same = await started(data, '--secret', 'known beforehand')
    assert.equal(same.owner.key, key)
    await same.stop()
  })

  test('that is replaced by one of a flag is put aside, so that backups can be restored', async () => {
    const { data } = await usedStore(false)
    const old = readFileSync(join(data, 'secret'), 'utf8')
    const daemon = await started(data, '--secret', 'another secret of a flag', '--new-secret')
    assert.equal(readFileSync(join(data, 'secret.replaced'), 'utf8'), old)
    const file = join(scratch, 'after.tar')
    const options = { folder: data, withoutSecret: false, now: new Date() }
    await backupToFile(file, options)
    assert.deepEqual((await checkBackup(openBackup(file))).missing, [])
    const refuseOthers = async () => {
      for (const text of ['', old, 'short\n'])
        for (const incomplete of [false, true]) {
          writeFileSync(join(data, 'secret'), text)
          const refused = /the file 'secret' is not the one that the store is used with/
          await assert.rejects(backupToFile(file, { ...options, incomplete }), refused)
        }
    }
    await refuseOthers()
    await daemon.end()
    await refuseOthers()
    await backupToFile(file, { ...options, withoutSecret: true })
  })
})
