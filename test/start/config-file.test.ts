// The config file as natterd reads it: below flags and environment, and refused with its path.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { UsageError } from '../../daemon/start/config.ts'
import { nameSources, withConfigFile } from '../../daemon/start/config-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'natter-config-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const path = join(folder, 'config.json')
const env = { NATTER_CONFIG: path, HOME: folder }

function read(config: unknown, more: Record<string, string> = {}) {
  writeFileSync(path, typeof config === 'string' ? config : JSON.stringify(config))
  return withConfigFile({ ...env, ...more })
}

describe('the config file of natterd', () => {
  test('sets what the environment does not', () => {
    const found = read({ daemon: { port: 1234, heartbeat: 5 } }, { NATTER_HEARTBEAT: '9' })
    assert.equal(found.NATTER_PORT, '1234')
    assert.equal(found.NATTER_HEARTBEAT, '9')
  })

  test('does not choose a store where the environment has chosen one', () => {
    const config = { daemon: { memory: true, port: 1 } }
    assert.equal(read(config).NATTER_MEMORY, 'true')
    const found = read(config, { NATTER_DATA: '/data' })
    assert.equal(found.NATTER_MEMORY, undefined)
    assert.equal(found.NATTER_DATA, '/data')
    assert.equal(found.NATTER_PORT, '1')
  })

  test('is refused with its path and what is wrong', () => {
    for (const [config, reason] of [
      ['{', /JSON/],
      [[], /the file is not a JSON object/],
      [{ daemon: 7 }, /"daemon" is not a JSON object/],
      [{ daemon: { prot: 1 } }, /daemon\.prot.*daemon\.port/s],
      [{ daemon: { port: [] } }, /"daemon\.port" is not a text, a number, true or false/],
    ] as const)
      assert.throws(
        () => read(config),
        error => {
          assert.ok(error instanceof UsageError)
          assert.ok(error.message.startsWith(`the config file ${path}: `), error.message)
          assert.match(error.message, reason)
          return true
        },
      )
  })

  test('is named, as a variable is, where its value is wrong', () => {
    const named = (text: string, args: readonly string[], more: Record<string, string>) => {
      const given = { ...env, ...more }
      return nameSources(new UsageError(text), args, given, read({ daemon: { level: 'x' } }, more)).message
    }
    assert.equal(named('--level takes a level', [], { NATTER_LEVEL: 'x' }), 'NATTER_LEVEL takes a level')
    assert.equal(named('--level takes a level', [], {}), `daemon.level in ${path} takes a level`)
    for (const args of [['--level', 'x'], ['--level=x']])
      assert.equal(named('--level takes a level', args, {}), '--level takes a level')
    assert.equal(
      named('--seed and --from exclude each other', ['--from', 'x'], { NATTER_SEED: 'x' }),
      'NATTER_SEED and --from exclude each other',
    )
  })

  test('may be missing unless it is named', () => {
    rmSync(path, { force: true })
    const unnamed = { HOME: folder, XDG_CONFIG_HOME: folder }
    assert.deepEqual(withConfigFile(unnamed), unnamed)
    assert.throws(() => withConfigFile(env), /cannot read the config file .*config\.json: ENOENT/)
    mkdirSync(path)
    assert.throws(() => withConfigFile(env), /cannot read the config file .*: EISDIR/)
  })
})
