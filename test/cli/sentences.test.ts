// `natter why` and `natter snapshot diff`: what people read.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channels } from '../../daemon/api/channels/channels.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { inProcess } from '../support/cli-in-process.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon } from '../support/daemon.ts'

describe('natter why, natter snapshot diff', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })
  const natter = (...words: string[]) =>
    inProcess(words, {
      env: { NATTER_SITE: daemon().url, NATTER_CONTROL_TOKEN: daemon().ready.control_token! },
    })

  test('why prints the answer and the steps, the law of the rule where one decided', async () => {
    const sent = { type: 'stream', to: 'leads', topic: 'why', content: 'between us' } as const
    const { id } = await daemon().owner.call(messages.send, sent)
    const { code, stdout } = await natter('why', String(id), 'guy')
    assert.equal(code, 0)
    const lines = stdout.trimEnd().split('\n')
    assert.match(
      lines[0]!,
      /^guy@example.com did not receive message \d+: guy@example.com had no access to the content/,
    )
    assert.match(lines[1]!, /^ok {2}account {7}The account of guy@example.com was active\.$/)
    assert.match(lines[2]!, /^no {2}access /)
    assert.match(lines[3]!, /^ +Rule seeContent: Everyone has access to the content of a web-public channel/)
    assert.equal(JSON.parse((await natter('why', String(id), 'guy', '--json')).stdout).received, false)
  })

  test('why --call explains a refusal, and a wrong question ends with its exit code', async () => {
    const { stream_id } = await daemon().owner.call(channels.id, { stream: 'general' })
    const { account } = await new Control(daemon()).call('GET', '/accounts/amy')
    const env = { NATTER_SITE: daemon().url, NATTER_EMAIL: account.email, NATTER_API_KEY: account.api_key }
    assert.equal((await inProcess(['channels', 'archive', `id:${stream_id}`, '--yes'], { env })).code, 4)
    const { last_id } = await new Control(daemon()).call('GET', '/requests')
    const { stdout } = await natter('why', '--call', String(last_id))
    assert.match(stdout, /was refused: You cannot archive this channel; its administrators can\./)
    assert.match(stdout, /Rule archiveChannel: Administrators of a channel may archive it\./)
    assert.equal((await natter('why', '99999', 'amy')).code, 3)
    assert.equal((await natter('why')).code, 1)
    assert.match((await natter('why', '1')).stdout, /^\d+ of \d+ accounts received message 1\..*\n.*amy@example\.com/s)
  })

  test('snapshot diff prints what was added, changed and removed', async () => {
    assert.equal((await natter('snapshot', 'save', 'before')).code, 0)
    assert.equal((await natter('snapshot', 'diff', 'before')).stdout, 'No difference.\n')
    const { stream_id } = await daemon().owner.call(channels.id, { stream: 'general' })
    await daemon().owner.call(channels.update, { stream_id, description: 'All of us' })
    const sent = { type: 'stream', to: 'general', topic: 'lunch', content: 'Pizza?' } as const
    const { id } = await daemon().owner.call(messages.send, sent)
    const { stdout } = await natter('snapshot', 'diff', 'before', 'now')
    const lines = stdout.split('\n')
    assert.deepEqual(lines.slice(0, 3), [
      'channels',
      `  ~ #general (${stream_id})`,
      '      description: "Everyone is here" → "All of us"',
    ])
    assert.ok(lines.includes(`  + ${daemon().owner.email} in #general > lunch (${id}): "Pizza?"`), stdout)
    const cut = await natter('snapshot', 'diff', 'before', '--limit', '1')
    assert.match(cut.stdout, /and \d+ more; --limit lists more\n$/)
    assert.equal((await natter('snapshot', 'diff', 'nowhere')).code, 3)
  })
})
