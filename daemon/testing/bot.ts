// A bot's handler under test: it runs in the process of the test, as an account of the daemon, until it is stopped.

import {
  type BotHandler,
  buildBotMessage,
  conversationOf,
  findAccount,
  handleMessage,
  isForBot,
  LoopGuard,
} from '../client/bot.ts'
import type { Client } from '../client/index.ts'

export interface RunningBot {
  /** What the function threw, oldest first. */
  readonly errors: readonly Error[]
  /** Stops it when the message in progress is done. Rejects once with what the function threw, if it did. */
  stop(): Promise<void>
}

export interface StartedBot extends RunningBot {
  /** Whether the handler has a message in progress. */
  isBusy(): boolean
  /** A line about the newest message that it did not get; empty if there was none. */
  explainIgnored(): string
}

/**
 * Resolves when the bot sees every message that is sent from then on. `all`: whether it gets every message that it can see, not only those for
 * it; `within`: milliseconds that the handler has for one message.
 */
export async function runBot(
  client: Client,
  handler: BotHandler,
  { all, within }: { readonly all: boolean; readonly within: number },
): Promise<StartedBot> {
  const request = client.request.bind(client)
  const me = await findAccount(request)
  const guard = new LoopGuard(request)
  const stopping = new AbortController()
  const errors: Error[] = []
  let reported = false
  let isBusy = false
  let ignored: number | undefined
  let ready!: () => void
  const isReady = new Promise<void>(resolve => {
    ready = resolve
  })
  const following = (async () => {
    const { signal } = stopping
    for await (const event of client.events({ types: ['message'], allPublicStreams: all, signal, onReady: ready })) {
      if (!isForBot(event.message, event.flags, me, all)) {
        if (event.message.sender_id !== me.userId) ignored = event.message.id
        continue
      }
      const message = buildBotMessage(event.message, me)
      const { answer, stopping: isLoop } = await guard.check(message)
      if (isLoop) errors.push(new Error(`bots answer each other without end in ${conversationOf(message)}`))
      if (!answer) continue
      isBusy = true
      try {
        const late = AbortSignal.timeout(within)
        await Promise.race([handleMessage(handler, message, me, request, late), whenLate(late, within)])
      } catch (error) {
        errors.push(error as Error)
      }
      isBusy = false
    }
  })()
  await Promise.race([isReady, following])
  return {
    errors,
    isBusy: () => isBusy,
    explainIgnored: () =>
      ignored === undefined
        ? ''
        : `\nThe bot ignored message ${ignored}: it does not mention ${me.name}. With { all: true }, runBot takes every message.`,
    async stop() {
      stopping.abort()
      await following.catch(() => {})
      const [first] = reported ? [] : errors
      reported = true
      if (first) throw first
    },
  }
}

/** A line that is added to an error that the failed handler may have caused. */
export function explainFailedBot({ message, stack }: Error): string {
  const places = stack?.split('\n').filter(line => /^\s+at /.test(line)) ?? []
  // A refused call leads through this library, which is one file. An error that the library made has no place in the handler.
  const place = places.find(line => !/[\\/]dist[\\/]testing\.[cm]js:|[ (]node:/.test(line))?.trim()
  return `\nThe function of a bot failed: ${message}${place ? ` (${place})` : ''}`
}

function whenLate(signal: AbortSignal, within: number): Promise<never> {
  return new Promise((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(new Error(`the function did not finish within ${within / 1000} s`)), {
      once: true,
    }),
  )
}
