// `natter open`: the address it finds, and the browser it starts.

import assert from 'node:assert/strict'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { newShell } from '../support/cli.ts'
import { startDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'

describe('natter open', () => {
  test('prints the address with the token where there is no browser', async t => {
    const { url, ready } = await startDaemon(t, { flags: ['--memory'] })
    const shell = newShell(t, {
      DISPLAY: '',
      WAYLAND_DISPLAY: '',
      BROWSER: '',
      NATTER_CONTROL_TOKEN: ready.control_token!,
    })
    const printed = await shell.natter(['open', '--site', url])
    assert.deepEqual([printed.code, printed.stdout], [0, `${ready.inspector}\n`], printed.stderr)
    const asJson = await shell.natter(['open', '--site', url, '--json'])
    assert.deepEqual(JSON.parse(asJson.stdout), { inspector: ready.inspector })
  })

  test('leaves the token out where none is known', async t => {
    const shell = newShell(t)
    const { stdout } = await shell.natter(['open', '--print', '--site', 'http://127.0.0.1:9/spaces/ci'])
    assert.equal(stdout, 'http://127.0.0.1:9/spaces/ci/\n')
  })

  test('starts the browser of $BROWSER, and does not print the token', async t => {
    const { ready, data } = await startDaemon(t, { flags: ['--control'] })
    const [program, file, readyFile] = [join(data, 'browser'), join(data, 'opened'), join(data, 'ready.json')]
    writeFileSync(program, `#!/bin/sh\nprintf %s "$1" > '${file}'\n`)
    chmodSync(program, 0o755)
    writeFileSync(readyFile, JSON.stringify(ready))
    const shell = newShell(t, { BROWSER: program })
    const { code, stdout, stderr } = await shell.natter(['open', '--ready-file', readyFile])
    assert.deepEqual([code, stdout], [0, ''], stderr)
    assert.ok(!stderr.includes(ready.control_token!), stderr)
    assert.equal(await until(() => readFileSync(file, 'utf8')), ready.inspector)
  })
})
