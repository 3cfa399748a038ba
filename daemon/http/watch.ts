// Where calls can be watched and interrupted: the control plane uses it for its request log and its faults.

import type { Endpoint } from '../api/define.ts'
import type { User } from '../domain/model/state.ts'
import type { Answering } from './answer.ts'
import type { FieldMap } from './parameters.ts'

export interface Watch {
  arrive(method: string, path: string): WatchedCall
}

export interface KnownCall {
  readonly endpoint: Endpoint
  readonly actor: User | undefined
  readonly fields: FieldMap
  readonly path: Readonly<Record<string, string>>
  readonly answering: Answering
}

export interface WatchedCall {
  /** It is known who asks for what. Resolves to false when the call has been dealt with and must go no further. */
  admit(call: KnownCall): Promise<boolean>
  /** The parameters as the endpoint will see them. */
  understood(params: Readonly<Record<string, unknown>>): void
  /** An answer is about to be written. True: that has been seen to. */
  answer(to: Answering, status: number, body: string): boolean
}
