// A bot as one function that is called with each message for it. What the function is given, which messages those are, and when it
// is stopped; the same for `natter bot run` and for tests.

import { nameConversation } from '../local/conversation-name.ts'
import { isRecord } from '../local/json.ts'
import type { Message } from './events.ts'
import { demandPath, type Reply } from './sender.ts'

export interface BotMessage extends Message {
  /** The content without the mention of the bot at its beginning. */
  readonly text: string
  readonly isDirect: boolean
  /** Name of the channel; undefined in a direct message. */
  readonly channel: string | undefined
  /** undefined in a direct message. */
  readonly topic: string | undefined
}

export type Destination =
  | { readonly channel: string | number; readonly topic: string }
  /** User IDs, or email addresses. */
  | { readonly to: readonly number[] | readonly string[] }

export interface Bot {
  readonly me: BotAccount
  /** Answers where the message was sent. Returning a text from the function does the same. */
  reply(content: string): Promise<number>
  /** Sends a message somewhere else. Both resolve to its ID. */
  send(where: Destination, content: string): Promise<number>
  /** Reacts to the message with an emoji, by name: `thumbs_up`. */
  react(emojiName: string): Promise<void>
  /** Texts by key that outlive the process; the server keeps them for the bot. */
  readonly storage: {
    get(key: string): Promise<string | undefined>
    put(key: string, value: string): Promise<void>
    remove(key: string): Promise<void>
  }
  /** Any route below /api/v1: `bot.request('GET', '/users/me')`. */
  request: Request
  /** Aborted when the function has taken too long, or the bot stops. */
  readonly signal: AbortSignal
}

export interface BotAccount {
  readonly userId: number
  readonly email: string
  readonly name: string
}

/** A text that it returns, or resolves to, is sent as the reply. */
export type BotHandler = (message: BotMessage, bot: Bot) => unknown

export type Request = (method: string, path: string, params?: Readonly<Record<string, unknown>>) => Promise<Reply>

export async function findAccount(request: Request): Promise<BotAccount> {
  const me = await request('GET', '/users/me')
  return { userId: Number(me.user_id), email: String(me.email), name: String(me.full_name) }
}

/** Whether the message is for the bot: direct, or with a mention of it. What it sends itself never is. */
export function isForBot(message: Message, flags: readonly string[], me: BotAccount, all: boolean): boolean {
  if (message.sender_id === me.userId) return false
  return all || message.type === 'private' || flags.includes('mentioned')
}

export function buildBotMessage(message: Message, me: BotAccount): BotMessage {
  const isDirect = message.type === 'private'
  return {
    ...message,
    text: withoutMention(message.content, me),
    isDirect,
    channel: isDirect ? undefined : String(message.display_recipient),
    topic: isDirect ? undefined : message.subject,
  }
}

/** Runs the handler for one message; resolves when its reply is sent. Rejects with what it threw. */
export async function handleMessage(
  handler: BotHandler,
  message: BotMessage,
  me: BotAccount,
  request: Request,
  signal: AbortSignal,
): Promise<void> {
  /** Calls that changed something for others. */
  let changes = 0
  const counting: Request = (method, path, params) => {
    if (method !== 'GET' && path !== '/bot_storage') changes++
    return request(method, path, params)
  }
  const bot = createBot(message, me, counting, signal)
  const reply = await handler(message, bot)
  if (typeof reply === 'string' && reply.trim() !== '') await bot.reply(reply)
  // A bot in JavaScript returns all kinds of things; if it also sent nothing, that is probably a mistake.
  if (changes > 0 || reply === null || (typeof reply !== 'number' && typeof reply !== 'object')) return
  const what = typeof reply === 'number' ? 'a number' : 'an object'
  throw new Error(`the function returned ${what} and sent nothing; a reply is a text`)
}

