// Messages for Slack that are larger than any message here.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSlackMessage } from '../../../daemon/domain/bots/webhooks/slack.ts'
import { processorTime } from '../../support/processor-time.ts'

test('only so much of a long text is translated as a message can have', async () => {
  const time = await processorTime(() => {
    const { content } = readSlackMessage({ text: '~_*x*_~ '.repeat(110_000) })
    assert.ok(content.length > 10_000)
  })
  assert.ok(time < 150, `${time} ms of processor time`)
})
