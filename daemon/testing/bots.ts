// The bots that a test runs in one world, in this process or in another one.

import type { BotHandler } from '../client/index.ts'
import { refuseUnknown } from '../local/did-you-mean.ts'
import { explainFailedBot, type RunningBot, runBot, type StartedBot } from './bot.ts'
import { type Account, type BotOptions, keepingAlive, milliseconds } from './natter.ts'

/** Milliseconds. A bot whose function is busy registers when that has finished. */
export const longestRegistration = 5000

export class Bots {
  readonly #running = new Set<StartedBot>()
  readonly #site: string
  readonly #account: (name: string | number) => Account | Promise<Account>

  constructor(site: string, account: (name: string | number) => Account | Promise<Account>) {
    this.#site = site
    this.#account = account
  }

  async run(handler: BotHandler, options: BotOptions = {}): Promise<RunningBot> {
    if (typeof handler !== 'function') {
      const { default: inside } = Object(handler) as { default?: unknown }
      const hint = typeof inside === 'function' ? '. Give the `default` of what import() resolves to' : ''
      throw new TypeError(
        `runBot: give the function of the bot, imported from its file, not ${JSON.stringify(handler)}${hint}`,
      )
    }
    refuseUnknown('runBot', options, ['as', 'all', 'within'])
    const { as: name = 'echo-bot', all = false, within = '5s' } = options
    const limits = { all, within: milliseconds('within', within) }
    const { email, apiKey } = await this.#account(name)
    const bot = await keepingAlive(runBot({ site: this.#site, email, apiKey }, handler, limits))
    this.#running.add(bot)
    const stop = () => {
      this.#running.delete(bot)
      return bot.stop()
    }
    return { errors: bot.errors, stop }
  }

  /** For a wait that was not met: a test runner may show only its error, and not what stop() throws later. */
  explainMiss(): { readonly why: string; readonly cause: Error | undefined } {
    const bots = [...this.#running]
    const cause = bots.flatMap(bot => bot.errors).at(-1)
    const explained = (explain: (bot: StartedBot) => string) => bots.map(explain).join('')
    const unfinished = explained(bot => bot.explainBusy()) || explained(bot => bot.explainIgnored())
    return { why: cause ? explainFailedBot(cause) : unfinished, cause }
  }

  /** Until its bot has a queue again, it would miss what is sent to it. */
  async setBack(work: () => Promise<unknown>, listens: (userId: number) => Promise<unknown>): Promise<void> {
    const bots = [...this.#running]
    for (const bot of bots) bot.expectGaps(true)
    try {
      await work()
      await Promise.all(bots.filter(bot => bot.listens()).map(({ userId }) => listens(userId)))
    } finally {
      for (const bot of bots) bot.expectGaps(false)
    }
  }

  /** Ends the bots, `others`, and then what they run in. What a handler threw must not be lost with the test. */
  async stop(end: () => Promise<void>, others: Iterable<{ stop(): Promise<void> }> = []): Promise<void> {
    const stopped = await Promise.allSettled([...this.#running, ...others].map(one => one.stop()))
    await end()
    for (const outcome of stopped) if (outcome.status === 'rejected') throw outcome.reason
  }
}
