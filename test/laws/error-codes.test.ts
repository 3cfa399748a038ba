// Error codes: those used and those listed are the same, but for a list of those still to come.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CodeEntry, errorCodes } from '../../daemon/api/errors.ts'
import { sources } from '../support/sources.ts'

/** Listed because the API has them; no endpoint needs them yet. A code leaves this list with its first use. */
const stillToCome = ['PASSWORD_RESET_REQUIRED']

/** Where a code is given to a refusal, or written into an error body. */
const uses = /(?:Refusal|reject|unauthenticated)\(\s*'([A-Z_]+)'|\bcode: '([A-Z_]+)'/g

const used = new Map<string, string>()
// The client library has codes of its own, for what no server answered.
for (const { path, code } of sources('daemon'))
  if (path !== 'daemon/api/errors.ts' && !path.startsWith('daemon/client/'))
    for (const [, thrown, written] of code.matchAll(uses)) used.set((thrown ?? written)!, path)

describe('error codes', () => {
  test('every code that is used is listed', () => {
    for (const [code, path] of used)
      assert.ok(Object.hasOwn(errorCodes, code), `${path} uses ${code}, which api/errors.ts lacks`)
  })

  test('every code that is listed is used, or is still to come, or lies outside the service', () => {
    for (const [code, { outside }] of Object.entries<CodeEntry>(errorCodes))
      if (!outside && !stillToCome.includes(code)) assert.ok(used.has(code), `${code} is listed and nothing uses it`)
  })

  test('codes outside the service are never used', () => {
    for (const [code, { outside }] of Object.entries<CodeEntry>(errorCodes))
      if (outside) assert.ok(!used.has(code), `${used.get(code)} uses ${code}, which is outside the service`)
  })

  test('the list of codes still to come only shrinks', () => {
    for (const code of stillToCome) {
      assert.ok(Object.hasOwn(errorCodes, code), `${code} is not a code`)
      assert.ok(!used.has(code), `${used.get(code)} uses ${code}: take it off the list of those still to come`)
    }
  })
})
