// YAML with mistakes. That seeds tell them with their lines is tested with the seeds.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readYaml } from '../../daemon/local/yaml.ts'
import { processorTime } from '../support/processor-time.ts'

describe('YAML', () => {
  test('with very many mistakes on one line is refused in time that grows with the text only', async () => {
    const mistake = { line: 2, message: 'Unexpected flow-map-end token in YAML document: "}"' }
    const time = await processorTime(() => assert.rejects(readYaml(`\n${'}'.repeat(100_000)}`), mistake))
    // About 2 seconds; 17, where each mistake quotes its line.
    assert.ok(time < 8000, `${time} ms of processor time`)
  })
})
