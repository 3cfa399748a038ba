// No endpoint is known by its ID outside its page: what others need to know of it is a field of the page.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { controlPages } from '../../daemon/api/control.ts'
import type { Page } from '../../daemon/api/define.ts'
import { catalogue } from '../../daemon/api/index.ts'
import { sources } from '../support/sources.ts'

/** Words that are also IDs, and so common that only a comparison with an ID gives them away. */
const everyday = /^[a-z]+$/

const pages: Page[] = [...Object.values(catalogue), ...Object.values(controlPages)]
const ids = (await Promise.all(pages.map(page => page.load()))).flatMap(page => Object.values(page).map(({ id }) => id))

/** Texts shown to people, comments and operations that the daemon records for itself are no knowledge of an endpoint. */
function knownIn(code: string): string[] {
  const literals = [...code.matchAll(/(['"])([a-z][a-z0-9-]+)\1/g)].map(([, , text]) => text!)
  const compared = [...code.matchAll(/\bid\s*[!=]==?\s*(['"])([a-z][a-z0-9-]+)\1/g)].map(([, , text]) => text!)
  return ids.filter(id => (everyday.test(id) ? compared : literals).includes(id))
}

/** Operations that are recorded without a call of the endpoint of the same name. */
const recorded = new Set(['expire-queues', 'restore-snapshot'])

describe('an endpoint', () => {
  test('is known by its ID on its page only', () => {
    const found = sources('cli', 'daemon', 'docs')
      .filter(({ path }) => !path.startsWith('daemon/api/'))
      .flatMap(({ path, code }) =>
        knownIn(code)
          .filter(id => !recorded.has(id))
          .map(id => `${path} knows ${id}`),
      )
    assert.deepEqual(found, [])
  })

  test('is found where it is known, so that this law can fail', () => {
    assert.deepEqual(knownIn("if (endpoint.id === 'get-messages') return"), ['get-messages'])
    assert.deepEqual(knownIn("if (endpoint.id === 'subscribe') return"), ['subscribe'])
    assert.deepEqual(knownIn("program.command('subscribe')"), [])
  })
})
