// YAML with mistakes. That seeds tell them with their lines is tested with the seeds.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readYaml } from '../../daemon/local/yaml.ts'
import { processorTime } from '../support/processor-time.ts'

describe('YAML', () => {
  test('with very many mistakes on one line is refused in time that grows with the text only', async () => {
    const mistake = { line: 2, message: 'Unexpected flow-map-end token in YAML document: "}"' }
    const time = await processorTime(() => assert.rejects(readYaml(`\n${'}'.repeat(60_000)}`), mistake))
    // About 1.2 seconds; 6.6, where each mistake quotes its line.
    assert.ok(time < 4000, `${time} ms of processor time`)
  })

  test('with very many keys is read in time that grows with the text only', async () => {
    const text = Array.from({ length: 20_000 }, (_, n) => `k${n}: x\n`).join('')
    const time = await processorTime(() => readYaml(text))
    // About half a second; minutes, where each key is compared with all others.
    assert.ok(time < 4000, `${time} ms of processor time`)
  })
})
