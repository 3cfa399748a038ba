// No browser or proxy keeps an answer that can hold a key or a token: every answer has Cache-Control: no-store, except for the
// few that say otherwise because they are the same for all callers. `replyProblem` in test/support checks every reply of every test.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { controlPages } from '../../daemon/api/control.ts'
import type { Endpoint } from '../../daemon/api/define.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon } from '../support/daemon.ts'

/** Endpoints of the control plane whose replies have a field with a key or a token, by the shape of the reply. */
async function telling(): Promise<Endpoint[]> {
  const pages = await Promise.all(Object.values(controlPages).map(page => page.load()))
  return pages
    .flatMap(page => Object.values(page))
    .filter(({ reply }) => /"(\w*_)?(token|api_key)"/.test(JSON.stringify(reply)))
}

const noStore = /\bno-store\b/

describe('no-store', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--metrics'] })
  const cacheOf = async (method: string, path: string) => {
    const { headers } = await daemon().owner.raw(method, path)
    return String(headers['cache-control'])
  }

  test('is on every answer of the API, refusals and unknown paths included', async () => {
    for (const { endpoint } of await catalogueEndpoints()) {
      if (endpoint.served === 'outgoing') continue
      const path = endpoint.path.replaceAll(/\{\w+\}/g, '1')
      const { headers } = await daemon().anonymous.raw(endpoint.method, `/api/v1${path}`)
      assert.match(String(headers['cache-control']), noStore, endpoint.id)
    }
    for (const [method, path] of [
      ['OPTIONS', 'users'],
      ['GET', 'users'],
      ['PUT', 'users'],
      ['GET', 'nothing'],
    ])
      assert.match(await cacheOf(method!, `/api/v1/${path}`), noStore, `${method} ${path}`)
  })

  test('is on every answer of the control plane that has a key or a token', async () => {
    const found = await telling()
    assert.ok(found.some(({ path }) => path === '/accounts') && found.some(({ path }) => path === '/spaces'))
    const control = new Control(daemon())
    await control.call('POST', '/spaces', { name: 'one' })
    for (const { method, path } of found) {
      const body = method === 'GET' ? undefined : {}
      const { headers, text } = await control.try(method, path.replaceAll(/\{\w+\}/g, 'one'), body)
      assert.match(String(headers['cache-control']), noStore, `${method} ${path}: ${text}`)
    }
  })

  test('is on pages that differ between readers', async () => {
    for (const path of [
      '/livez',
      '/readyz',
      '/metrics',
      '/control/v1/accounts',
      '/control/v1/nothing',
      '/nothing',
      '/spaces/one',
    ])
      assert.match(await cacheOf('GET', path), noStore, path)
    for (const path of ['/', '/docs/', '/static/icon.svg', '/static/emoji.json'])
      assert.match(String(await cacheOf('GET', path)), /^(no-cache|max-age=86400)$/, path)
  })
})
