// The address of a call: what a path and a site can and cannot be.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isPath, isSameOrigin, resolveAddress, siteAddress } from '../../daemon/api/address.ts'

const site = 'http://127.0.0.1:9991/spaces/ci'

describe('the address of a call', () => {
  test('is the site and a path below one of its roots', () => {
    for (const [path, url] of [
      ['/api/v1/messages?narrow=[{"a":"../.."}]', `${site}/api/v1/messages?narrow=[{%22a%22:%22../..%22}]`],
      ['/api/v1/users/a b', `${site}/api/v1/users/a%20b`],
      ['/control/v1/clock', `${site}/control/v1/clock`],
      ['/user_uploads/1/4f/..report.pdf', `${site}/user_uploads/1/4f/..report.pdf`],
      ['/readyz', `${site}/readyz`],
    ] as const)
      assert.equal(resolveAddress(site, path).href, url)
  })

  for (const path of [
    '@evil.example/api/v1/messages',
    ':80@evil.example/api/v1',
    '.evil.example/api/v1',
    '//evil.example/api/v1',
    '\\\\evil.example/api/v1',
    'http://evil.example/api/v1',
    'api/v1/messages',
    '',
    '/',
    '/cluster/v1/record',
    '/apis',
    '/api/v1/../../cluster/v1/record',
    '/api/v1/%2e%2e/%2E%2e/cluster/v1/record',
    '/api/v1/.%2e/x',
    '/api/v1/..\\..\\x',
    '/api/v1/.\t./x',
    '/api/v1/.\n./x',
    '/api/v1/..',
    '/api/v1/./x',
    '/api/v1/..?x=1',
    '/api/v1/x#y',
  ])
    test(`refuses the path ${JSON.stringify(path)}`, () => {
      assert.equal(isPath(path), false)
      assert.throws(() => resolveAddress(site, path), /^TypeError: the path .* is not one of the API$/)
    })

  test('has a site without a user, a query or a fragment', () => {
    assert.equal(siteAddress('HTTP://LocalHost:80/x//'), 'http://localhost/x')
    for (const wrong of ['ftp://a.example', 'a.example', 'http://', 'http://a b', 'javascript:alert(1)', ''])
      assert.throws(() => siteAddress(wrong), /is not the address of a server/)
    for (const wrong of ['http://amy@a.example', 'http://amy:secret@a.example'])
      assert.throws(
        () => siteAddress(wrong),
        /^TypeError: the address of a\.example must not have a user or a password$/,
      )
    for (const wrong of ['http://a.example/?x', 'http://a.example/#token=x'])
      assert.throws(() => siteAddress(wrong), /must end before \? and #/)
  })

  test('is of the same origin or not', () => {
    for (const [url, same] of [
      ['http://127.0.0.1:9991/other', true],
      ['http://127.0.0.1:9992/spaces/ci', false],
      ['https://127.0.0.1:9991/spaces/ci', false],
      ['http://amy@127.0.0.1:9991/spaces/ci', false],
    ] as const)
      assert.equal(isSameOrigin(new URL(url), site), same, url)
  })
})
