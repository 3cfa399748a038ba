// The API as typed functions, made from the catalogue: `client.users.me()`, `client.messages.send({ … })`.

import type { Endpoint, Endpoints, Page, ReplyOf, SentOf } from '../api/define.ts'
import type { EventType } from '../api/event-types.ts'
import { catalogue } from '../api/index.ts'
import { nearest, unknownName } from '../local/did-you-mean.ts'
import { namedAccounts } from '../local/profiles.ts'
import { Calls } from './calls.ts'
import { type Event, type EventOptions, followEvents, type GapEvent } from './events.ts'
import { type ClientOptions, captureCaller, demandPath, encodeFields, type Reply } from './sender.ts'
import { attempt } from './uncaught.ts'

type Catalogue = typeof catalogue
type PageOf<N extends keyof Catalogue> = Awaited<ReturnType<Catalogue[N]['load']>>

/** `saved-snippets` is `savedSnippets`; the queues themselves are `queues`, since `events` is what comes out of them. */
type Named<N extends string> = N extends 'events'
  ? 'queues'
  : N extends `${infer First}-${infer Rest}`
    ? `${First}${Capitalize<Named<Rest>>}`
    : N

type Call<E extends Endpoint> =
  Record<never, never> extends SentOf<E>
    ? (params?: SentOf<E>) => Promise<ReplyOf<E>>
    : (params: SentOf<E>) => Promise<ReplyOf<E>>

export type Resources = {
  readonly [N in keyof Catalogue as Named<N>]: {
    readonly [K in keyof PageOf<N>]: PageOf<N>[K] extends infer E extends Endpoint ? Call<E> : never
  }
}

export interface RequestOptions {
  /** The same for each attempt at one call: the server carries it out once. */
  readonly idempotencyKey?: string
}

export interface Client extends Resources {
  readonly site: string
  readonly email: string | undefined
  /**
   * Events as they happen, until the signal; continues over lost queues and connections. With `types`, events of these types
   * only; with `gaps: true`, also an event of type `gap` where some were lost.
   */
  events<const T extends EventType = EventType, G extends boolean = false>(
    options?: EventOptions<T, G>,
  ): AsyncGenerator<Event<T> | (G extends true ? GapEvent : never), void>
  /** Any route below /api/v1. Texts travel as they are, everything else as JSON. */
  request(
    method: string,
    path: string,
    params?: Readonly<Record<string, unknown>>,
    options?: RequestOptions,
  ): Promise<Reply>
}

/** Without a site and an account, they are those of the environment: NATTER_SITE, NATTER_EMAIL, NATTER_API_KEY, or ZULIP_*. */
export function createClient(options: Partial<ClientOptions> = {}): Client {
  const caller = captureCaller(createClient)
  return buildClient(attempt(() => connect(addAccount(options)), caller))
}

/** `ending` ends the event streams of the client, and its waiting for a server that limits its calls. */
export function createEndingClient(options: ClientOptions, ending: AbortSignal): Client {
  return buildClient(connect(options, ending), ending)
}

function buildClient({ site, email, calls }: ReturnType<typeof connect>, ending?: AbortSignal): Client {
  const client: Record<string, unknown> = {
    site,
    email,
    events: function events(wanted: EventOptions = {}) {
      const caller = captureCaller(events)
      return attempt(() => followEvents(calls, wanted, caller, ending), caller)
    },
    request: async function request(
      method: string,
      path: string,
      params: Readonly<Record<string, unknown>> = {},
      { idempotencyKey }: RequestOptions = {},
    ) {
      const caller = captureCaller(request)
      return attempt(async () => {
        demandPath(path)
        return calls.send(method.toUpperCase(), path, encodeFields(params), { caller, key: idempotencyKey })
      }, caller)
    },
  }
  for (const [name, page] of Object.entries<Page>(catalogue)) client[convertName(name)] = createResource(calls, page)
  return nameMistakes(client) as unknown as Client
}

/** For callers without a type checker. Test runners read fields that are not there, so only what is close to a name is refused. */
function nameMistakes(client: Record<string, unknown>): object {
  return new Proxy(client, {
    get: function get(target, key, receiver) {
      if (typeof key === 'string' && !(key in target) && nearest(key, Object.keys(target)).length > 0)
        attempt(() => {
          throw new TypeError(unknownName('part of a client', key, Object.keys(target)))
        }, captureCaller(get))
      return Reflect.get(target, key, receiver)
    },
  })
}

function connect(options: ClientOptions, ending?: AbortSignal) {
  const { site, email } = options
  return { site, email, calls: new Calls(options, ending) }
}

/** Functions that load their page of the catalogue at the first call. */
function createResource(calls: Calls, page: Page): unknown {
  let loaded: Promise<Endpoints> | undefined
  return new Proxy(
    {},
    {
      get: (_target, key) => {
        // `await` must not take the resource for a promise.
        if (typeof key !== 'string' || key === 'then') return undefined
        return async function call(params: Readonly<Record<string, unknown>> = {}) {
          const caller = captureCaller(call)
          return attempt(async () => {
            loaded ??= page.load()
            const endpoints = await loaded
            const endpoint = endpoints[key]
            if (!endpoint) throw new TypeError(unknownName('call', key, Object.keys(endpoints)))
            return calls.endpoint(endpoint, params, { caller })
          }, caller)
        }
      },
    },
  )
}

function convertName(name: string): string {
  return name === 'events' ? 'queues' : name.replace(/-(\w)/g, (_match, letter: string) => letter.toUpperCase())
}

/** Part of an account is not completed: a key must not go to another server than its own. */
function addAccount(options: Partial<ClientOptions>): ClientOptions {
  const { site, email, apiKey } = options
  if (site === undefined && email === undefined && apiKey === undefined) return { ...options, ...fromEnvironment() }
  if (typeof site !== 'string')
    throw new TypeError('createClient: give `site`, the address of a server, such as http://127.0.0.1:9991')
  if ((email === undefined) !== (apiKey === undefined))
    throw new TypeError(`createClient: give ${email === undefined ? '`email`' : '`apiKey`'} too`)
  return { ...options, site }
}

function fromEnvironment(): ClientOptions {
  const env = (globalThis as { process?: { env: Record<string, string | undefined> } }).process?.env ?? {}
  const named = namedAccounts(env)
  const site = named.find(account => account.site)?.site
  if (!site)
    throw new TypeError(
      'no server is known: give `site`, or set NATTER_SITE, NATTER_EMAIL and NATTER_API_KEY, for instance by eval "$(natter env --as echo-bot)"',
    )
  const { email, apiKey } = named.find(account => account.site === site && account.email && account.apiKey) ?? {}
  return { site, ...(email && apiKey && { email, apiKey }) }
}
