// The nginx of this machine, for a test: on ports of its own, in a folder of its own, ended with the test.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from './until.ts'

const program = ['nginx', '/usr/sbin/nginx'].find(name => spawnSync(name, ['-v']).status === 0)

/** Why tests with nginx cannot run here; undefined where they can. NATTER_REQUIRE=nginx makes that a failure. */
export const withoutNginx: string | undefined = program ? undefined : 'nginx is not installed'
if (withoutNginx && /\bnginx\b/.test(process.env.NATTER_REQUIRE ?? '')) throw new Error(withoutNginx)

/** Runs nginx with this inside `http { … }`. Resolves when it listens on the port; what it resolves to ends it. */
export async function startNginx(http: string, port: number): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'natter-nginx-'))
  mkdirSync(join(folder, 'temp'))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    name => `${name}_temp_path ${join(folder, 'temp')};`,
  )
  const config = `pid ${join(folder, 'pid')}; error_log stderr; daemon off; master_process off; events {}
http { access_log off; ${temporary.join(' ')} ${http} }`
  writeFileSync(join(folder, 'nginx.conf'), config)
  const nginx = spawn(program!, ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  nginx.stderr.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  const closed = new Promise(resolve => nginx.once('close', resolve))
  const stop = async () => {
    nginx.kill('SIGKILL')
    await closed
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await until(() => {
      assert.equal(nginx.exitCode, null, stderr)
      return listens(port)
    })
    return stop
  } catch (error) {
    await stop()
    throw error
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
