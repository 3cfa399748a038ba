// Navigation views: what the specification says of them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { events } from '../../../daemon/api/events.ts'
import { navigationViews as api } from '../../../daemon/api/people/navigation-views.ts'
import { startDaemon } from '../../support/daemon.ts'

describe('POST /navigation_views', () => {
  test('a built-in view has no name, one of your own needs one, and each change is told to you', async t => {
    const { owner } = await startDaemon(t)
    const { queue_id } = await owner.call(events.register, { event_types: ['navigation_view'] })
    await owner.call(api.add, { fragment: 'inbox', is_pinned: true })
    await owner.call(api.add, { fragment: 'narrow/is/alerted', is_pinned: false, name: 'Alerts' })
    await owner.call(api.edit, { fragment: 'narrow/is/alerted', is_pinned: true, name: 'My alerts' })
    await owner.call(api.remove, { fragment: 'inbox' })
    const own = { fragment: 'narrow/is/alerted', is_pinned: true, name: 'My alerts' }
    assert.deepEqual((await owner.call(api.list, {})).navigation_views, [own])
    const { events: told } = await owner.call(events.get, { queue_id, last_event_id: -1 })
    assert.deepEqual(
      told.map(({ id, ...event }) => event),
      [
        { type: 'navigation_view', op: 'add', navigation_view: { fragment: 'inbox', is_pinned: true, name: null } },
        {
          type: 'navigation_view',
          op: 'add',
          navigation_view: { fragment: 'narrow/is/alerted', is_pinned: false, name: 'Alerts' },
        },
        {
          type: 'navigation_view',
          op: 'update',
          fragment: 'narrow/is/alerted',
          data: { is_pinned: true, name: 'My alerts' },
        },
        { type: 'navigation_view', op: 'remove', fragment: 'inbox' },
      ],
    )
    const state = (await owner.call(events.register, {})) as unknown as { navigation_views: unknown }
    assert.deepEqual(state.navigation_views, [own])
  })

  test('a blank fragment, a missing or taken name and a taken fragment are refused', async t => {
    const { owner } = await startDaemon(t)
    await owner.call(api.add, { fragment: 'search/x', is_pinned: false, name: 'X' })
    for (const [fragment, name, named] of [
      [' ', 'Blank', 'fragment'],
      ['search/y', undefined, 'name'],
      ['search/y', ' ', 'name'],
      ['search/y', 'X', 'name'],
      ['search/x', 'Z', 'fragment'],
      ['inbox', 'My inbox', 'name'],
    ] as const) {
      const { msg } = await owner.refused(api.add, { fragment, is_pinned: true, name }, 'BAD_REQUEST')
      assert.match(msg, new RegExp(`^${named}\\b`))
    }
    assert.equal((await owner.call(api.list, {})).navigation_views.length, 1)
  })
})

describe('names of navigation views', () => {
  test('travel raw, also when they look like something else; null is the same as none', async t => {
    const { owner } = await startDaemon(t)
    const send = async (method: string, path: string, fields: Record<string, string>) => {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
      const body = String(new URLSearchParams(fields))
      return (await owner.raw(method, `/api/v1/navigation_views${path}`, { headers, body })).body.result
    }
    const names = ['2024', 'true', '[1]', '{}', '1.5', '[x']
    for (const name of names)
      assert.equal(await send('POST', '', { fragment: `narrow/${name}`, is_pinned: 'true', name }), 'success', name)
    assert.equal(await send('POST', '', { fragment: 'inbox', is_pinned: 'true', name: 'null' }), 'success')
    assert.equal(await send('PATCH', '/inbox', { is_pinned: 'false', name: 'null' }), 'success')
    assert.deepEqual(
      (await owner.call(api.list, {})).navigation_views.map(({ name }) => name),
      [...names, null],
    )
    // Sending the name a view has is no change.
    assert.equal(await send('PATCH', '/narrow/2024', { name: '2024' }), 'success')
  })
})

describe('PATCH and DELETE /navigation_views/{fragment}', () => {
  test('an unknown view is refused with status 404; a slash may be percent-encoded or not', async t => {
    const { owner } = await startDaemon(t)
    assert.equal((await owner.try(api.edit, { fragment: 'nowhere', is_pinned: true })).status, 404)
    await owner.refused(api.edit, { fragment: 'nowhere', is_pinned: true }, 'BAD_REQUEST')
    await owner.refused(api.remove, { fragment: 'nowhere' }, 'BAD_REQUEST')
    await owner.call(api.add, { fragment: 'a/b', is_pinned: false, name: 'AB' })
    const form = { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'is_pinned=true' }
    for (const path of ['a/b', 'a%2Fb'])
      assert.equal((await owner.raw('PATCH', `/api/v1/navigation_views/${path}`, form)).body.result, 'success', path)
    assert.deepEqual((await owner.call(api.list, {})).navigation_views, [
      { fragment: 'a/b', is_pinned: true, name: 'AB' },
    ])
  })
})
