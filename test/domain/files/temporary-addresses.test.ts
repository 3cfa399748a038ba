// Addresses of uploaded files that work for a while without a key.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Upload } from '../../../daemon/api/define.ts'
import { uploads as api } from '../../../daemon/api/files/uploads.ts'
import { keys } from '../../../daemon/api/people/keys.ts'
import { type Caller, sharedDaemon } from '../../support/daemon.ts'
import { send as request } from '../../support/http.ts'
import { people } from '../../support/world.ts'

let amy: Caller
let bob: Caller

const daemon = sharedDaemon({}, async running => {
  ;[amy, bob] = await people(running, 'amy', 'bob')
})

function file(content = 'words'): Upload {
  return { filename: 'notes.txt', contentType: 'text/plain', bytes: Buffer.from(content) }
}

describe('GET /user_uploads/{realm_id_str}/{filename}', () => {
  const asked = (url: string) => {
    const [, realm, rest] = /^\/user_uploads\/(\d+)\/(.*)$/.exec(url)!
    return { realm_id_str: Number(realm), filename: rest! }
  }

  test('gives an address that works for a while without a key', async () => {
    const { url } = await amy.call(api.upload, { file: file('secret') })
    const { url: temporary } = await amy.call(api.temporary, asked(url))
    const reply = await request(daemon().url + temporary)
    assert.deepEqual([reply.status, reply.text], [200, 'secret'])
    const other = temporary.replace(
      /-([0-9a-f])([0-9a-f]{63})\//,
      (_all, one: string, rest: string) => `-${one === '0' ? '1' : '0'}${rest}/`,
    )
    assert.equal((await request(daemon().url + other)).status, 400)
    const later = temporary.replace(/-(\d+)-/, (_all, time: string) => `-${Number(time) + 60_000}-`)
    assert.equal((await request(daemon().url + later)).status, 400)
  })

  test('dies with the key it was made with', async () => {
    const { url } = await bob.call(api.upload, { file: file() })
    const { url: temporary } = await bob.call(api.temporary, asked(url))
    const { api_key } = await bob.call(keys.regenerate, {})
    assert.equal((await request(daemon().url + temporary)).status, 400)
    Object.assign(bob, { key: api_key })
  })

  test('is refused for files that the caller may not see', async () => {
    const { url } = await amy.call(api.upload, { file: file() })
    await bob.refused(api.temporary, asked(url), 'BAD_REQUEST')
    await amy.refused(api.temporary, { realm_id_str: 1, filename: 'no/such/file' }, 'BAD_REQUEST')
  })
})
