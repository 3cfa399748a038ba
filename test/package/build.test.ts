// The build where its programs cannot run, and the code caches that a first start then writes.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'natter-build-'))
after(() => rmSync(folder, { recursive: true, force: true }))

describe('the build where no port can be opened', { skip: process.env.NATTER_COVERAGE && 'it makes no caches' }, () => {
  const caches = () => readdirSync(join(folder, 'dist')).filter(name => /^natterd\..*\.cache$/.test(name))
  const start = () => execFileSync(process.execPath, [join(folder, 'bin/natterd'), '--version'], { encoding: 'utf8' })
  const own = `natterd.cjs.${process.version}-${process.arch}.cache`

  test('succeeds, and says that the first start writes the code cache', () => {
    const run = spawnSync('npx', ['tsx', 'build.ts', '--without-inspector', folder], {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: `--require ${join(root, 'test/support/no-ports.cjs')}` },
    })
    assert.equal(run.status, 0, run.stderr)
    assert.match(run.stderr, /natterd has no code cache yet: .*EPERM.*\. Its first start writes it\./)
    assert.deepEqual(caches(), [])
  })

  test('leaves a program whose first start writes the cache for the next', () => {
    assert.match(start(), /^natterd \d/)
    assert.deepEqual(caches(), [own])
    assert.match(start(), /^natterd \d/)
  })

  test('a cache that another version of node made is replaced by one of this version', () => {
    rmSync(join(folder, 'dist', own))
    writeFileSync(join(folder, 'dist/natterd.cjs.cache'), 'of another version')
    assert.match(start(), /^natterd \d/)
    assert.deepEqual(caches(), ['natterd.cjs.cache', own])
  })
})
