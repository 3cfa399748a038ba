// The description of one trigger: the call that makes an event happen, and the account that makes it. The tables of kinds use it.

import type { Endpoint } from '../../../../daemon/api/define.ts'
import type { Role, Stage } from './stage.ts'

export interface Trigger {
  readonly about: string
  readonly by: Role
  readonly endpoint: Endpoint
  /** A function prepares what the value refers to, and is not called if the value is overridden. */
  readonly params: Readonly<Record<string, unknown>>
  /** The type of the event, and its op if it has one; the kind itself if absent. */
  readonly event?: string
  /** The account that receives the event, if it is not `me`. */
  readonly to?: Role
  /** Sent only to clients that declare no capabilities. */
  readonly older?: true
  /** Undoes the change, if it would prevent events of other kinds. */
  readonly after?: (stage: Stage) => Promise<unknown>
}

type More = Pick<Trigger, 'event' | 'to' | 'older' | 'after'>

function triggerBy(role: Role) {
  return (about: string, endpoint: Endpoint, params: Trigger['params'], more: More = {}): Trigger => {
    return { about, by: role, endpoint, params, ...more }
  }
}

/** Triggers by the account that makes the call. */
export const by = {
  me: triggerBy('me'),
  other: triggerBy('other'),
  owner: triggerBy('owner'),
  newcomer: triggerBy('newcomer'),
}

export type Triggers = Readonly<Record<string, Trigger>>

/** Values of params: a name that nothing has yet, and a list with the ID of an account. */
export const unique = (word: string) => (stage: Stage) => stage.name(word)
export const idsFor = (role: Role) => async (stage: Stage) => [await stage.id(role)]
