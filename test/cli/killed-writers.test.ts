// Unfinished files of commands that were killed: a day later, the next command with the same target removes them.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { exitOf, fakeServer, json, newShell } from '../support/cli.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'

/** Days ago, for `utimesSync`. */
const before = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000)

describe('a command that was killed while it wrote', () => {
  const daemon = sharedDaemon({ flags: ['--preset', 'dev', '--control'] })

  const shellAt = (t: TestContext) => {
    const { url, control_token, owner } = daemon().ready
    const account = { NATTER_SITE: url, NATTER_EMAIL: owner.email, NATTER_API_KEY: owner.api_key }
    return newShell(t, { ...account, NATTER_CONTROL_TOKEN: control_token! })
  }

  /** As it is called while it is written. */
  const leftOf = (file: string) => `${file}.${randomUUID()}.tmp`

  const unfinishedIn = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.tmp'))

  for (const [args, files] of [
    [['send', '#general>killed', '--batch', 'lines', '--resume', 'state.json'], ['state.json']],
    [
      ['seed', 'pull', 'team.json'],
      ['team.json', 'team.json.partial'],
    ],
    [['seed', 'dump', 'world.json'], ['world.json']],
    [['snapshot', 'export', 'snapshot.json'], ['snapshot.json']],
    [['messages', 'export', 'copy', '--channel', 'general'], ['copy/export.json']],
  ] as const)
    test(`leaves nothing that is a day old after the next natter ${args.slice(0, 2).join(' ')}`, async t => {
      const shell = shellAt(t)
      writeFileSync(join(shell.home, 'lines'), '')
      for (const file of files.map(name => join(shell.home, name))) {
        mkdirSync(dirname(file), { recursive: true })
        const left = leftOf(file)
        writeFileSync(left, 'Amy')
        utimesSync(left, before, before)
        writeFileSync(`${file}.mine.tmp`, 'mine')
      }
      const { code, stderr } = await shell.run(args)
      assert.equal(code, 0, stderr)
      assert.deepEqual(
        unfinishedIn(shell.home).sort(),
        files.map(name => `${name}.mine.tmp`),
      )
    })

  test('leaves nothing that is a day old after the next download of the same file', async t => {
    let downloads = 0
    const site = await fakeServer(t, (request, response) => {
      if (request.url!.startsWith('/api/'))
        return json(response, { result: 'success', url: '/user_uploads/temporary/a/report.pdf' })
      response.write('real names')
      // The first is never complete.
      if (++downloads > 1) response.end()
    })
    const shell = newShell(t, { NATTER_SITE: site, NATTER_EMAIL: 'amy@example.com', NATTER_API_KEY: 'key' })
    const args = ['uploads', 'download', '2/ab/report.pdf']
    const child = shell.spawn(args)
    await until(() => readdirSync(shell.home).some(name => readFileSync(join(shell.home, name), 'utf8') !== ''))
    child.kill('SIGKILL')
    await exitOf(child)
    const [left, ...others] = readdirSync(shell.home)
    assert.deepEqual(others, [])
    utimesSync(join(shell.home, left!), before, before)
    const { code, stderr } = await shell.run(args)
    assert.equal(code, 0, stderr)
    assert.deepEqual(readdirSync(shell.home), ['report.pdf'])
  })
})
