// Payloads of services and drift from a recorded server in the inspector, in a real browser against a real daemon.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bots } from '../../daemon/api/bots/bots.ts'
import { users } from '../../daemon/api/people/users.ts'
import { describeInBrowser } from '../support/browser.ts'
import { newShell } from '../support/cli.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { send } from '../support/http.ts'

describeInBrowser('the inspector shows', (_, reuse) => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })

  test('where a recorded server answers otherwise, by endpoint and field', async t => {
    const { url, ready, owner } = daemon()
    const shell = newShell(t, { NATTER_SITE: url, NATTER_CONTROL_TOKEN: ready.control_token! })
    const answer = await owner.call(users.me, {})
    const call = { time: 1, user: owner.email, sent: {}, status: 200, method: 'GET' }
    const theirs = { ...answer, role: 'owner', is_robot: false, full_name: 'Someone Else' }
    const lines = [
      { natter_recording: 1, version: '0' },
      { ...call, call: 1, path: '/api/v1/users/me', endpoint: 'get-own-user', answer: theirs },
      { ...call, call: 2, path: '/api/v1/users', endpoint: 'get-users', answer: { result: 'success', msg: '' } },
      { end: 2 },
    ]
    const file = join(shell.home, 'talk.ndjson')
    writeFileSync(file, lines.map(line => `${JSON.stringify(line)}\n`).join(''))
    writeFileSync(`${file}.accepted.json`, '[{"where":"get-own-user","field":"full_name","kind":"value"}]')
    const { page, errors } = await reuse(ready.inspector)
    await page.evaluate(`location.hash = '#/world/drift'`)
    await page.getByText('No report.').waitFor()
    assert.equal((await shell.run(['replay', file, '--against', 'natter'])).code, 8)
    await page.getByText('talk.ndjson').waitFor()
    await page.getByText('2 calls').waitFor()
    await page.getByRole('row', { name: /get-own-user is_robot presence false absent 1 1/ }).waitFor()
    await page.getByRole('row', { name: /role type "owner" 100 1 1/ }).waitFor()
    await page.getByRole('row', { name: /get-users members presence absent \[\{.* 1 2/ }).waitFor()
    assert.equal(await page.getByRole('row', { name: /full_name value/ }).count(), 0)
    await page.getByLabel('Differences to show').selectOption('all')
    await page.getByRole('row', { name: /full_name value, accepted "Someone Else" "Olive Owner" 1 1/ }).waitFor()
    assert.deepEqual(errors, [])
  })

  test('the whole payload that a service posted', async () => {
    const { url, ready, owner } = daemon()
    const { api_key } = await owner.call(bots.create, { full_name: 'Alerts', short_name: 'alerts', bot_type: 2 })
    const payload = { alerts: Array.from({ length: 900 }, (_, index) => `alert ${index} ${'x'.repeat(50)}`) }
    const headers = { 'Content-Type': 'application/json' }
    const address = `${url}/api/v1/external/grafana?api_key=${api_key}&stream=general`
    const reply = await send(address, { method: 'POST', headers, body: JSON.stringify(payload) })
    assert.equal(reply.status, 200, reply.text)
    const { page, errors } = await reuse(ready.inspector)
    await page.evaluate(`location.hash = '#/calls'`)
    await page.getByRole('button', { name: /POST \/external\/grafana/ }).click()
    const details = page.getByRole('complementary', { name: 'Call' })
    const shown = details.getByRole('region', { name: 'Payload' })
    await shown.getByText('alert 0').waitFor()
    await details
      .getByRole('button', { name: /^Show all/ })
      .last()
      .click()
    await shown.getByText('alert 899').waitFor()
    assert.deepEqual(JSON.parse((await shown.textContent())!), payload)
    assert.deepEqual(errors, [])
  })
})
