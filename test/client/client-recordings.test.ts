// Recordings of clients that others wrote: `natter replay` plays them to a daemon of the same beginning, and finds no difference.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { environmentOf, newShell } from '../support/cli.ts'
import { startDaemon } from '../support/daemon.ts'

const root = join(import.meta.dirname, '../..')
const fixture = ['--preset', 'dev', '--secret', 'recorded clients', '--clock', 'frozen@2030-01-01T00:00:00Z']
const python = spawnSync('python3', ['-c', 'import zulip'])

const clients = [
  {
    name: 'zulip-js',
    run: [process.execPath, 'client.mjs'],
    file: 'client.mjs',
    skip: false,
    script: `
import { createRequire } from 'node:module'
const { NATTER_SITE: realm, NATTER_EMAIL: username, NATTER_API_KEY: apiKey } = process.env
const client = await createRequire(${JSON.stringify(join(root, 'package.json'))})('zulip-js')({ realm, username, apiKey })
await client.users.me.getProfile()
await client.server.settings()
const { queue_id } = await client.queues.register({ event_types: ['message', 'reaction'] })
const { id } = await client.messages.send({ type: 'stream', to: 'general', subject: 'js', content: 'hello' })
await client.messages.update({ message_id: id, content: 'hello again' })
await client.reactions.add({ message_id: id, emoji_name: 'octopus' })
await client.messages.retrieve({ anchor: 'newest', num_before: 5, num_after: 0 })
await client.streams.retrieve()
await client.events.retrieve({ queue_id, last_event_id: -1, dont_block: true })
`,
  },
  {
    name: 'the Python client',
    run: ['python3', 'client.py'],
    file: 'client.py',
    skip: python.status === 0 ? false : 'the Python package zulip is not here',
    script: `
import os, zulip
client = zulip.Client(email=os.environ["NATTER_EMAIL"], api_key=os.environ["NATTER_API_KEY"], site=os.environ["NATTER_SITE"])
client.get_profile()
client.register(event_types=["message"])
client.send_message({"type": "stream", "to": "general", "topic": "py", "content": "hello"})
client.get_messages({"anchor": "newest", "num_before": 5, "num_after": 0})
`,
  },
]

describe('a recording of another client', () => {
  for (const { name, run, file, skip, script } of clients)
    test(`is played again without a difference: ${name}`, { skip }, async t => {
      const shell = newShell(t)
      writeFileSync(join(shell.home, file), script)
      const inDaemon = async (...words: string[]) =>
        shell.with(environmentOf(await startDaemon(t, { flags: ['--memory', ...fixture] }))).run(words)
      const recorded = await inDaemon('record', 'talk.ndjson', '--', ...run)
      assert.equal(recorded.code, 0, recorded.stderr)
      const statuses = readFileSync(join(shell.home, 'talk.ndjson'), 'utf8')
        .trim()
        .split('\n')
        .map(line => JSON.parse(line))
        .filter(line => 'call' in line)
        .map(({ status }) => status)
      assert.ok(statuses.length >= 4)
      assert.deepEqual(new Set(statuses), new Set([200]))
      const played = await inDaemon('replay', 'talk.ndjson')
      assert.deepEqual([played.code, played.stdout], [0, ''], played.stderr)
    })
})
