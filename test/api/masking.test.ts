// Secrets in texts of JSON: hidden by the name of their field, in a time that does not depend on what other texts say.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSecretName, maskJson, maskTokens } from '../../daemon/api/masking.ts'

test('a field with a telling name is hidden, and a text that says the same is not', () => {
  const shown = { content: 'the token: "api_key": x', tokens: 3, name: 'password' }
  const secret = { api_key: 'a"b\\c', reset_token: 'd', old_password: '' }
  assert.deepEqual(JSON.parse(maskJson(JSON.stringify({ ...shown, ...secret }))), {
    ...shown,
    api_key: '***',
    reset_token: '***',
    old_password: '***',
  })
})

test('a name is telling in capitals, and without the underscore', () => {
  assert.equal(maskJson('{"API_KEY":"a","apiKey":"b"}'), '{"API_KEY":"***","apiKey":"***"}')
  for (const name of ['API_KEY', 'Password', 'apiKey', 'api_key[]', 'Api-Key', 'api.key', 'api key', 'api%5Fkey'])
    assert.ok(isSecretName(name), name)
})

test('a name is telling however JSON writes it, and so is an address', () => {
  const json = String.raw`{"pass\u0077ord" : "a", "api\u005Fkey":"b", "link": "http:\/\/x\/join\/c\/", "text": "\\u0077 \u00e9 \u005c \n"}`
  const shown = { password: '***', api_key: '***', link: 'http://x/join/***/', text: '\\u0077 é \\ \n' }
  assert.deepEqual(JSON.parse(maskJson(json)), shown)
  const text = String.raw`a \/ b \u0041`
  assert.equal(maskJson(text), text)
})

test('a field inside another is hidden, however fields are separated', () => {
  for (const [text, shown] of [
    ['1;api_key=KEY', '1;api_key=***'],
    ['1;API%5FKEY[]=KEY;b=2', '1;API%5FKEY[]=***;b=2'],
    ['/api/v1/users/me&api_key=KEY', '/api/v1/users/me&api_key=***'],
    ['{"a":"1;token=KEY","b":2}', '{"a":"1;token=***","b":2}'],
    ['a; token = b; the=password', 'a; token = b; the=password'],
  ] as const)
    assert.equal(maskTokens(text), shown)
  const long = `;${'token'.repeat(200_000)}`
  assert.equal(maskTokens(`a=${long}`), `a=${long}`)
})

// Looked for in two ways at each word, a text of this size would take several minutes.
test('a long text of telling words is read once', () => {
  const json = JSON.stringify([{ content: 'token'.repeat(200_000) }, { api_key: 'a' }])
  assert.equal(maskJson(json), json.replace('"a"', '"***"'))
})
