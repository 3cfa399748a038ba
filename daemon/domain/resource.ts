// The form of a resource: commands that decide, facts that are applied and announced, sections of `register`.

import type { Endpoint, Endpoints, ParamsOf, ReplyOf, Upload } from '../api/define.ts'
import type { Level } from '../api/levels/level.ts'
import type { Fact } from './facts.ts'
import type { Dialect, QueueRegistration } from './model/rows/queues.ts'
import type { Conversation, State, User } from './model/state.ts'
import type { Refusal } from './refusal.ts'

/** What commands know of the world outside the state. Time and randomness come in here and end up in facts. */
export interface Surroundings {
  readonly state: State
  /** Milliseconds by the daemon's clock. */
  readonly now: number
  /** For jobs: the time at which the daemon began to look for work. What fell due after that did not miss its time. */
  readonly awakeSince?: number
  /** Name of the calling program. */
  readonly client: string
  /** What the caller knows; absent where the daemon itself acts. */
  readonly dialect?: Dialect
  /** Fresh randomness: a UUID. */
  readonly random: () => string
  readonly keys: Keys
  readonly server: ServerFacts
  /** A new account gets no messages: a seed says itself what was said. */
  readonly withoutWelcome?: boolean
  /** What the command has given IDs to, in facts that are not applied yet: it can send several messages. */
  allotted?: { messages: number; conversations: Map<string, Conversation>; deliveries: number }
}

/** Everything that is derived from the secret of the store, and so never stored. */
export interface Keys {
  /** The API key of an account. */
  deriveKey(user: Pick<User, 'id' | 'keyVersion'>): string
  /** What the outgoing webhooks of a bot carry. */
  deriveToken(bot: Pick<User, 'id' | 'bot'>): string
  /** Opens the control plane. */
  readonly controlToken: string
  /** Tells texts apart without telling what they are: 192 bits. */
  digestText(text: string): string
  /** Compares in a time that says nothing about where the two differ. */
  sameSecret(given: string, wanted: string): boolean
}

/** What the flags of the daemon settle. */
export interface ServerFacts {
  /** The feature level that clients are answered at. */
  readonly level: Level
  /** Where clients reach it, without a slash at the end. */
  readonly url: string
  /** Domain of placeholder and bot addresses. */
  readonly emailDomain: string
  readonly devAuth: boolean
  /** Room for the uploads of the organization; without it there is no limit. */
  readonly uploadQuotaMiB?: number
}

export interface Context extends Surroundings {
  readonly actor: User
}

/** Slow or secret work that commands must not do themselves. */
export interface Tools {
  hashPassword(password: string): Promise<string>
  verifyPassword(password: string, hash: string | undefined): Promise<boolean>
  /** Keeps a file beside the store, durably, and names it by its content. */
  keepFile(file: Uint8Array | Upload): Promise<string>
  readonly server?: ServerFacts
}

export interface Event {
  readonly type: string
  readonly op?: string
  readonly [field: string]: unknown
}

/** What a client asked for at register: everything that can change the form of an event. `events/adapt.ts` reads it from the capabilities. */
export interface Client {
  /** The feature level at which it registered. */
  readonly level: Level
  /** Gets the empty topic as the empty string. */
  readonly emptyTopic: boolean
  /** Gets one event about all messages that were deleted together. */
  readonly bulkDeletion: boolean
  /** Gets typing events in channels. */
  readonly channelTyping: boolean
  /** Reads `null` in the notification settings of a subscription as "inherit". */
  readonly inheritedNotifications: boolean
  /** Reads `user_settings`, and not the two older events and sections. */
  readonly settingsObject: boolean
  readonly linkifierTemplates: boolean
  /** Does without users that it cannot access, instead of getting substitutes for them. */
  readonly incompleteUserList: boolean
  /** Gets deactivated groups, marked as such. */
  readonly deactivatedGroups: boolean
  /** Gets archived channels, marked as such. */
  readonly archivedChannels: boolean
  /** Gets events about presence in the modern form. */
  readonly modernPresence: boolean
  /** Gets changes of single custom emoji, not all of them each time. */
  readonly singleEmoji: boolean
  /** null: all types. Only for events that replace each other; the queue itself filters by type. */
  readonly eventTypes: ReadonlySet<string> | null
  readonly applyMarkdown: boolean
  readonly clientGravatar: boolean
  readonly slimPresence: boolean
  readonly includeSubscribers: 'true' | 'false' | 'partial'
}

/** The event as one kind of client wants it: none, one, or several in order. */
export type Forms = (client: Client) => Event | readonly Event[] | null

/** A set of user IDs that need not be listed to be asked. */
export interface Audience extends Iterable<number> {
  readonly size: number
  has(userId: number): boolean
}

export interface Announcement {
  /** User IDs. A live set may be given: it is read at once. */
  readonly to: readonly number[] | Audience
  /** Who of them is served before the others. */
  readonly first?: number
  readonly event: Event | Forms
  /** The account whose key or token is set into the event when it is read: secrets are never stored. */
  readonly secretsOf?: number
  /** Fields that differ from person to person. Return the same object for people with the same fields. */
  readonly personal?: (userId: number) => object
  /** Whether a queue with a narrow takes it; asked of no others. */
  readonly fits?: (queue: Pick<QueueRegistration, 'userId' | 'narrow'>) => boolean
  /** Queues of people outside the audience, if they are for all public channels or have a narrow: which get it, with these personal fields. */
  readonly overheard?: {
    readonly fields: object
    readonly fits: (queue: Pick<QueueRegistration, 'userId' | 'narrow'>) => boolean
  }
  /** Fields that one queue gets and no other. */
  readonly echo?: { readonly queueId: string; readonly fields: object }
}

