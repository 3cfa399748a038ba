// A bot's handler under test: it runs in the process of the test, as an account of the daemon, until it is stopped.

import {
  type BotHandler,
  buildBotMessage,
  conversationOf,
  findAccount,
  handleMessage,
  isForBot,
  LoopGuard,
  type Request,
} from '../client/bot.ts'
import { createBotCalls } from '../client/bot-calls.ts'
import { createEndingClient } from '../client/client.ts'
import { warnOfGap } from '../client/events.ts'
import type { Repeater } from '../client/repeater.ts'
import { type ClientOptions, captureCaller, NatterError } from '../client/sender.ts'
import { runOfTest } from '../client/uncaught.ts'

export interface RunningBot {
  /** What the function threw, oldest first. */
  readonly errors: readonly Error[]
  /** Stops it when the message in progress is done. Rejects once with what the function threw, if it did. */
  stop(): Promise<void>
}

export interface StartedBot extends RunningBot {
  readonly userId: number
  /** Not once its events have ended with an error, such as for a key that is refused. */
  listens(): boolean
  /** Whether the test itself sets the server back now: lost events are then no surprise, and no warning. */
  expectGaps(expected: boolean): void
  /** A line if the handler has a message in progress, with what its calls wait for; otherwise empty. */
  explainBusy(): string
  /** A line about the newest message that it did not get; empty if there was none. */
  explainIgnored(): string
}

/**
 * Resolves when the bot sees every message that is sent from then on. `all`: whether it gets every message that it can see, not only those for
 * it; `within`: milliseconds that the handler has for one message.
 */
export async function runBot(
  account: ClientOptions,
  handler: BotHandler,
  { all, within }: { readonly all: boolean; readonly within: number },
): Promise<StartedBot> {
  const stopping = new AbortController()
  const client = createEndingClient(account, stopping.signal)
  const me = await findAccount(client.request)
  let said = ''
  const say = (text: string) => {
    said = text
  }
  const { request: call, repeater } = createBotCalls(client, { say, signal: stopping.signal })
  const request: Request = (method, path, params) => {
    // When the call is made, the stack may no longer lead to the line of the handler.
    const caller = captureCaller(request)
    return call(method, path, params).catch(error => {
      const { status, body, kind, parameter } = error as NatterError
      if (!(error instanceof NatterError)) throw error
      throw new NatterError(status, body, kind, `${method} ${path}`, caller, parameter)
    })
  }
  const guard = new LoopGuard(request)
  const errors: Error[] = []
  let reported = false
  let isBusy = false
  let listens = true
  let gapsExpected = false
  let ignored: number | undefined
  let ready!: () => void
  const isReady = new Promise<void>(resolve => {
    ready = resolve
  })
  const following = (async () => {
    for await (const event of client.events({
      types: ['message'],
      gaps: true,
      allPublicStreams: all,
      onReady: ready,
    })) {
      if (event.type === 'gap') {
        if (!gapsExpected) warnOfGap(event)
        continue
      }
      if (!isForBot(event.message, event.flags, me, all)) {
        if (event.message.sender_id !== me.userId) ignored = event.message.id
        continue
      }
      const message = buildBotMessage(event.message, me)
      const { answer, stopping: isLoop } = await guard.check(message)
      if (isLoop) errors.push(new Error(`bots answer each other without end in ${conversationOf(message)}`))
      if (!answer) continue
      isBusy = true
      said = ''
      const late = startLimit(repeater, within)
      try {
        const handling = runOfTest(() => handleMessage(handler, message, me, request, late.signal))
        await Promise.race([handling, late.passed])
      } catch (error) {
        errors.push(error as Error)
      }
      late.withdraw()
      isBusy = false
    }
  })().finally(() => {
    listens = false
  })
  await Promise.race([isReady, following])
  return {
    userId: me.userId,
    errors,
    listens: () => listens,
    expectGaps: expected => {
      gapsExpected = expected
    },
    explainBusy: () => (isBusy ? `\nThe function of a bot has not finished${said && `: ${said}`}.` : ''),
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

/** `passed` rejects, and `signal` is aborted, when the handler has taken too long. */
function startLimit(repeater: Repeater, within: number) {
  const late = new AbortController()
  let withdraw!: () => void
  const passed = new Promise<never>((_resolve, reject) => {
    withdraw = repeater.startTimer(within, () => {
      late.abort()
      reject(new Error(`the function did not finish within ${within / 1000} s`))
    })
  })
  return { signal: late.signal, passed, withdraw }
}
