// Bots of `natter bot run` for a suite, with a daemon that they share: as processes, or in the process of the tests.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, type TestContext } from 'node:test'
import { messages } from '../../daemon/api/messages/messages.ts'
import { users } from '../../daemon/api/people/users.ts'
import { newShell, Watched } from './cli.ts'
import { Control } from './control.ts'
import { sharedDaemon } from './daemon.ts'
import { until } from './until.ts'

/** The bot is echo-bot. */
export function botSuite() {
  let id = 0
  const folder = mkdtempSync(join(tmpdir(), 'natter-bots-'))
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] }, async ({ owner }) => {
    const { members } = await owner.call(users.list, {})
    id = members.find(({ email }) => email === 'echo-bot@example.com')!.user_id
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  const shellOf = (t: TestContext) =>
    newShell(t, { NATTER_SITE: daemon().url, NATTER_CONTROL_TOKEN: daemon().ready.control_token! })
  const words = (file: string, flags: readonly string[]) => ['bot', 'run', file, '--as', 'echo-bot', ...flags]
  /** Sends the bot a direct message. */
  const say = async (content: string) => {
    await daemon().owner.call(messages.send, { type: 'direct', to: [id], content })
  }
  const queues = async (): Promise<{ queue_id: string; waiting: boolean }[]> =>
    (await new Control(daemon()).call('GET', '/queues')).queues

  return {
    daemon,
    shellOf,
    id: () => id,

    write(name: string, text: string): string {
      const file = join(folder, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
      return file
    },

    say,

    /** A bot as a process that listens. */
    async run(t: TestContext, file: string, ...flags: readonly string[]): Promise<Watched> {
      const bot = new Watched(t, shellOf(t).spawn(words(file, flags)))
      await bot.said(/listens at/)
      return bot
    },

    /** What a bot in this process does with these messages, of which the last one ends it. */
    async answersTo(t: TestContext, file: string, texts: readonly string[], ...flags: readonly string[]) {
      const earlier = (await queues()).map(({ queue_id }) => queue_id)
      const bot = shellOf(t).run(words(file, ['--json', '--count', String(texts.length), ...flags]))
      const listens = async () => (await queues()).some(one => one.waiting && !earlier.includes(one.queue_id))
      await Promise.race([bot, until(listens)])
      for (const text of texts) await say(text)
      const { code, stdout, stderr } = await bot
      assert.equal(code, 0, stderr)
      return stdout
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line))
    },
  }
}
