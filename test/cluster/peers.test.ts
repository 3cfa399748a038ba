// The tokens that daemons of a cluster accept from each other.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clusterToken, sameToken } from '../../daemon/cluster/peers.ts'

describe('the token of a cluster', () => {
  const token = clusterToken('a secret of this test')

  test('is accepted as it is, and nothing else is', () => {
    assert.equal(sameToken(token, token), true)
    assert.equal(sameToken(clusterToken('another secret'), token), false)
    assert.equal(sameToken(undefined, token), false)
    assert.equal(sameToken([token, token], token), false)
  })

  test('is refused without an error where it has as many characters but more bytes', () => {
    assert.equal(sameToken('\u00e9'.repeat(token.length), token), false)
  })
})
