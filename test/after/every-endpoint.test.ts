// After the whole run: was every endpoint called, with success and with each refusal it documents?

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { catalogueEndpoints } from '../support/catalogue.ts'

const file = process.env.NATTER_TEST_CALLS
const calls = new Set(file ? readFileSync(file, 'utf8').split('\n') : [])
const endpoints = (await catalogueEndpoints()).filter(({ endpoint }) => endpoint.served !== 'outgoing')

describe('the whole run', { skip: file ? false : 'needs the calls of a whole run: npm test' }, () => {
  for (const { endpoint } of endpoints)
    for (const outcome of ['success', ...endpoint.refusals])
      test(`${endpoint.method} ${endpoint.path} was called and answered ${outcome}`, () => {
        assert.ok(calls.has(`${endpoint.id} ${outcome}`), `no test saw ${endpoint.id} answer ${outcome}`)
      })
})
