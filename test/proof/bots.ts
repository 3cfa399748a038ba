// Bots over restarts of their daemon: the daemon ends in the middle of each round, by kill -9 or as an operator stops it, and every
// message gets one reply, in order.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Shell } from '../support/cli.ts'
import { launch, type TestDaemon } from '../support/daemon.ts'
import { endProcess } from '../support/end-process.ts'
import { freePort } from '../support/free-port.ts'
import { contentsFrom, sendInsistently } from '../support/insistent.ts'
import { until } from '../support/until.ts'
import { person } from '../support/world.ts'
import { blaming, type Campaign, dice, type Result, type RunOptions } from './campaign.ts'

const perRound = 20

export const campaign: Campaign = {
  about: 'a bot whose daemon is killed or stopped in the middle of each round: every message gets one reply, in order',
  unit: 'rounds',
  long: 200,
  short: 1,
  run: options => blaming(options.seed, options.count, run(options)),
}

async function run(options: RunOptions): Promise<Result> {
  const { count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {}, progress = () => {} } = options
  const random = dice(seed)
  const folder = mkdtempSync(join(tmpdir(), 'natter-prove-'))
  const data = join(folder, 'store')
  const flags = ['--port', String(await freePort())]
  const handler = join(folder, 'echo.mjs')
  writeFileSync(handler, "export default message => 're ' + message.text\n")
  let daemon: TestDaemon = await launch(data, { flags })
  const { owner } = daemon
  const { email, key, id } = await person(daemon, 'replier')
  const account = { NATTER_SITE: daemon.url, NATTER_EMAIL: email!, NATTER_API_KEY: key! }
  const bot = new Shell(folder, account).spawn(['bot', 'run', handler])
  let said = ''
  bot.stderr!.setEncoding('utf8').on('data', text => {
    said += text
  })
  let done = 0
  let kills = 0
  try {
    await until(() => /listens at/.test(said)).catch(() => assert.fail(`the bot did not start: ${said}`))
    for (; done < count && performance.now() < deadline; done++) {
      const end = random() < 0.7 ? 'SIGKILL' : 'SIGTERM'
      const at = Math.floor(random() * perRound)
      const sent: string[] = []
      for (let i = 0; i < perRound; i++) {
        sent.push(`${done}-${i}`)
        const sending = sendInsistently(owner, id, sent.at(-1)!)
        if (i === at) {
          daemon.process.kill(end)
          await daemon.closed
          daemon = await launch(data, { flags })
          if (end === 'SIGKILL') kills++
        }
        await sending
      }
      const expected = sent.map(text => `re ${text}`)
      await until(async () => (await contentsFrom(owner, id, 4)).includes(expected.at(-1)!))
      const replies = await contentsFrom(owner, id, 3 * perRound)
      assert.deepEqual(
        replies.filter(text => text.startsWith(`re ${done}-`)),
        expected,
        said,
      )
      progress(done + 1)
      note(`${done + 1} rounds, ${kills} by kill -9`)
    }
  } finally {
    await endProcess(bot)
    await endProcess(daemon.process)
    rmSync(folder, { recursive: true, force: true })
  }
  return { done, summary: `${done * perRound} messages, each with one reply; ${kills} of ${done} restarts by kill -9` }
}
