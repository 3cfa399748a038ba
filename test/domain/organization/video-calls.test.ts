// Video calls.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { videoCalls as api } from '../../../daemon/api/organization/video-calls.ts'
import { sharedDaemon } from '../../support/daemon.ts'

describe('GET /calls/bigbluebutton/create', () => {
  const daemon = sharedDaemon()

  test('gives an address of its own to each call, which says who made it', async () => {
    const { owner } = daemon()
    const first = await owner.call(api.create, { meeting_name: 'Plan: tea & cake' })
    const second = await owner.call(api.create, { meeting_name: 'Plan: tea & cake', voice_only: true })
    assert.notEqual(first.url, second.url)
    const [, content] = /^\/calls\/bigbluebutton\/join\?bigbluebutton=([\w.%'-]+):[\w-]+$/.exec(second.url)!
    const { meeting_id, ...call } = JSON.parse(decodeURIComponent(content!))
    assert.equal(typeof meeting_id, 'string')
    assert.deepEqual(call, { name: 'Plan: tea & cake', lock_settings_disable_cam: true, moderator: owner.id })
  })
})
