// `natter doctor` with each thing that can be wrong.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { accountAt, fakeServer, json, newShell, type Shell } from '../support/cli.ts'
import { root } from '../support/sources.ts'

async function findings(shell: Shell): Promise<Record<string, { state: string; says: string; todo?: string }>> {
  const { stdout, code } = await shell.run(['doctor', '--json'])
  const found = JSON.parse(stdout) as { what: string; state: string; says: string; todo?: string }[]
  assert.equal(code, found.some(({ state }) => state === 'wrong') ? 1 : 0)
  return Object.fromEntries(found.map(({ what, ...rest }) => [what, rest]))
}

describe('natter doctor', () => {
  test('says that there is no account, and what to do', async t => {
    const url = await fakeServer(t, (_, response) => json(response, { result: 'success', svc_feature_level: 417 }))
    const { server, account, profiles, daemon } = await findings(newShell(t, { NATTER_SITE: url }))
    assert.equal(server?.state, 'ok')
    assert.match(server.says, /answered in \d+ ms, feature level 417$/)
    assert.deepEqual(account, {
      state: 'wrong',
      says: 'no account is configured',
      todo: 'Run natter login or natter daemon start.',
    })
    assert.match(profiles!.says, /^none yet in /)
    assert.match(daemon!.says, /^no daemon uses /)
  })

  test('says that the server does not answer', async t => {
    const url = await fakeServer(t, request => request.socket.destroy())
    const { server, account } = await findings(newShell(t, accountAt(url)))
    assert.equal(server?.state, 'wrong')
    assert.equal(account, undefined)
  })

  test('says that what answers with success is not a chat server', async t => {
    let reply: Record<string, unknown> = {}
    const url = await fakeServer(t, (_, response) => json(response, { result: 'success', msg: '', ...reply }))
    const shell = newShell(t, accountAt(url))
    const todo = 'Check --site, NATTER_SITE or the profile.'
    for (const level of [undefined, '417', {}, null]) {
      reply = { svc_feature_level: level, user_id: 8, full_name: 'Amy' }
      const { server, account } = await findings(shell)
      assert.equal(server?.state, 'wrong')
      assert.equal(server.says, `${url} answered, but it is not a chat server: its answer has no feature level`)
      assert.equal(account, undefined)
    }
    for (const user of [{}, { user_id: '8', full_name: 'Amy' }, { user_id: 8 }]) {
      reply = { svc_feature_level: 417, ...user }
      const { server, account } = await findings(shell)
      assert.equal(server?.state, 'ok')
      const says = `${url} answered, but it is not a chat server: its answer has no user`
      assert.deepEqual(account, { state: 'wrong', says, todo })
      const { code, stdout, stderr } = await shell.run(['whoami'])
      assert.deepEqual([code, stdout, stderr], [1, '', `natter: ${says} (BAD_ANSWER)\n  ${todo}\n`])
    }
  })

  test('warns of a clock that is far from this one', async t => {
    const away = new Date(Date.now() - 3_600_000).toUTCString()
    const url = await fakeServer(t, (_, response) =>
      json(response, { result: 'success', zulip_feature_level: 400, full_name: 'Amy', user_id: 8 }, 200, {
        Date: away,
      }),
    )
    const { account, clock } = await findings(newShell(t, accountAt(url)))
    assert.match(account!.says, /^Amy <amy@example\.com>, user 8, from /)
    assert.equal(clock?.state, 'warning')
    assert.match(clock.says, /^the server's clock differs by 3[56]\d\d s$/)
  })

  test('finds profiles that others can read, and a file that is not valid', {
    skip: process.platform === 'win32',
  }, async t => {
    const shell = newShell(t)
    const folder = join(shell.home, '.config/natter')
    const file = join(folder, 'profiles.json')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(file, '{"current":null,"profiles":{}}', { mode: 0o644 })
    chmodSync(file, 0o644)
    const open = (await findings(shell)).profiles
    assert.deepEqual([open?.state, open?.todo], ['wrong', `Run chmod go-rwx ${file}`])
    chmodSync(file, 0o600)
    assert.match((await findings(shell)).profiles!.says, /^0 in .*, current is none$/)
    writeFileSync(file, 'no JSON')
    assert.equal((await findings(shell)).profiles?.state, 'wrong')
  })

  test('says which code cache natter uses, or why it cannot have one', {
    skip: (process.platform === 'win32' || process.env.NATTER_COVERAGE) && 'there are no modes, or no caches',
  }, t => {
    const home = newShell(t).home
    const natter = () => {
      // Flags of V8 that the caches of the build do not fit.
      const run = spawnSync(
        process.execPath,
        ['--stack-trace-limit=20', join(root, 'bin/natter'), 'doctor', '--json'],
        {
          encoding: 'utf8',
          env: { ...process.env, HOME: home, XDG_CACHE_HOME: join(home, 'cache'), NATTER_CONFIG_DIR: home },
        },
      )
      const found = JSON.parse(run.stdout) as { what: string; state: string; says: string }[]
      return found.find(({ what }) => what === 'natter')!
    }
    assert.match(natter().says, /; the code cache for this Node is written to .*cache\/natter now$/)
    assert.match(natter().says, /, with the code cache .*cache\/natter\/natter\.cjs\..*\.cache$/)
    chmodSync(join(home, 'cache/natter'), 0o777)
    const { state, says } = natter()
    assert.equal(state, 'warning')
    assert.match(says, /without a code cache for this Node: other users can change .*cache\/natter$/)
  })
})
