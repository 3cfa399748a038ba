// `natter org export`: asks, waits for the event, and downloads.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { exitCodes } from '../../cli/base/failure.ts'
import { settings } from '../../daemon/api/people/settings.ts'
import { entriesOf, rowsIn } from '../support/archives.ts'
import { accountAt, fakeServer, json, newShell } from '../support/cli.ts'
import { inProcess } from '../support/cli-in-process.ts'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { direct, people } from '../support/world.ts'

let amy: Caller
const folder = mkdtempSync(join(tmpdir(), 'natter-org-export-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const daemon = sharedDaemon({}, async running => {
  ;[amy] = await people(running, 'amy')
  await direct(amy, running.owner, 'psst')
  await amy.call(settings.update, { allow_private_data_export: true })
})

const natter = (args: readonly string[], { url, email, key }: Caller = daemon().owner) =>
  inProcess(['org', 'export', ...args], {
    env: { NATTER_SITE: url, NATTER_EMAIL: email!, NATTER_API_KEY: key! },
  })

const texts = async (file: string) => rowsIn(await entriesOf(file), 'messages').map(({ content }) => content)

describe('natter org export', () => {
  test('saves a public archive, or one with the private data of users who consent', async () => {
    const [open, whole] = [join(folder, 'open.tar.gz'), join(folder, 'whole.tar.gz')]
    const first = await natter([open])
    assert.deepEqual([first.code, first.stdout], [0, `${open}\n`])
    assert.match(first.stderr, /export \d+ has begun/)
    assert.ok(!(await texts(open)).includes('psst'))
    await daemon().owner.call(settings.update, { allow_private_data_export: true })
    const second = await natter([whole, '--private', '--json'])
    const { id, file } = JSON.parse(second.stdout)
    assert.deepEqual([second.code, typeof id, file], [0, 'number', whole])
    assert.ok((await texts(whole)).includes('psst'))
    assert.deepEqual(
      readdirSync(folder).filter(name => name.endsWith('.tmp')),
      [],
    )
  })

  test('exits with 1 if no owner allows the export of private data, and leaves no file', async () => {
    await daemon().owner.call(settings.update, { allow_private_data_export: false })
    const file = join(folder, 'unusable.tar.gz')
    const { code, stdout, stderr } = await natter([file, '--private'])
    assert.deepEqual([code, stdout], [exitCodes.refused, ''])
    assert.match(stderr, /At least one organization owner must consent to the export/)
    assert.ok(!existsSync(file))
  })

  test('does not replace a file unless it is told to', async () => {
    const file = join(folder, 'kept.tar.gz')
    writeFileSync(file, 'mine')
    const { code, stderr } = await natter([file])
    assert.equal(code, exitCodes.usage)
    assert.match(stderr, /kept\.tar\.gz exists\n.*--yes/)
    assert.equal((await natter([file, '--yes'])).code, 0)
    assert.ok((await entriesOf(file)).has('export.json'))
  })

  test('exits with 4 if you are not an administrator, and leaves no file', async () => {
    const file = join(folder, 'denied.tar.gz')
    const { code, stderr } = await natter([file], amy)
    assert.equal(code, exitCodes.denied)
    assert.match(stderr, /You must be an organization administrator/)
    assert.ok(!existsSync(file))
  })

  /** A server that has made its export at that address. */
  const serve = (t: TestContext, export_url: string) => {
    const row = { id: 1, pending: false, failed_timestamp: null, export_url }
    return fakeServer(t, (request, response) => {
      const path = request.url!
      if (path.startsWith('/api/v1/register'))
        return json(response, { result: 'success', queue_id: 'q', last_event_id: -1 })
      if (path.startsWith('/api/v1/events'))
        return json(response, { result: 'success', events: [{ id: 0, type: 'realm_export', exports: [row] }] })
      if (path.startsWith('/api/v1/export')) return json(response, { result: 'success', id: 1 })
      response.end(Buffer.from('1f8b', 'hex'))
    })
  }

  test('replaces no file by a name that the server chose, not even with --yes', async t => {
    const shell = newShell(t, accountAt(await serve(t, '/user_avatars/exports/package.json')))
    const file = join(shell.home, 'package.json')
    writeFileSync(file, 'mine')
    const { code, stderr } = await shell.run(['org', 'export', '--yes'])
    assert.equal(code, exitCodes.usage, stderr)
    assert.match(stderr, /package\.json exists\n.*Name a file/)
    assert.equal(readFileSync(file, 'utf8'), 'mine')
  })

  test('gives up on an answer that comes byte by byte', { timeout: 60_000 }, async t => {
    const url = await fakeServer(t, (request, response) => {
      if (request.url!.startsWith('/api/v1/register'))
        return json(response, { result: 'success', queue_id: 'q', last_event_id: -1 })
      if (request.method === 'DELETE') return json(response, { result: 'success' })
      const drip = setInterval(() => response.write(' '), 50)
      response.once('close', () => clearInterval(drip))
    })
    const { code, stderr } = await newShell(t, accountAt(url)).run(['org', 'export', '--timeout', '500ms'])
    assert.equal(code, exitCodes.unmet)
    assert.match(stderr, /did not answer within 0\.5 s/)
  })

  test('takes no name that other programs would hide or take for a flag', async t => {
    for (const name of ['-rf', '.bashrc', '%1b', '']) {
      const shell = newShell(t, accountAt(await serve(t, `/user_avatars/1/${name}`)))
      const { code, stderr } = await shell.run(['org', 'export'])
      assert.equal(code, 0, stderr)
      assert.deepEqual(readdirSync(shell.home), ['export.tar.gz'], name)
    }
  })
})
