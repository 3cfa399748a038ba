// Recordings of `natter proxy`: the bodies of calls that they keep.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ProxyRecording } from '../../cli/commands/test/proxy/proxy-recording.ts'
import { newShell } from '../support/cli.ts'

test('keeps a body that is no form only as the payload of a webhook, without secrets', async t => {
  const file = join(newShell(t).home, 'talk.ndjson')
  const recording = await ProxyRecording.open(file, false)
  const add = (path: string, type: string, text: string) => {
    const call = { number: 1, time: 0, milliseconds: 0, method: 'POST', status: 200, answerHeaders: {} }
    const url = `/api/v1/${path}`
    recording.add({ ...call, url, headers: { 'content-type': type }, body: Buffer.from(text), answer: undefined })
  }
  add('fetch_api_key', 'text/plain', 'username=amy&password=hidden')
  add('fetch_api_key', '', '<password>hidden</password>')
  add('external/json', 'text/plain', '{"pass\\u0077ord" : "hidden", "text": "shown"}')
  add('external/json', 'text/plain', '')
  await recording.end()
  const lines = readFileSync(file, 'utf8').trim().split('\n').slice(1, -1)
  assert.deepEqual(
    lines.map(line => JSON.parse(line).sent),
    [{ file: { size: 28 } }, { file: { size: 27 } }, { payload: '{"password" : "***", "text": "shown"}' }, {}],
  )
})

test('keeps no key of a query, however it is spelled', async t => {
  const file = join(newShell(t).home, 'talk.ndjson')
  const recording = await ProxyRecording.open(file, false)
  const addresses = [
    'users/me?x=1;api_key=mine',
    'users/me?x=1;api%5Fkey=mine;y=2',
    'users/me?API_KEY=mine',
    'users/me?api_key[]=mine',
    'users/me?%61pi%5fkey%5B%5D=mine',
    'users/me?api%255Fkey=mine',
    'users/me?api-key=mine',
    'users/me&api_key=mine',
    'users/me;api_key=mine?x=1',
  ]
  const call = { number: 1, time: 0, milliseconds: 0, method: 'GET', status: 200, headers: {}, answerHeaders: {} }
  for (const address of addresses)
    recording.add({ ...call, url: `/api/v1/${address}`, body: Buffer.alloc(0), answer: undefined })
  await recording.end()
  const lines = readFileSync(file, 'utf8').trim().split('\n').slice(1, -1)
  assert.equal(lines.length, addresses.length)
  for (const line of lines) assert.doesNotMatch(line, /mine/)
  assert.deepEqual(JSON.parse(lines[1]!).sent, { x: '1;api_key=***;y=2' })
})
