// Code playgrounds.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { playgrounds as api } from '../../../daemon/api/organization/playgrounds.ts'
import { type Caller, sharedDaemon, type TestDaemon } from '../../support/daemon.ts'
import { fetched, listen, person } from '../../support/world.ts'

let daemon: TestDaemon
let amy: Caller
sharedDaemon({}, async started => {
  daemon = started
  amy = await person(daemon, 'amy')
})

const python = { name: 'Python here', pygments_language: 'python', url_template: 'https://run.example.com/?q={code}' }

describe('POST /realm/playgrounds and DELETE /realm/playgrounds/{playground_id}', () => {
  test('are for administrators; everyone is told the whole list', async () => {
    const hear = await listen(amy, ['realm_playgrounds'])
    const { id } = await daemon.owner.call(api.add, python)
    const realm_playgrounds = [{ id, ...python }]
    assert.deepEqual(await hear(), [{ type: 'realm_playgrounds', realm_playgrounds }])
    assert.deepEqual((await fetched(amy, ['realm_playgrounds'])).realm_playgrounds, realm_playgrounds)
    await amy.refused(api.add, python, 'UNAUTHORIZED_PRINCIPAL')
    await amy.refused(api.remove, { playground_id: id }, 'UNAUTHORIZED_PRINCIPAL')
    await daemon.owner.refused(api.add, python, 'BAD_REQUEST')
    await daemon.owner.call(api.remove, { playground_id: id })
    assert.deepEqual(await hear(), [{ type: 'realm_playgrounds', realm_playgrounds: [] }])
    await daemon.owner.refused(api.remove, { playground_id: id }, 'BAD_REQUEST')
  })

  test('names and languages are text, and templates have the variable code alone', async () => {
    for (const wrong of [
      { name: ' ' },
      { pygments_language: '' },
      { pygments_language: 'a$b' },
      { url_template: 'https://run.example.com/' },
      { url_template: 'https://run.example.com/{code}/{x}' },
      { url_template: 'https://run.example.com/{code' },
      { url_template: 'javascript:{code}' },
      { url_template: '{code}' },
    ]) {
      const [name] = Object.keys(wrong)
      const { msg } = await daemon.owner.refused(api.add, { ...python, ...wrong }, 'BAD_REQUEST')
      assert.match(msg, new RegExp(`^${name}`))
    }
  })
})
