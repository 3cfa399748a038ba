// The vocabulary of the catalogue: shapes (TypeBox schemas), params (a documented use of a shape), endpoints.

import type { Static, TLiteral, TOptional, TSchema, TUnion } from '@sinclair/typebox'
import { addBounds } from './bounds.ts'
import type { CliForm } from './cli-form.ts'
import type { ErrorCode } from './errors.ts'
import { Type } from './shape-builders.ts'

export type { Static, TSchema }

type Frozen<T> = T extends object ? { readonly [Field in keyof T]: Frozen<T[Field]> } : T

/** Values of a shape that are not to be changed. */
export type ReadonlyOf<S extends TSchema> = Frozen<Static<S>>

// --- shapes -----------------------------------------------------------------------------------------------------

export const text = Type.String()
export const bool = Type.Boolean()
export const num = Type.Number()
const safe = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
/** Any integer that survives a JSON round trip. */
export const int = Type.Integer(safe)
export const natural = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export const anything = Type.Unknown()

/** IDs carry the kind of thing they identify, so that the command line can accept a name instead. */
export const userId = Type.Integer({ ref: 'user', minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export const channelId = Type.Integer({ ref: 'channel', minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export const groupId = Type.Integer({ ref: 'group', minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export const folderId = Type.Integer({ ref: 'folder', ...safe })
export const snippetId = Type.Integer({ ref: 'snippet', ...safe })
export const profileFieldId = Type.Integer({ ref: 'profile-field', ...safe })
export const messageId = Type.Integer({ ref: 'message', minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
/** UNIX seconds; the command line also takes ISO 8601 and `+2h`. */
export const timestamp = Type.Integer({ ref: 'time', minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
/** UNIX seconds, with a fraction. */
export const seconds = Type.Number({ ref: 'time' })
/** UNIX milliseconds. */
export const milliseconds = Type.Number({ ref: 'milliseconds' })
/** Markdown source; the command line also reads it from stdin. */
export const markdown = Type.String({ ref: 'markdown' })
/** A password; the command line prompts for it, because other users can see arguments. */
export const secret = Type.String({ ref: 'secret' })
export const topicName = Type.String({ ref: 'topic' })
/** The name of a channel; the command line also takes `id:5` and a link. */
export const channelName = Type.String({ ref: 'channel-name' })
/** The name of an emoji; the command line also takes it with colons, as in a message. */
export const emojiName = Type.String({ ref: 'emoji' })
/** An ID or an email address; the command line also takes a name. */
export const userText = Type.String({ ref: 'user' })
/** IDs or email addresses; the command line also takes names. */
export const people = Type.Array(Type.Union([userId, text]), { ref: 'people' })

export function textUpTo(maxLength: number) {
  return Type.String({ maxLength })
}

export function listOf<S extends TSchema>(shape: S, maxItems?: number) {
  return Type.Array(shape, maxItems === undefined ? {} : { maxItems })
}

/** The terms of a narrow; the command line also takes them as `operator:operand`. */
export function termsOf<S extends TSchema>(shape: S) {
  return Type.Array(shape, { ref: 'terms' })
}

/** A number for which the command line also takes these words. */
export function numberWithWords(words: Readonly<Record<string, number>>) {
  return Type.Integer({ ...safe, words })
}

export function nullable<S extends TSchema>(shape: S) {
  return Type.Union([shape, Type.Null()])
}

export function eitherOf<S extends TSchema[]>(...shapes: S) {
  return Type.Union(shapes) as unknown as TUnion<S>
}

type Literals<V extends readonly (string | number)[]> = {
  -readonly [I in keyof V]: TLiteral<V[I]>
} extends infer T extends TSchema[]
  ? T
  : never

/** A closed set of words or numbers. */
export function oneOf<const V extends readonly (string | number)[]>(...values: V) {
  return Type.Union(values.map(value => Type.Literal(value))) as unknown as TUnion<Literals<V>>
}

/** The same for numbers that have names: people can give either, and see both. */
export function named<const V extends Readonly<Record<string, number>>>(values: V) {
  const arms = Object.entries(values).map(([title, value]) => Type.Literal(value, { title }))
  return Type.Union(arms) as unknown as TUnion<TLiteral<V[keyof V]>[]>
}

export function record<S extends Record<string, TSchema>>(fields: S) {
  return Type.Object(fields)
}

export function maybe<S extends TSchema>(shape: S) {
  return Type.Optional(shape)
}

/**
 * A field that replies have from this level on. What is built has it, and the edge leaves it out. `leftOut`: what builds the
 * reply does so itself, because it is long or wanted often.
 */
export function since<S extends TSchema>(level: number, shape: S, by?: 'leftOut') {
  return Type.Optional({ ...shape, since: level, ...(by && { leftOut: true }) } as S)
}

/** A field that replies have until this level; at the level it is gone. */
export function until<S extends TSchema>(level: number, shape: S) {
  return Type.Optional({ ...shape, until: level } as S)
}

/** A field that had another form until a level. */
export function formerly<S extends TSchema>(level: number, earlier: TSchema, shape: S): S {
  return { ...shape, earlier: { until: level, shape: earlier } }
}

/** An object whose keys are data: user IDs, setting names. */
export function keyed<S extends TSchema>(shape: S) {
  return Type.Record(Type.String(), shape)
}

/** One file of a multipart body. */
export interface Upload {
  readonly filename: string
  readonly contentType: string
  /** All of it; of a large file that went to the disk as it arrived, the beginning. */
  readonly bytes: Uint8Array
  /** Of such a large file: all of it. */
  readonly received?: ReceivedFile
}

/** A file that arrived and is not kept yet. */
export interface ReceivedFile {
  readonly size: number
  read(): Promise<Uint8Array>
  /** Of its content: SHA-256, as hex. */
  digest(): string
  /** Keeps it, durably, and resolves to the name that its content gives it. */
  keep(): Promise<string>
}

export function sizeOf({ bytes, received }: Upload): number {
  return received?.size ?? bytes.length
}

export const upload = Type.Unsafe<Upload>({ type: 'string', format: 'binary' })

export function isUpload(value: unknown): value is Upload {
  return (
    typeof value === 'object' &&
    value !== null &&
    'bytes' in value &&
    'filename' in value &&
    value.bytes instanceof Uint8Array
  )
}

// --- params -----------------------------------------------------------------------------------------------------

export type Presence = 'required' | 'optional' | 'defaulted' | 'path'

export interface Param<S extends TSchema = TSchema, P extends Presence = Presence> {
  readonly shape: S
  readonly presence: P
  readonly about: string
  readonly fallback?: unknown
  /** An older spelling that is still accepted; sending both is refused. */
  readonly alias?: string
  /** For a switch that is on by default: what turning it off does, as the help of its `--no-` flag. */
  readonly off?: string
  /** Longer text is cut to this many characters instead of being refused, so clients should warn. */
  readonly cut?: number
  /** Public servers of the API family refuse a call without it, so clients made for them must send it here too. */
  readonly requiredByPublicServers?: true
  /** They take it as JSON, even if it is a word. */
  readonly jsonOnPublicServers?: true
  /** What they call it, if that is not its name here. */
  readonly publicName?: string
  /** They have deprecated it; says what to do instead. */
  readonly deprecated?: string
  /** They have deprecated these values, or words in it; what to use instead. */
  readonly deprecatedWords?: Readonly<Record<string, string>>
  /** The level that it came with. At older ones it is unknown, so it cannot have a default. */
  readonly since?: number
  /** The level that it was gone with. */
  readonly until?: number
  /** The form that it had until a level. */
  readonly earlier?: { readonly until: number; readonly shape: TSchema }
}

type ParamOptions = Omit<Param, 'shape' | 'presence' | 'about' | 'fallback'>

/** The levels that have a setting, as options of its param. */
export function copySpan(setting: object): ParamOptions {
  const { since, earlier } = setting as Pick<Param, 'since' | 'earlier'>
  return { ...(since !== undefined && { since }), ...(earlier && { earlier }) }
}

export function required<S extends TSchema>(shape: S, about: string, options: ParamOptions = {}): Param<S, 'required'> {
  return { shape: addBounds(shape), presence: 'required', about, ...options }
}

export function optional<S extends TSchema>(shape: S, about: string, options: ParamOptions = {}): Param<S, 'optional'> {
  return { shape: addBounds(shape), presence: 'optional', about, ...options }
}

export function defaulted<S extends TSchema>(
  shape: S,
  fallback: Static<S>,
  about: string,
  options: ParamOptions = {},
): Param<S, 'defaulted'> {
  return { shape: addBounds(shape), presence: 'defaulted', fallback, about, ...options }
}

/** A `{name}` of the path. An integer that does not parse makes the path unknown. */
export function inPath<S extends TSchema>(shape: S, about: string): Param<S, 'path'> {
  return { shape: addBounds(shape), presence: 'path', about }
}

// --- endpoints --------------------------------------------------------------------------------------------------

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

export interface Endpoint {
  readonly id: string
  readonly method: Method
  /** Relative to `baseOf` the endpoint. `{name}` is a param; `{name...}` takes the rest of the path. */
  readonly path: string
  /** Older paths of the same endpoint. */
  readonly also?: readonly string[]
  /**
   * Who may call: an account (usual), anyone, a program that has the token of the control plane, or a service that has the key of an account in
   * its address. Of such a service the body is its payload, in whatever form it sends that (decision 0061).
   */
  readonly access: 'user' | 'anyone' | 'control' | 'key'
  /**
   * Which accounts may call it, whatever the parameters are: checked before these are read. Human members are neither guests nor
   * bots; of `members`, bots may be some at newer levels.
   */
  readonly callers?: 'administrators' | 'owners' | 'members' | 'human members' | 'humans' | 'not guests'
  /** The level that it came with; 1: it was always there. */
  readonly since: number
  /** The level that it was gone with. */
  readonly until?: number
  /** Public servers of the API family do not answer it. */
  readonly notOnPublicServers?: true
  /** They have deprecated it; says what to do instead. */
  readonly deprecated?: string
  readonly summary: string
  readonly params: Readonly<Record<string, Param>>
  /** Fields of a successful reply besides result and msg. */
  readonly reply: Readonly<Record<string, TSchema>>
  /** Error codes of its refusals, besides those that any call can get and the one that follows from `callers`. */
  readonly refusals: readonly ErrorCode[]
  /** What answers it: the domain (default), the event queues, or nothing, because natterd sends this request itself. */
  readonly served?: 'queues' | 'outgoing'
  /** Changes nothing, although its method is that of a change. */
  readonly reads?: true
  /** A call that names no place concerns all of them; or the params with names of channels, where their own names do not say so. */
  readonly concerns?: 'everywhere' | { readonly channels: readonly string[] }
  /** A password is tried: the params with it, with its account (by default the caller's), and the one without which it is not looked at. */
  readonly login?: { readonly password: string; readonly account?: string; readonly only?: string }
  /** It can send mail, which is limited by sender and recipient. */
  readonly mails?: 'confirmation' | 'invitation' | 'notice'
  readonly cli: CliForm
}

/** What an endpoint is unless its definition says otherwise. */
const usual = { access: 'user', since: 1, params: {}, reply: {}, refusals: [] } as const

/** The code for callers without the role. */
const roleRefusal: ErrorCode = 'UNAUTHORIZED_PRINCIPAL'

type Derived = Pick<Endpoint, 'method' | 'path'>

export type Definition = Omit<Endpoint, keyof typeof usual | keyof Derived> &
  Partial<Endpoint> & {
    /** Its method and its path, as in `GET /messages`. */
    readonly route: `${Method} /${string}`
  }

type Completed<E extends Definition> = Omit<typeof usual, keyof E> & Omit<E, 'route'> & Derived

/**
 * Keeps the literal types of what it is given. The fields that all endpoints have come first, in one order: V8 makes such objects from one
 * layout, and a start makes all of them.
 */
export function endpoint<const E extends Definition>(definition: E): Completed<E> {
  const {
    id,
    route,
    access = usual.access,
    since = usual.since,
    summary,
    params = usual.params,
    reply = usual.reply,
    refusals = usual.refusals,
    cli,
    ...special
  }: Definition = definition
  const [method, path] = route.split(' ') as [Method, string]
  const isForRole = special.callers === 'administrators' || special.callers === 'owners'
  return {
    id,
    method,
    path,
    access,
    since,
    summary,
    params,
    reply,
    refusals: isForRole ? [roleRefusal, ...refusals] : refusals,
    cli: completeCli(cli, method, params, reply),
    ...special,
  } as unknown as Completed<E>
}

function completeCli(cli: CliForm, method: Method, params: Endpoint['params'], reply: Endpoint['reply']): CliForm {
  const args = cli.args ?? Object.keys(params).filter(name => isArgument(params[name]!))
  const fields = Object.keys(reply)
  const shows = cli.shows ?? (method === 'GET' && fields.length === 1 ? fields[0] : undefined)
  return shows === undefined ? { ...cli, args } : { ...cli, args, shows }
}

function isArgument({ presence }: Param): boolean {
  return presence === 'path' || presence === 'required'
}

/** Where the paths of an endpoint begin. */
export function baseOf({ access }: Pick<Endpoint, 'access'>): string {
  return access === 'control' ? '/control/v1' : '/api/v1'
}

export type Endpoints = Readonly<Record<string, Endpoint>>

/** One resource in a table of contents. */
export interface Page {
  readonly about: string
  /** First words of its subcommands. */
  readonly words: readonly string[]
  readonly load: () => Promise<Endpoints>
}

/** The endpoints of these pages that can be called; natterd sends the others itself. */
export async function loadEndpoints(pages: readonly Page[]): Promise<Endpoint[]> {
  const loaded = await Promise.all(pages.map(page => page.load()))
  return loaded.flatMap(page => Object.values(page)).filter(({ served }) => served !== 'outgoing')
}

type Present<P> = { [K in keyof P]: P[K] extends Param<TSchema, 'optional'> ? never : K }[keyof P]

/** What a command is given: absent optional parameters have no key. */
export type ParamsOf<E extends { params: Readonly<Record<string, Param>> }> = {
  -readonly [K in Present<E['params']>]: Static<E['params'][K & keyof E['params']]['shape']>
} & {
  -readonly [K in Exclude<keyof E['params'], Present<E['params']>>]?: Static<E['params'][K]['shape']>
}

type Needed<P> = { [K in keyof P]: P[K] extends Param<TSchema, 'required' | 'path'> ? K : never }[keyof P]

/** What a caller sends: parameters with a default may be left out. */
export type SentOf<E extends { params: Readonly<Record<string, Param>> }> = {
  [K in Needed<E['params']>]: Static<E['params'][K & keyof E['params']]['shape']>
} & {
  [K in Exclude<keyof E['params'], Needed<E['params']>>]?: Static<E['params'][K]['shape']> | undefined
}

type Optionals<R> = { [K in keyof R]: R[K] extends TOptional<TSchema> ? K : never }[keyof R]

/** What a command replies. */
export type ReplyOf<E extends { reply: Readonly<Record<string, TSchema>> }> = {
  [K in Exclude<keyof E['reply'], Optionals<E['reply']>>]: Static<E['reply'][K]>
} & {
  [K in Optionals<E['reply']>]?: Static<E['reply'][K & keyof E['reply']]> | undefined
}
