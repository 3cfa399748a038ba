// A request and its answer, as far as the edge of the API is concerned: the common part of what node:http and the direct
// server give, and where the control plane can watch and interrupt a call.

import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { Endpoint } from '../api/define.ts'
import type { Dialect } from '../domain/model/rows/queues.ts'
import type { User } from '../domain/model/state.ts'
import type { Refusal } from '../domain/refusal.ts'
import type { Hold } from './held-bytes.ts'
import type { ObservedCall } from './observed-call.ts'
import type { FieldMap } from './parameters.ts'

export interface RequestHead {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<IncomingHttpHeaders>
  readonly socket: { readonly remoteAddress?: string | undefined }
}

export interface Response {
  /** Replaces the real time in the header Date, where the response writes that header itself. */
  date?: (() => string | undefined) | undefined
  readonly statusCode: number
  readonly headersSent: boolean
  readonly destroyed: boolean
  readonly socket: Socket | null
  /** Headers are flat: name, value, name, value. */
  writeHead(status: number, headers: string[]): unknown
  write(chunk: Uint8Array, sent: () => void): unknown
  end(body?: string | Uint8Array): unknown
  once(event: 'close', listener: () => void): unknown
  destroy(): unknown
}

/** An answer to be written. */
export interface Answering {
  readonly raw: Response
  readonly head: boolean
  /** Further headers, flat: name, value, name, value. */
  readonly headers: string[]
  /** The names that the client knows. */
  readonly dialect: Dialect
  readonly watched?: WatchedCall | undefined
  readonly observed?: ObservedCall | undefined
  /** What the call holds. A poll that waits for events holds nothing: it keeps none of its parameters. */
  hold?: Hold
}

/** Answering requests together with the other daemons of a cluster. */
export interface Forwarding {
  /** Whether another daemon has to answer calls with this method. */
  mustForward(method: string): boolean
  /** Waits until this daemon has everything that was in the log at the time of the call. False when that takes too long. */
  catchUp(): Promise<boolean>
  /** Has the call answered by that daemon. */
  forward(call: ForwardedCall, answering: Answering): Promise<void>
  /** Resolves when the calls that were sent on are answered, or have taken too long. */
  settled(): Promise<void>
  /** Refuses a forwarded request, and returns false, if this daemon does not lead; otherwise adds the newest position to its answer. */
  admit(head: RequestHead, response: Response): boolean
}

/** A call that this daemon has routed, of a caller that it knows, with all of its body. */
export interface ForwardedCall {
  readonly method: string
  /** Composed from the route and its parameters, with the query. */
  readonly path: string
  readonly headers: Readonly<IncomingHttpHeaders>
  /** The address of the client. */
  readonly ip: string
  /** User ID, that of its owner for a bot; undefined for calls that anyone may make. */
  readonly account: number | undefined
  readonly body: WholeBody | undefined
}

/** A body that has arrived, in memory or on disk. Can be read more than once. */
export interface WholeBody {
  readonly size: number
  /** Bytes of it that are in memory. */
  readonly held: number
  open(): Buffer | Readable
}

/** A call that sent signals or reported presence: the other daemons of a cluster make it again, for their own queues. */
export interface RepeatedCall {
  readonly endpoint: string
  readonly actor: number
  readonly params: Readonly<Record<string, unknown>>
  readonly now: number
  readonly client: string
}

export interface Watch {
  arrive(request: ArrivingCall): WatchedCall
}

export interface ArrivingCall {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<IncomingHttpHeaders>
}

export interface KnownCall {
  readonly endpoint: Endpoint
  readonly actor: User | undefined
  readonly fields: FieldMap
  /** The same before names of another dialect were translated. */
  readonly sent: FieldMap
  readonly path: Readonly<Record<string, string>>
  readonly answering: Answering
}

export interface WatchedCall {
  /** The account is known, and nothing else of the call yet: it may still be refused without its body. */
  identified(endpoint: Endpoint, actor: User): void
  /** Endpoint, account and parameters are known. Resolves with false when the call has been answered and must go no further. */
  admit(call: KnownCall): Promise<boolean>
  /** The parameters as the endpoint will see them. */
  understood(params: Readonly<Record<string, unknown>>): void
  /** The call is a poll that waits for events. */
  pollWaits(): void
  /** The call is refused; the answer follows. */
  refused(refusal: Refusal): void
  /** Called before an answer is written. True when it has written the answer itself. */
  answer(to: Answering, status: number, body: string): boolean
}
