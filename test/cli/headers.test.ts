// Headers of an answer: finding one by its name, and the time at which the answer was sent.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { headerIn, serverTime } from '../../cli/base/headers.ts'

describe('headers of an answer', () => {
  test('are found in any case, and undefined if they are missing', () => {
    const headers = ['Content-Type', 'text/plain', 'X-Natter-Kind', 'not-found']
    assert.equal(headerIn(headers, 'x-natter-kind'), 'not-found')
    assert.equal(headerIn(headers, 'text/plain'), undefined)
    assert.equal(headerIn([], 'date'), undefined)
  })

  test('tell the time of the server; a difference below two seconds is ignored', () => {
    assert.equal(serverTime(['Date', 'Tue, 01 Jan 2030 00:00:00 GMT'])?.toISOString(), '2030-01-01T00:00:00.000Z')
    const before = Date.now()
    const near = serverTime(['date', new Date(before).toUTCString()])!.getTime()
    assert.ok(near >= before - 2000 && near <= Date.now())
    assert.equal(serverTime(['Date', 'tomorrow']), undefined)
    assert.equal(serverTime([]), undefined)
  })
})
