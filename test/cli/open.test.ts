// `natter open`: the address it finds, and the browser it starts.

import assert from 'node:assert/strict'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
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
    const printed = await shell.run(['open', '--site', url])
    assert.deepEqual([printed.code, printed.stdout], [0, `${ready.inspector}\n`], printed.stderr)
    const asJson = await shell.run(['open', '--site', url, '--json'])
    assert.deepEqual(JSON.parse(asJson.stdout), { inspector: ready.inspector })
  })

  test('leaves the token out where none is known', async t => {
    const shell = newShell(t)
    const { stdout } = await shell.run(['open', '--print', '--site', 'http://127.0.0.1:9/spaces/ci'])
    assert.equal(stdout, 'http://127.0.0.1:9/spaces/ci/\n')
  })

  test('starts the browser of $BROWSER with a private page, and puts the token in no argument', async t => {
    const { ready, data } = await startDaemon(t, { flags: ['--control'] })
    const [program, file, readyFile] = [join(data, 'browser'), join(data, 'opened'), join(data, 'ready.json')]
    writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > '${file}'\n`)
    chmodSync(program, 0o755)
    writeFileSync(readyFile, JSON.stringify(ready))
    const shell = newShell(t, { BROWSER: program })
    const { code, stdout, stderr } = await shell.run(['open', '--ready-file', readyFile])
    assert.deepEqual([code, stdout], [0, ''], stderr)
    assert.ok(!stderr.includes(ready.control_token!), stderr)
    const page = join(shell.home, '.config/natter/open.html')
    assert.equal(await until(() => readFileSync(file, 'utf8')), `${pathToFileURL(page).href}\n`)
    assert.equal(statSync(page).mode & 0o777, 0o600)
    assert.ok(readFileSync(page, 'utf8').includes(`content="0;url=${ready.inspector}"`))
  })

  test('gives a browser the address itself if there is no token in it', async t => {
    const shell = newShell(t)
    const [program, file] = [join(shell.home, 'browser'), join(shell.home, 'opened')]
    writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > '${file}'\n`)
    chmodSync(program, 0o755)
    const { code, stderr } = await shell.with({ BROWSER: program }).run(['open', '--site', 'http://127.0.0.1:9'])
    assert.equal(code, 0, stderr)
    assert.equal(await until(() => readFileSync(file, 'utf8')), 'http://127.0.0.1:9/\n')
  })

  test('takes the folder of a browser that is a snap, which reads no other hidden one', {
    skip: process.platform !== 'linux',
  }, async t => {
    const shell = newShell(t)
    const file = join(shell.home, 'opened')
    const program = (name: string, line: string) => {
      writeFileSync(join(shell.home, name), `#!/bin/sh\n${line}\n`)
      chmodSync(join(shell.home, name), 0o755)
    }
    program('xdg-settings', 'echo firefox_firefox.desktop')
    program('xdg-open', `printf '%s\\n' "$@" > '${file}'`)
    const env = {
      PATH: `${shell.home}:${process.env.PATH}`,
      DISPLAY: ':9',
      BROWSER: '',
      NATTER_CONTROL_TOKEN: 'secret',
    }
    const { code, stderr } = await shell.with(env).run(['open', '--site', 'http://127.0.0.1:9'])
    assert.equal(code, 0, stderr)
    const page = pathToFileURL(join(shell.home, 'snap/firefox/common/open.html')).href
    assert.equal(await until(() => readFileSync(file, 'utf8')), `${page}\n`)
  })
})