function createBot(message: BotMessage, me: BotAccount, call: Request, signal: AbortSignal): Bot {
  let sent = 0
  const request: Request = async (given, path, params) => {
    // What a handler does after it was given up is ignored.
    signal.throwIfAborted()
    demandPath(path)
    const method = given.toUpperCase()
    if (method === 'POST' && path === '/messages' && ++sent > mostSends)
      throw new Error(`the function sent more than ${mostSends} messages for one; it goes no further`)
    return call(method, path, params)
  }
  const send = async (params: Readonly<Record<string, unknown>>) =>
    Number((await request('POST', '/messages', params)).id)
  return {
    me,
    signal,
    request,
    reply: content => send({ ...replyTo(message), content }),
    async send(where, content) {
      demandDestination(where)
      return send(
        'to' in where
          ? { type: 'direct', to: where.to, content }
          : { type: 'channel', to: where.channel, topic: where.topic, content },
      )
    },
    async react(emoji_name) {
      await request('POST', `/messages/${message.id}/reactions`, { emoji_name })
    },
    storage: {
      async get(key) {
        const { storage } = await request('GET', '/bot_storage')
        if (!isRecord(storage)) throw new Error("the server's answer to GET /bot_storage has no storage")
        // Not what every object has, such as `constructor`.
        const value = Object.hasOwn(storage, key) ? storage[key] : undefined
        return typeof value === 'string' ? value : undefined
      },
      async put(key, value) {
        await request('PUT', '/bot_storage', { storage: { [key]: value } })
      },
      async remove(key) {
        await request('DELETE', '/bot_storage', { keys: [key] })
      },
    },
  }
}

/** For callers without a type checker. */
function demandDestination(where: unknown): void {
  if (typeof where === 'object' && where !== null && ('to' in where || 'channel' in where)) return
  const given = JSON.stringify(where)
  throw new TypeError(`bot.send: where is { channel: 'general', topic: 'lunch' } or { to: [8] }, not ${given}`)
}

/** A handler that sends without end for one message is stopped here. */
const mostSends = 100

function replyTo(message: BotMessage): Readonly<Record<string, unknown>> {
  if (!message.isDirect) return { type: 'channel', to: message.stream_id ?? message.channel, topic: message.topic }
  const people = (message.display_recipient as readonly { id: number }[]).map(({ id }) => id)
  return { type: 'direct', to: people }
}

function withoutMention(content: string, { name, userId }: BotAccount): string {
  const opening = /^\s*@\*\*(.+?)(?:\|(\d+))?\*\*[:,]?\s*/.exec(content)
  const isMine = opening && (opening[2] === undefined ? opening[1] === name : Number(opening[2]) === userId)
  return isMine ? content.slice(opening[0].length) : content
}

/** Messages of bots in a row, in one conversation, after which only bots can be talking. */
const longestExchange = 10
/** Conversations that are remembered; the oldest goes first. */
const mostConversations = 1000

/** Notices that bots answer each other without end. A person's message resets the count. */
export class LoopGuard {
  readonly #request: Request
  readonly #exchanges = new Map<string, number>()
  readonly #bots = new Map<number, boolean>()

  constructor(request: Request) {
    this.#request = request
  }

  /** `stopping` is true once, for the first message that is not answered any more. */
  async check(message: BotMessage): Promise<{ readonly answer: boolean; readonly stopping: boolean }> {
    const conversation = conversationOf(message)
    const before = this.#exchanges.get(conversation) ?? 0
    this.#exchanges.delete(conversation)
    const now = (await this.#isBot(message.sender_id)) ? before + 1 : 0
    if (now > 0) this.#exchanges.set(conversation, now)
    if (this.#exchanges.size > mostConversations) this.#exchanges.delete(this.#exchanges.keys().next().value!)
    return { answer: now <= longestExchange, stopping: now === longestExchange + 1 }
  }

  async #isBot(userId: number): Promise<boolean> {
    const known = this.#bots.get(userId)
    if (known !== undefined) return known
    // A sender who cannot be looked up counts as a person: a bot must not stop because of that.
    const { user } = await this.#request('GET', `/users/${userId}`).catch((): Reply => ({}))
    const isBot = (user as { is_bot?: boolean } | undefined)?.is_bot === true
    if (this.#bots.size >= mostConversations) this.#bots.clear()
    this.#bots.set(userId, isBot)
    return isBot
  }
}

/** The conversation that the params of a sent message name, for people; names that only the server knows are IDs. */
export function nameDestination(
  params: Readonly<Record<string, unknown>>,
  message: BotMessage,
  me: BotAccount,
): string {
  const { type, to, topic } = params
  const isReply = JSON.stringify({ type, to, topic }) === JSON.stringify(replyTo(message))
  if (isReply) return conversationOf(message, me)
  const shown = [to].flat().map(one => (typeof one === 'number' ? `id:${one}` : String(one)))
  if (type !== 'channel' && type !== 'stream') return nameConversation({ people: shown.map(email => ({ email })) })
  const channel = to === message.stream_id ? message.channel : shown[0]
  return nameConversation({ channel, topic: String(topic ?? params.subject ?? '') })
}

/** For people. */
export function conversationOf({ channel, topic, display_recipient }: BotMessage, me?: BotAccount): string {
  const people = typeof display_recipient === 'string' ? undefined : display_recipient
  return nameConversation({ channel, topic, people }, me?.email)
}
