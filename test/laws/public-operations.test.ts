// Every operation that public servers document at this level has a route here. public-operations.txt lists them by method and path.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { resources } from '../../daemon/domain/index.ts'
import { Routes } from '../../daemon/http/routes.ts'
import { findUnconfigured } from '../../daemon/http/unconfigured.ts'

const operations = readFileSync(join(import.meta.dirname, 'public-operations.txt'), 'utf8')
  .trim()
  .split('\n')
const routes = Routes.of(resources)

describe('every operation of public servers', () => {
  test('there are 153, each once', () => {
    assert.equal(operations.length, 153)
    assert.equal(new Set(operations).size, operations.length)
  })

  test('is answered', () => {
    // It is the request that the server sends to a bot; the spec gives it another name.
    const sent = 'POST /zulip-outgoing-webhook'
    const missing = operations.filter(operation => {
      const [method, pattern] = operation.split(' ') as [string, string]
      const path = pattern.replace(/\{\w+\}/g, '1')
      return operation !== sent && !routes.find(method, path) && !findUnconfigured(method, path)
    })
    assert.deepEqual(missing, [])
  })
})
