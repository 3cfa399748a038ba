// The URL of a space as the site of unmodified clients: zulip-js, the Python client, and natter/client.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { createClient } from '../../daemon/client/index.ts'
import { type Natter, startNatter } from '../../daemon/testing/index.ts'
import { loadZulipJs } from '../support/zulip-js.ts'

/** Where the Python client is: as installed, or in the folder that PYTHONPATH names. */
const python = spawnSync('python3', ['-c', 'import zulip'], { encoding: 'utf8' })

describe('the URL of a space is the site of', () => {
  let natter: Natter
  let space: Natter
  before(async () => {
    natter = await startNatter()
    space = await natter.space()
  })
  after(() => natter.stop())

  test('zulip-js', async t => {
    const { zulip, restore } = loadZulipJs()
    t.after(restore)
    const { email, apiKey } = space.account('amy')
    const amy = await zulip({ username: email, apiKey, realm: space.url })
    const { result } = await amy.messages.send({ type: 'stream', to: 'general', subject: 'js', content: 'from js' })
    assert.equal(result, 'success')
    const { queue_id, last_event_id } = await amy.queues.register({ event_types: ['message'] })
    await amy.messages.send({ type: 'stream', to: 'general', subject: 'js', content: 'again' })
    const { events } = await amy.events.retrieve({ queue_id, last_event_id })
    assert.equal(events[0].message.content, 'again')
    assert.deepEqual(natter.requests(), [])
  })

  test('the Python client', {
    skip: python.status === 0 ? false : 'the Python package zulip is not here',
  }, async () => {
    const { email, apiKey } = space.account('amy')
    const script = `
import sys, zulip
client = zulip.Client(email=sys.argv[1], api_key=sys.argv[2], site=sys.argv[3])
assert client.get_profile()["full_name"] == "Amy Adams"
sent = client.send_message({"type": "stream", "to": "general", "topic": "py", "content": "from python"})
assert sent["result"] == "success", sent
queue = client.register(event_types=["message"])
client.send_message({"type": "stream", "to": "general", "topic": "py", "content": "again"})
events = client.get_events(queue_id=queue["queue_id"], last_event_id=queue["last_event_id"])
assert events["events"][0]["message"]["content"] == "again", events
`
    const child = spawn('python3', ['-c', script, email, apiKey, space.url], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    assert.equal(await new Promise(resolve => child.on('exit', resolve)), 0)
    assert.ok(space.requests().some(({ path }) => path === '/api/v1/messages'))
  })

  test('natter/client', async () => {
    const { email, apiKey } = space.account('amy')
    const client = createClient({ site: space.url, email, apiKey })
    const stop = new AbortController()
    const stream = client.events({ types: ['message'], signal: stop.signal })
    const first = stream.next()
    await space.waitForCall({ endpoint: 'get-events', parked: true }, { within: '1m' })
    await space.as('bob').messages.send({ type: 'direct', to: [space.account('amy').userId], content: 'psst' })
    const { value } = await first
    assert.equal((value as any).message.content, 'psst')
    stop.abort()
    await stream.return(undefined)
  })
})
