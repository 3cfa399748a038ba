// The pages beside the API, which are loaded with the first such request, from a file of their own. That can fail, and must cost nothing else.

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { launch } from '../support/daemon.ts'
import { root } from '../support/sources.ts'

test('a page that cannot be loaded is refused; the API goes on, and the next request tries again', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'natter-pages-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(root, part), join(folder, part), { recursive: true })
  const bundle = join(folder, 'dist/fastify.cjs')
  renameSync(bundle, `${bundle}.away`)
  const daemon = await launch(join(folder, 'store'), { program: join(folder, 'bin/natterd') })
  t.after(() => daemon.kill())
  for (let n = 0; n < 2; n++) {
    const { status, body } = await daemon.owner.raw('GET', '/health')
    assert.equal(status, 503)
    assert.match(body.msg, /cannot load/)
    assert.equal((await daemon.owner.raw('GET', '/api/v1/users/me')).status, 200)
  }
  renameSync(`${bundle}.away`, bundle)
  assert.equal((await daemon.owner.raw('GET', '/health')).status, 200)
  assert.equal(daemon.process.exitCode, null)
})
