// The law of reading: a GET changes nothing and sends no events.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { events } from '../../daemon/api/events.ts'
import { paramsOf } from '../support/arbitrary.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { startDaemon } from '../support/daemon.ts'

const reads = (await catalogueEndpoints()).filter(({ endpoint }) => endpoint.method === 'GET')

describe('GET endpoints', () => {
  test('make no facts and no signals, whatever they are asked', async t => {
    const daemon = await startDaemon(t)
    const { owner, data } = daemon
    const { queue_id } = await owner.call(events.register, {})
    const journal = () => readFileSync(join(data, 'journal.ndjson'), 'utf8')
    for (const { endpoint } of reads)
      for (const params of fc.sample(paramsOf(endpoint), { numRuns: 12, seed: 417 })) {
        const before = journal()
        // Registering inside GET /events is the one exception; with a queue named it is a read like any other.
        const asked =
          endpoint.id === events.get.id ? { ...params, queue_id, dont_block: true, last_event_id: -1 } : params
        await owner.try(endpoint, asked)
        assert.equal(journal(), before, `${endpoint.id} wrote to the journal`)
      }
    const { events: heard } = await owner.call(events.get, { queue_id, dont_block: true })
    assert.deepEqual(heard, [])
  })
})
