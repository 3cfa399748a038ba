// The build where its programs cannot run, and the code caches that starts write for themselves.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'natter-build-'))
after(() => rmSync(folder, { recursive: true, force: true }))

describe('the build where no port can be opened', { skip: process.env.NATTER_COVERAGE && 'it makes no caches' }, () => {
  const caches = () => readdirSync(join(folder, 'dist')).filter(name => name.endsWith('.cache'))
  const ofUser = () => (existsSync(join(home, 'natter')) ? readdirSync(join(home, 'natter')) : [])
  const own = new RegExp(`^natterd\\.cjs\\.${process.version}-${process.arch}\\.[0-9a-f]{16}\\.cache$`)
  let home: string
  beforeEach(() => {
    home = mkdtempSync(join(folder, 'home-'))
  })

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

  test('leaves a daemon whose first start writes the cache into the folder of the user, for the next', async () => {
    await runDaemon()
    const [name, ...others] = ofUser()
    assert.match(name!, own)
    assert.deepEqual(others, [])
    assert.deepEqual(caches(), [])
    assert.equal(statSync(join(home, 'natter')).mode & 0o777, 0o700)
    const { mtimeMs } = statSync(join(home, 'natter', name!))
    await runDaemon()
    assert.deepEqual(ofUser(), [name])
    assert.equal(statSync(join(home, 'natter', name!)).mtimeMs, mtimeMs)
  })

  test('a cache that another version of node made does not fit: a start writes its own', async () => {
    writeFileSync(join(folder, 'dist/natterd.cjs.cache'), 'of another version')
    await runDaemon()
    assert.match(ofUser().join(), own)
    rmSync(join(folder, 'dist/natterd.cjs.cache'))
  })

  test('a run that only prints something writes none', () => {
    const { stdout } = spawnSync(process.execPath, [join(folder, 'bin/natterd'), '--version'], {
      encoding: 'utf8',
      env: { ...process.env, XDG_CACHE_HOME: home },
    })
    assert.match(stdout, /^natterd \d/)
    assert.deepEqual(ofUser(), [])
  })

  test('none is read from or written to a folder that other users can change', {
    skip: process.platform === 'win32',
  }, async () => {
    await runDaemon()
    const [name] = ofUser()
    const file = join(home, 'natter', name!)
    writeFileSync(file, 'of another user')
    for (const open of [home, join(home, 'natter')]) {
      chmodSync(open, 0o777)
      await runDaemon()
      assert.equal(statSync(file).size, 'of another user'.length, `${open} was trusted`)
      chmodSync(open, 0o700)
    }
    await runDaemon()
    assert.ok(statSync(file).size > 100_000)
  })

  /** Until it is ready; then it is stopped. */
  async function runDaemon(): Promise<void> {
    const flags = ['--memory', '--port', '0', '--json', '--no-profile']
    const daemon = spawn(process.execPath, [join(folder, 'bin/natterd'), ...flags], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, XDG_CACHE_HOME: home },
    })
    await once(daemon.stdout, 'data')
    daemon.kill()
    const [code] = await once(daemon, 'exit')
    assert.equal(code, 0)
  }
})
