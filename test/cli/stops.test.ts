// The beginning and the end of `natter tail`, and its output with --jq, with a real daemon.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { accountAt, newShell, type Shell, Watched } from '../support/cli.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'

describe('natter tail', () => {
  const daemon = sharedDaemon({ flags: ['--preset', 'dev', '--control'] })

  test('--idle counts from the end of the history, however long that takes to arrive', async t => {
    const shell = ownerOf(t, daemon())
    const id = await send(shell, '#general>idle', 'one')
    await new Control(daemon()).call('POST', '/faults', {
      kind: 'latency',
      ms: 1500,
      endpoint: 'get-messages',
      times: 1,
    })
    const flags = ['--since', `id:${id - 1}`, '--idle', '300ms', '--jq', '.message.content', '--quiet']
    const { code, stdout } = await shell.run(['tail', ...flags])
    assert.deepEqual([code, stdout], [0, 'one\n'])
  })

  test('ends at the first line that cannot be written, and deletes its queue', async t => {
    const shell = ownerOf(t, daemon())
    const before = await queuesOf(daemon())
    const tail = new Watched(t, shell.spawn(['tail', '--topic', 'closed']))
    await tail.said(/ready/)
    tail.child.stdout!.destroy()
    await send(shell, '#general>closed', 'unread')
    assert.equal(await tail.ended, 0, tail.stderr)
    assert.deepEqual(await queuesOf(daemon()), before)
  })

  test('deletes its queue when the terminal is closed', async t => {
    const shell = ownerOf(t, daemon())
    const before = await queuesOf(daemon())
    const tail = new Watched(t, shell.spawn(['tail']))
    await tail.said(/ready/)
    tail.child.kill('SIGHUP')
    assert.equal(await tail.ended, 129)
    assert.deepEqual(await queuesOf(daemon()), before)
  })

  test('refuses an unknown event type, with a suggestion or the common types', async t => {
    const shell = ownerOf(t, daemon())
    for (const subcommand of ['tail', 'wait']) {
      const far = await shell.run([subcommand, '--type', 'nonsense'])
      assert.equal(far.code, 2)
      assert.match(far.stderr, /there is no event type "nonsense"\n {2}Common types are message, reaction/)
      const near = await shell.run([subcommand, '--type', 'reacton'])
      assert.match(near.stderr, /Did you mean reaction\?/)
    }
  })

  test('prints changes of channels as sentences', async t => {
    const shell = ownerOf(t, daemon())
    const flags = ['--type', 'stream,subscription,saved_snippets', '--within', '2m']
    const tail = new Watched(t, shell.spawn(['tail', ...flags]))
    await tail.said(
      /^ready: listening for stream, subscription, saved_snippets events as owner@example\.com \(queue \S+\)\n$/,
    )
    for (const words of [
      ['channels', 'create', 'tea'],
      ['snippets', 'create', 'Hi', 'Hello there'],
    ])
      assert.equal((await shell.run(words)).code, 0)
    await until(() => tail.lines.some(line => line.includes('saved_snippets')))
    const lines = tail.lines.map(line => line.replace(/^[\d: -]+ {2}/, ''))
    assert.equal(lines[0], 'new channel: #tea')
    assert.ok(lines.includes('subscribed to #tea'), lines.join('\n'))
    assert.match(lines.at(-1)!, /^saved_snippets add {2}id=\d+ title="Hi" content="Hello there" date_created=\d+$/)
    tail.child.kill('SIGTERM')
    await tail.ended
  })

  test('--jq gives each event its own output, in order: many lines, none, or a failure', async t => {
    const shell = ownerOf(t, daemon())
    const first = await send(shell, '#general>jq', '0')
    for (const text of ['1', '2\\n"', '3']) await send(shell, '#general>jq', text)
    const from = ['tail', '--since', `id:${first - 1}`, '--topic', 'jq', '--quiet', '--idle', '300ms']
    for (const [expression, printed] of [
      ['.message.content', '0\n1\n2\\n"\n3\n'],
      ['.message.nothing.there', 'null\n'.repeat(4)],
      ['.message.subject | (., length) # twice', 'jq\n2\n'.repeat(4)],
      ['.message | select(.content != "1") | {content}', '{"content":"0"}\n{"content":"2\\\\n\\""}\n{"content":"3"}\n'],
      ['if .message.content == "1" then halt else .type end', 'message\n'.repeat(3)],
      ['input', undefined],
      ['.message.content.x', undefined],
      ['.message.content | tonumber', undefined],
    ] as const) {
      const { code, stdout, stderr } = await shell.run([...from, '--jq', expression])
      if (printed !== undefined) assert.deepEqual([expression, code, stdout], [expression, 0, printed])
      else assert.deepEqual([expression, code, stderr.startsWith('natter: --jq: ')], [expression, 2, true])
    }
  })
})

function ownerOf(t: Parameters<typeof newShell>[0], { url, ready }: TestDaemon): Shell {
  return newShell(t, accountAt(url, ready.owner.email, ready.owner.api_key))
}

async function send(shell: Shell, to: string, text: string): Promise<number> {
  const { code, stdout, stderr } = await shell.run(['send', to, text])
  assert.equal(code, 0, stderr)
  return Number(stdout)
}

async function queuesOf(daemon: TestDaemon): Promise<string[]> {
  const { queues } = await new Control(daemon).call('GET', '/queues')
  return queues.map((queue: { queue_id: string }) => queue.queue_id)
}
