// Prints what a bot receives and sends, as it happens: text for people, or one JSON object a line.

import {
  type BotAccount,
  type BotMessage,
  conversationOf,
  nameDestination,
  type Request,
} from '../../../daemon/client/bot.ts'
import { harmlessJson } from '../../../daemon/local/harmless.ts'
import { note } from '../../base/note.ts'
import { print, printError } from '../../base/writer.ts'

export class Transcript {
  readonly #me: BotAccount
  readonly #json: boolean
  readonly #dryRun: boolean

  constructor(me: BotAccount, json: boolean, dryRun: boolean) {
    this.#me = me
    this.#json = json
    this.#dryRun = dryRun
  }

  received(conversation: string, message: BotMessage): void {
    const { id, sender_full_name: sender, text } = message
    this.#print({ received: { id, conversation, sender, text } }, `${conversation}  ${sender}: ${text}`)
  }

  /** Tells people why nothing happens. JSON lists only the messages that the bot takes; its own messages are printed when it sends them. */
  ignored({ id, sender_id }: { readonly id: number; readonly sender_id: number }): void {
    if (!this.#json && sender_id !== this.#me.userId)
      note(`ignored message ${id}: it does not mention ${this.#me.name}; --all takes every message`)
  }

  /** `conversation`: null for an error that came after the function had returned. */
  error(conversation: string | null, reason: string): void {
    if (this.#json) this.#print({ error: { conversation, reason } }, '')
    else printError(`${conversation === null ? '' : `${conversation}  `}error: ${reason}\n`)
  }

  /** Requests that change something are printed; with --dry-run they are not made. */
  recording(request: Request, message: BotMessage): Request {
    return async (method, path, params = {}) => {
      if (method === 'GET') return request(method, path, params)
      const reply = this.#dryRun ? { id: 0 } : await request(method, path, params)
      const did = { method, path, params, ...(this.#dryRun && { dry_run: true }) }
      const isMessage = method === 'POST' && path === '/messages'
      const conversation = isMessage ? nameDestination(params, message, this.#me) : conversationOf(message, this.#me)
      const what = isMessage ? String(params.content) : `${method} ${path} ${JSON.stringify(params)}`
      const said = `${conversation}  ${this.#me.name}: ${what}${this.#dryRun ? '  (not sent)' : ''}`
      this.#print({ sent: { conversation, ...did } }, said)
      return reply
    }
  }

  #print(data: object, text: string): void {
    print(this.#json ? `${harmlessJson(JSON.stringify(data))}\n` : `${text}\n`)
  }
}
