// Makes recorded calls again, as the same accounts, and remembers which IDs took the place of the recorded ones.

import { webhooks } from '../../../../daemon/api/bots/webhooks.ts'
import { hidden } from '../../../../daemon/api/masking.ts'
import { jsonOr } from '../../../../daemon/local/json.ts'
import { addHint, exitCodes, Failure } from '../../../base/failure.ts'
import type { Globals } from '../../../base/globals.ts'
import { type Account, accountFor } from '../../../base/profile.ts'
import { requireSite, send } from '../../../transport/client.ts'
import { type ControlledAccount, callControlPlane, findAccount } from '../../../transport/control.ts'
import { postedRequest } from '../../../transport/posted-request.ts'
import type { Read } from '../../organization/seed-pull/shapes.ts'
import { isCallTo, type RecordedCall } from './recording.ts'

export interface Played {
  readonly status: number
  readonly answer: unknown
}

export class Player {
  readonly #globals: Globals
  /** Without a key. The limits of the profile hold for every call. */
  readonly #stranger: Account
  readonly #accounts = new Map<string, Promise<Account>>()
  readonly #only: { readonly account: Account; readonly user: string } | undefined
  #time = 0
  /** By the name of the field, then by the recorded value. */
  readonly #ids = new Map<string, Map<string, string>>()

  /** With an account, every call is made with its key, on its site; otherwise each as its own account, which the control plane knows. */
  constructor(globals: Globals, only?: { readonly account: Account; readonly user: string }) {
    this.#globals = globals
    const account = only?.account ?? accountFor(globals, process.env)
    this.#stranger = { site: requireSite(account), from: {}, ...(account.limits && { limits: account.limits }) }
    this.#only = only
  }

  async isFrozen(): Promise<boolean> {
    return !this.#only && (await this.control('GET', '/clock')).frozen === true
  }

