// Bots over restarts of their daemon: every message gets one reply.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { Repeater } from '../../daemon/client/repeater.ts'
import { newShell, Watched } from '../support/cli.ts'
import { launch, type TestDaemon } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'
import { contentsFrom, sendInsistently } from '../support/insistent.ts'
import { until } from '../support/until.ts'
import { person } from '../support/world.ts'

const folder = mkdtempSync(join(tmpdir(), 'natter-restarts-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const handler = join(folder, 'echo.js')
// Both answer a message with `hold` in it when the file is gone that is named so.
const [hold, held] = [join(folder, 'hold'), join(folder, 'held')]
writeFileSync(
  handler,
  `import { existsSync, writeFileSync } from 'node:fs'
export default async message => {
  if (message.text.includes('hold')) writeFileSync(${JSON.stringify(held)}, '')
  while (message.text.includes('hold') && existsSync(${JSON.stringify(hold)})) await new Promise(done => setTimeout(done, 20))
  return 're ' + message.text
}
`,
)
const command = `case "$NATTER_CONTENT" in *hold*) : > ${held}; while [ -e ${hold} ]; do sleep 0.05; done;; esac; echo "re $NATTER_CONTENT"`

/** Messages of one round; the daemon ends in the middle of them. */
const perRound = 20
const ends = ['SIGKILL', 'SIGTERM', 'SIGKILL', 'SIGKILL'] as const

const programs = [
  { name: 'natter bot run', words: ['bot', 'run', handler], ready: /listens at/ },
  { name: 'natter tail --reply', words: ['tail', '--dm', '--reply', command], ready: /ready/ },
] as const

describe('over restarts of the daemon, kill -9 too, every message gets one reply, in order', () => {
  for (const { name, words, ready } of programs)
    test(name, async t => {
      const flags = ['--port', String(await freePort())]
      const data = mkdtempSync(join(folder, 'store-'))
      let daemon: TestDaemon = await launch(data, { flags })
      t.after(() => daemon.process.kill('SIGKILL'))
      const { owner } = daemon
      const replier = await person(daemon, 'replier')
      const account = { NATTER_SITE: daemon.url, NATTER_EMAIL: replier.email!, NATTER_API_KEY: replier.key! }
      const bot = new Watched(t, newShell(t, account).spawn([...words]))
      await bot.said(ready)
      const sent: string[] = []
      for (const [round, end] of ends.entries()) {
        for (let i = 0; i < perRound; i++) {
          const isHeld = i === perRound / 2
          if (isHeld) writeFileSync(hold, '')
          sent.push(`${round}-${i}${isHeld ? ' hold' : ''}`)
          await sendInsistently(owner, replier.id, sent.at(-1)!)
          if (!isHeld) continue
          // The reply is made while there is no daemon.
          await until(() => existsSync(held))
          rmSync(held)
          daemon.process.kill(end)
          await daemon.closed
          rmSync(hold)
          await until(() => bot.stderr.match(/trying again/g)?.length === round + 1, 30)
          daemon = await launch(data, { flags })
        }
      }
      const expected = sent.map(text => `re ${text}`)
      const replies = () => contentsFrom(owner, replier.id)
      await until(async () => (await replies()).at(-1) === expected.at(-1))
      assert.deepEqual(await replies(), expected, bot.stderr)
    })
})

test('natter bot run says that the server is away, and that a restart in memory has made its key invalid', async t => {
  const flags = ['--memory', '--preset', 'dev', '--port', String(await freePort())]
  let daemon = await launch(mkdtempSync(join(folder, 'memory-')), { flags })
  t.after(() => daemon.process.kill('SIGKILL'))
  const account = { NATTER_SITE: daemon.url, NATTER_CONTROL_TOKEN: daemon.ready.control_token! }
  const bot = new Watched(t, newShell(t, account).spawn(['bot', 'run', handler, '--as', 'echo-bot']))
  await bot.said(/listens at/)
  daemon.process.kill('SIGKILL')
  await daemon.closed
  await bot.said(/cannot reach .*; retrying/)
  daemon = await launch(mkdtempSync(join(folder, 'memory-')), { flags })
  assert.equal(await bot.ended, 4)
  assert.match(
    bot.stderr,
    /natter: Invalid API key \(INVALID_API_KEY\)\n {2}The key is no longer valid\. A daemon in memory/,
  )
})

describe('a repeater', () => {
  const away = new Error('away')
  const isPassing = (error: unknown) => error === away

  test('keeps the order of calls, and the key of each', async () => {
    const keys: string[] = []
    const done: number[] = []
    const repeater = new Repeater({ isPassing, say: () => {} })
    const call = (number: number, failures: number) =>
      repeater.change(async key => {
        keys.push(key)
        if (failures-- > 0) throw away
        done.push(number)
      })
    await Promise.all([call(1, 2), call(2, 0), call(3, 1)])
    assert.deepEqual(done, [1, 2, 3])
    assert.deepEqual([keys.length, new Set(keys).size, new Set(keys.slice(0, 3)).size], [6, 3, 1])
    assert.ok(repeater.waited > 0)
  })

  test('gives up with a message when time is over, and immediately after a failure that is not temporary', async () => {
    const said: string[] = []
    const repeater = new Repeater({ isPassing, say: text => said.push(text), within: 1 })
    const fail = (error: Error) => () => Promise.reject(error)
    await assert.rejects(repeater.read(fail(away)), /away/)
    assert.deepEqual(said, ['away; trying again for up to 0.001 s', 'gave up a call after 0.001 s'])
    await assert.rejects(repeater.change(fail(new Error('refused'))), /refused/)
    assert.equal(said.length, 2)
  })
})
