// Downloads: which addresses of a server are followed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkedLookup } from '../../cli/transport/uploaded-files.ts'

test('a server cannot make a download call a network that is nearer than its own', async () => {
  const check = (url: string, server: 'internet' | 'private' | 'loopback') => checkedLookup(new URL(url), server)
  for (const [url, server] of [
    ['http://169.254.169.254/latest/meta-data', 'internet'],
    ['http://10.0.0.1/', 'internet'],
    ['http://localhost/', 'internet'],
    ['http://[::1]/', 'private'],
    ['http://0x7f000001/', 'private'],
  ] as const)
    await assert.rejects(check(url, server), /the server sent the address http\S+, which is not on the internet/, url)
  await check('http://93.184.215.14/', 'internet')
  await check('http://10.0.0.1/', 'private')
  await check('http://127.0.0.1/', 'loopback')
})