  /** Why a call cannot be made again; undefined if it can. */
  unplayable({ sent, status, fault, lost, endpoint, user }: RecordedCall): string | undefined {
    if (this.#only && user !== null && user !== this.#only.user) return `there is no key of ${user}`
    if (lost || status === null) return 'it was not answered'
    if (fault) return `a fault changed it: ${fault}`
    if (endpoint === null) return 'no endpoint took it'
    if (Object.values(sent).some(value => typeof value !== 'string'))
      return 'it sent a file, which is not in the recording'
    // The key in the address of a webhook is that of the account, which is known.
    const secrets = endpoint === webhooks.post.id && user !== null ? { ...sent, api_key: '' } : sent
    return Object.values(secrets).includes(hidden) ? 'it sent a secret, which is hidden' : undefined
  }

  async play({ user, user_agent: userAgent, method, path, sent, endpoint }: RecordedCall): Promise<Played> {
    const fields = new Map(
      Object.entries(sent).map(([name, value]) => [name, this.#mapped(name, String(value), sent.type)]),
    )
    const account: Account = user === null ? this.#stranger : await this.#account(user)
    const isPosted = endpoint === webhooks.post.id
    if (isPosted && account.apiKey !== undefined) fields.set('api_key', account.apiKey)
    const request = isPosted ? postedRequest(path, fields) : { method, path: this.#mappedPath(path), fields }
    const answer = await send(isPosted ? this.#stranger : account, { ...request, userAgent })
    return { status: answer.status, answer: jsonOr(answer.text, answer.text) }
  }

  /** Replaces recorded IDs by the new ones from now on. */
  learn(call: RecordedCall, played: Played): void {
    const isMessage = isCallTo(call, 'POST', '/messages')
    for (const [name, value] of Object.entries(Object(call.answer) as object)) {
      const found = (Object(played.answer) as Record<string, unknown>)[name]
      const field = name === 'id' && isMessage ? 'message_id' : name
      if (!/(^|_)id$/.test(field) || found === undefined || found === value) continue
      const known = this.#ids.get(field) ?? new Map<string, string>()
      this.#ids.set(field, known.set(String(value), String(found)))
    }
  }

  idOf(field: string, recorded: string): string {
    return this.#ids.get(field)?.get(recorded) ?? recorded
  }

  /** Accounts and channels have other IDs here: calls that name them by ID get the new ones. */
  async learnOrganization({ people, channels }: Pick<Read, 'people' | 'channels'>): Promise<void> {
    const accounts = (await this.control('GET', '/accounts')).accounts as ControlledAccount[]
    const account = await this.#account(accounts[0]!.email)
    const streams = { method: 'GET', path: '/api/v1/streams', fields: new Map([['include_all', 'true']]) }
    const found = Object(jsonOr((await send(account, streams)).text)).streams as typeof channels
    const byName = new Map(found.map(({ name, stream_id }) => [name, String(stream_id)]))
    const channelIds = channels.flatMap(({ stream_id, name }) => {
      const id = byName.get(name)
      return id === undefined ? [] : [[String(stream_id), id] as const]
    })
    const byAddress = new Map(accounts.map(({ email, user_id }) => [addressKey(email), String(user_id)]))
    const userIds = people.flatMap(({ user_id, email, delivery_email }) => {
      const id = byAddress.get(addressKey(delivery_email || email))
      return id === undefined ? [] : [[String(user_id), id] as const]
    })
    this.#ids.set('stream_id', new Map(channelIds))
    this.#ids.set('user_id', new Map(userIds))
  }

  /** Moves the clock on; it never goes back. */
  async moveTo(time: number): Promise<void> {
    if (time <= this.#time) return
    const { now } = await this.control('GET', '/clock')
    if (Number(now) < time) await this.control('POST', '/clock/set', { to: new Date(time).toISOString() })
    this.#time = time
  }

  async control(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    return callControlPlane(this.#globals, { method, path: `/control/v1${path}`, body }, { timeout: 60_000 })
  }

  #account(email: string): Promise<Account> {
    if (this.#only) return Promise.resolve(this.#only.account)
    const known = this.#accounts.get(email)
    if (known) return known
    const found = this.#find(email).then(({ email, api_key }) => ({ ...this.#stranger, email, apiKey: api_key }))
    this.#accounts.set(email, found)
    return found
  }

  async #find(email: string): Promise<ControlledAccount> {
    try {
      return await findAccount(this.#globals, email)
    } catch (error) {
      if (!(error instanceof Failure && error.exit === exitCodes.notFound)) throw error
      const key = addressKey(email)
      if (key.endsWith('-bot')) return findAccount(this.#globals, key)
      throw addHint(error, 'Start the daemon with the preset or seed of the recorded one, or add --fresh.')
    }
  }

  #mapped(name: string, value: string, type: unknown): string {
    if (name === 'narrow') return this.#mappedNarrow(value)
    const field = type === 'stream' || type === 'channel' ? (placeFields[name] ?? name) : (idFields[name] ?? name)
    if (!/^\[[\d, ]*\]$/.test(value)) return this.idOf(field, value)
    return value.replace(/\d+/g, id => this.idOf(field, id))
  }

  /** Terms are `{operator, operand}` or pairs. */
  #mappedNarrow(narrow: string): string {
    const terms: unknown = jsonOr(narrow, narrow)
    if (!Array.isArray(terms)) return narrow
    const mapped = (operator: string, operand: unknown) => {
      const field = narrowFields[operator]
      const newId = (id: unknown) => (Number.isInteger(id) ? Number(this.idOf(field!, String(id))) : id)
      if (field === undefined) return operand
      if (Array.isArray(operand)) return operand.map(newId)
      return typeof operand === 'string' ? this.idOf(field, operand) : newId(operand)
    }
    return JSON.stringify(
      terms.map(term => {
        if (Array.isArray(term)) return [term[0], mapped(term[0], term[1])]
        return { ...term, operand: mapped(term?.operator, term?.operand) }
      }),
    )
  }

  #mappedPath(path: string): string {
    return path.replace(/\/(messages|users|streams)\/(\d+)/, (_, kind: keyof typeof pathFields, id: string) => {
      return `/${kind}/${this.idOf(pathFields[kind], id)}`
    })
  }
}

/** The address of a bot ends with the name of its server, which is another one here. */
function addressKey(email: string): string {
  return email.toLowerCase().replace(/(?<=-bot)@.*/, '')
}

/** What parameters and parts of paths are IDs of, where their names do not show it. */
const idFields: Readonly<Record<string, string>> = { to: 'user_id', principals: 'user_id', channel_id: 'stream_id' }
const placeFields: Readonly<Record<string, string>> = { ...idFields, to: 'stream_id' }
const narrowFields: Readonly<Record<string, string>> = {
  channel: 'stream_id',
  stream: 'stream_id',
  sender: 'user_id',
  dm: 'user_id',
  'pm-with': 'user_id',
  'dm-including': 'user_id',
  'group-pm-with': 'user_id',
  id: 'message_id',
  near: 'message_id',
  with: 'message_id',
}
const pathFields = { messages: 'message_id', users: 'user_id', streams: 'stream_id' } as const
