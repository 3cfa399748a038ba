// Addresses that outgoing webhooks can call.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { forbidden } from '../../daemon/io/webhook-targets.ts'

describe('targets of webhooks', () => {
  test('loopback only when bound to it, private networks only by flag, the internet always', () => {
    const bound = { loopback: true, private: false }
    const open = { loopback: false, private: false }
    for (const host of ['127.0.0.1', '127.9.9.9', '[::1]', '::ffff:127.0.0.1']) {
      assert.equal(forbidden(host, bound), undefined, host)
      assert.ok(forbidden(host, open), host)
    }
    const inside = ['10.1.2.3', '172.20.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', '[fd00::1]']
    for (const host of [...inside, '[fe80::1]', '::ffff:10.0.0.1', '[::]', '224.0.0.1']) {
      assert.ok(forbidden(host, bound), host)
      assert.equal(forbidden(host, { loopback: false, private: true }), undefined, host)
    }
    // 6to4, Teredo, NAT64, IPv4-translated, IPv4-compatible, site-local, and what is kept for documentation.
    for (const host of [
      '[2002:7f00:1::1]',
      '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
      '[64:ff9b::a00:1]',
      '[64:ff9b:1::a00:1]',
      '[::ffff:0:a00:1]',
      '[::ffff:0:8.8.8.8]',
      '[::a00:1]',
      '[::127.0.0.1]',
      '[fec0::1]',
      '[2001:db8::1]',
      '192.0.2.1',
      '198.51.100.1',
      '203.0.113.1',
    ])
      assert.ok(forbidden(host, bound), host)
    for (const host of ['93.184.216.34', '[2606:2800:220:1::1]']) assert.equal(forbidden(host, open), undefined, host)
  })
})