/** An event for some clients only. */
export function onlyWith(wanted: 'deactivatedGroups' | 'linkifierTemplates', event: Event): Forms {
  return client => (client[wanted] ? event : null)
}

/** Plain text to one address; sent once the facts that go with it are on disk. */
export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** A push notification to a device instead; it goes to the outbox only. */
  readonly push?: { readonly kind: string; readonly token: string }
}

export interface Outcome<Reply> {
  readonly facts?: readonly Fact[]
  readonly signals?: readonly Announcement[]
  readonly mails?: readonly Mail[]
  /** Files beside the store that these facts no longer need; one that nothing else needs either is deleted. */
  readonly dropped?: readonly string[]
  /**
   * Changes volatile state (presence): never journaled, saved with a snapshot, forgotten by a crash. A command that does
   * nothing else is answered without waiting for the disk.
   */
  readonly touch?: (state: State) => void
  /** What the caller gets instead of the reply, when the call fails and something happened all the same. */
  readonly refusal?: Refusal
  /** The account whose limit on written bytes the facts count in, if not that of the caller. */
  readonly causedBy?: number
  readonly reply: Reply
}

/** Work that falls due by the clock: the scheduler runs it as the system. */
export interface Job {
  readonly op: string
  /** Milliseconds when it is next due; undefined when nothing is planned. Asked after every change, so it must be cheap. */
  readonly due: (state: State, now: number) => number | undefined
  /** Does everything that is due now. What it leaves must be due later, or it is run again at once. */
  readonly run: (ctx: Surroundings) => Outcome<object>
}

type Served<A extends Endpoints> = {
  [K in keyof A]: A[K] extends { served: string } ? never : K
}[keyof A]

type ContextOf<E extends Endpoint> = E['access'] extends 'anyone' ? Surroundings : Context

type Commands<A extends Endpoints, P> = {
  [K in Served<A>]: (
    ctx: ContextOf<A[K]>,
    params: ParamsOf<A[K]>,
    prepared: K extends keyof P ? P[K] : undefined,
  ) => Outcome<ReplyOf<A[K]>>
}

type Prepares<A extends Endpoints, P> = {
  [K in keyof P & keyof A]: (
    tools: Tools,
    params: ParamsOf<A[K]>,
    state: State,
    actor: User | undefined,
  ) => Promise<P[K]>
}

export type FactOf<F extends Fact, T extends F['type']> = Extract<F, { type: T }>

/** What a client asked of `register`. */
export interface Asked extends Client {
  /** The sections asked for by name; null: all. */
  readonly fetched: readonly string[] | null
  readonly presenceHistoryDays: number | undefined
}

/** State fields of `register`, by the event type that fetches them. */
export type Sections = Readonly<Record<string, (ctx: Context, client: Asked) => object>>

export interface Resource<A extends Endpoints, F extends Fact, P> {
  /** Slow work before a command, such as hashing a password; its result is the command's third argument. */
  readonly prepare?: Prepares<A, P>
  readonly commands: Commands<A, P>
  /** Takes what has happened into the state. Cannot refuse: replay runs through here too. */
  readonly apply: { [T in F['type']]: (state: State, fact: FactOf<F, T>) => void }
  /** Who gets which event. Sees the state after the fact. */
  readonly announce: { [T in F['type']]: (state: State, fact: FactOf<F, T>) => readonly Announcement[] }
  readonly sections?: Sections
  readonly jobs?: readonly Job[]
}

/** Checks a resource against its catalogue page, its facts and what it prepares; adds nothing at run time. */
export function resource<A extends Endpoints>(api: A) {
  return <F extends Fact, P = Record<never, never>>(parts: Resource<A, F, P>): AnyResource<F['type']> =>
    ({ api, ...parts }) as unknown as AnyResource<F['type']>
}

/** The form in which engine and edge hold any resource. Of its facts only the types are left, for `Ownership`. */
export interface AnyResource<T extends string = string> {
  readonly api: Endpoints
  readonly prepare?: Readonly<
    Record<string, (tools: Tools, params: object, state: State, actor?: User) => Promise<unknown>>
  >
  readonly commands: Readonly<Record<string, AnyCommand>>
  readonly apply: Readonly<Record<T, (state: State, fact: any) => void>>
  readonly announce: Readonly<Record<T, (state: State, fact: any) => readonly Announcement[]>>
  readonly sections?: Sections
  readonly jobs?: readonly Job[]
}

type AnyCommand = (ctx: any, params: any, prepared?: any) => Outcome<object>

/** `true` if each of these facts has exactly one owner among the resources; otherwise what is wrong, with its name. */
export type Ownership<T extends string, Resources extends readonly AnyResource<never>[]> = [
  Exclude<T, FactsOf<Resources[number]>>,
  OwnedTwice<Resources>,
] extends [never, never]
  ? true
  : { readonly withoutOwner: Exclude<T, FactsOf<Resources[number]>>; readonly withTwoOwners: OwnedTwice<Resources> }

/** Distributes over a union of resources. */
type FactsOf<R> = R extends { readonly apply: infer A } ? keyof A : never

type OwnedTwice<Resources, Seen = never> = Resources extends readonly [infer First, ...infer Rest]
  ? (FactsOf<First> & Seen) | OwnedTwice<Rest, Seen | FactsOf<First>>
  : never
