// `natter bot run`: follows the messages of an account and calls a handler with each that is for it.

import { existsSync, realpathSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import { kindHeader } from '../../../daemon/api/errors.ts'
import { buildBotMessage, conversationOf, isForBot, LoopGuard } from '../../../daemon/client/bot.ts'
import { createBotCalls } from '../../../daemon/client/bot-calls.ts'
import { gapText } from '../../../daemon/client/following.ts'
import { NatterError } from '../../../daemon/client/sender.ts'
import { suggestion } from '../../../daemon/local/did-you-mean.ts'
import { addHint, exitCodes, Failure, refusal, usage } from '../../base/failure.ts'
import { readCount, readDuration } from '../../base/flag-values.ts'
import { note } from '../../base/note.ts'
import { accountFor, demandKey } from '../../base/profile.ts'
import { nextSignal } from '../../base/signals.ts'
import type { Invocation } from '../../base/subcommand.ts'
import { call, demandUser, requireSite } from '../../transport/client.ts'
import { fetchOptions } from '../limited-fetch.ts'
import { HandlerThread } from './handler-thread.ts'
import { Transcript } from './transcript.ts'

const defaultWait = '30s'

export async function runHandler({ args, flags, globals }: Invocation): Promise<void> {
  const file = handlerFile(args[0]!)
  const within = readDuration('within', flags.within ?? defaultWait)
  const count = flags.count === undefined ? undefined : readCount('count', flags.count)
  const account = accountFor(globals, process.env)
  demandKey(account)
  const { email, apiKey } = account as { readonly email: string; readonly apiKey: string }
  // The first call is made as by other subcommands, for the same exit codes.
  const who = { method: 'GET', path: '/api/v1/users/me', fields: new Map<string, string>() }
  const found = await call(account, who, { timeout: globals.timeout })
  demandUser(found, account.site)
  const me = { userId: Number(found.user_id), email: String(found.email), name: String(found.full_name) }
  const { createEndingClient } = await import('../../../daemon/client/client.ts')
  const limits = await fetchOptions(account)
  const stopping = new AbortController()
  const options = { site: requireSite(account), email, apiKey, client: 'natter-bot', ...limits }
  const client = createEndingClient(options, stopping.signal)
  const { request, repeater } = createBotCalls(client, { say: note, signal: stopping.signal })
  if (found.is_bot === false) note(`${me.name} is a person; --as NAME or --profile NAME runs it as a bot`)
  const transcript = new Transcript(me, globals.json, globals.dryRun)
  const handler = new ReloadingHandler(file, reason => transcript.error(null, reason))
  await handler.start()
  const guard = new LoopGuard(request)
  // The message in progress is finished; a second Ctrl-C ends immediately.
  void nextSignal('SIGINT', 'SIGTERM').then(() => stopping.abort())
  const ready = () => note(`${me.name} listens at ${requireSite(account)}${globals.dryRun ? '; nothing is sent' : ''}`)
  const all = flags.all === true
  try {
    let handled = 0
    const what = { types: ['message'], gaps: true, allPublicStreams: all } as const
    const onAway = (error: Error) => note(`${error.message}; retrying`)
    const hooks = { onReady: ready, onAway, onBack: () => note('reconnected') }
    for await (const event of client.events({ ...what, ...hooks })) {
      if (event.type === 'gap') {
        note(gapText(event))
        continue
      }
      if (!isForBot(event.message, event.flags, me, all)) {
        transcript.ignored(event.message)
        continue
      }
      const message = buildBotMessage(event.message, me)
      const conversation = conversationOf(message, me)
      const { answer, stopping: isLoop } = await guard.check(message)
      if (isLoop) {
        const resumes = all || message.isDirect ? 'writes here' : 'mentions it here'
        transcript.error(conversation, `bots answer each other without end; this one stops until a person ${resumes}`)
      }
      if (!answer) continue
      transcript.received(conversation, message)
      const recorded = transcript.recording(request, message)
      await handler
        .use(thread => thread.handle(message, me, recorded, within, repeater))
        .catch((error: Error) => transcript.error(conversation, error.message))
      if (++handled !== count) continue
      // Before the event queue is deleted: a server that limits calls could make that wait, too.
      stopping.abort()
      break
    }
  } catch (error) {
    throw error instanceof NatterError ? explainEnd(error) : error
  } finally {
    stopping.abort()
    await handler.end()
  }
}

/** As of any other subcommand. The key was good when the bot began. */
function explainEnd({ status, body, kind }: NatterError): Failure {
  const failure = refusal(status, body, [kindHeader, kind])
  return kind === 'unauthenticated'
    ? addHint(
        failure,
        'The key is no longer valid. A daemon in memory makes new keys when it starts, unless it has --secret.',
      )
    : failure
}

/** How often saved files are looked for. Polling works everywhere; change notifications do not. */
const lookMs = 250

/** The newest version of the handler that can be loaded. */
class ReloadingHandler {
  readonly #file: string
  readonly #onStray: (reason: string) => void
  #thread!: HandlerThread
  #seen = ''
  #looking: NodeJS.Timeout | undefined
  /** Loads and calls run one at a time. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(file: string, onStray: (reason: string) => void) {
    this.#file = file
    this.#onStray = onStray
  }

  async start(): Promise<void> {
    try {
      this.#thread = await this.#load()
    } catch (error) {
      throw new Failure(exitCodes.usage, (error as Error).message)
    }
    this.#seen = this.#look()
    this.#looking = setInterval(() => {
      const now = this.#look()
      if (now === this.#seen) return
      this.#seen = now
      this.#turn = this.#turn.then(() => this.#replace())
    }, lookMs).unref()
  }

  /** A message in progress is finished by the version that began it. */
  use<T>(work: (thread: HandlerThread) => Promise<T>): Promise<T> {
    const done = this.#turn.then(async () => {
      if (this.#thread.ended) this.#thread = await this.#load()
      return work(this.#thread)
    })
    this.#turn = done.catch(() => {})
    return done
  }

  async end(): Promise<void> {
    clearInterval(this.#looking)
    await this.#turn
    await this.#thread.end()
  }

  async #replace(): Promise<void> {
    try {
      const newer = await this.#load()
      await this.#thread.end()
      this.#thread = newer
      this.#seen = this.#look()
      note(`loaded ${this.#file} again`)
    } catch (error) {
      // A version that was ended does not come back.
      const rest = this.#thread.ended ? 'no message gets a reply until it can' : 'the previous version keeps running'
      note(`${(error as Error).message}; ${rest}`)
    }
  }

  async #load(): Promise<HandlerThread> {
    try {
      return await HandlerThread.load(this.#file, this.#onStray)
    } catch (error) {
      throw new Error(`${this.#file} cannot be loaded: ${(error as Error).message}`)
    }
  }

  /** Changes when one of the files changes. */
  #look(): string {
    const stats = this.#thread.files.map(file => statSync(file, { throwIfNoEntry: false }))
    return stats.map(found => `${found?.mtimeMs} ${found?.size} ${found?.ino}`).join()
  }
}

const endings = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']

function handlerFile(path: string): string {
  // `natter bot new` writes `.mts` in a project with CommonJS.
  const others = endings.map(ending => path.slice(0, path.length - extname(path).length) + ending)
  if (!existsSync(path)) throw usage(`there is no file ${path}`, suggestion(others.filter(other => existsSync(other))))
  if (!endings.includes(extname(path)))
    throw usage(`${path} cannot be a bot: its name must end in .ts, .mts, .cts, .js, .mjs or .cjs`)
  return realpathSync(path)
}
