// A slot: one place for a record that has a value, what writes its n-th value, and where it is read.

import type { Endpoint } from '../../../../daemon/api/define.ts'

/** What `register` reports, with what other calls list. */
export type World = Readonly<Record<string, any>>

export interface Call {
  readonly endpoint: Endpoint
  readonly params: Readonly<Record<string, unknown>>
  /** The account that asks; the keeper if absent. */
  readonly as?: 'keeper' | 'bot' | 'founder'
  /** With it the call can be made again after a crash, and happens once. */
  readonly key?: string
}

export interface Slot {
  readonly name: string
  /** Asks for the n-th value, from 1; the world is the newest that was read. */
  write(n: number, world: World): Call
  /** What is read when the n-th value is there; 0 is what it begins with. */
  value(n: number): string
  read(world: World): string
  /** Whether a write needs the world as it is now. */
  readonly looksUp?: boolean
}

/** A record whose text is the number of the value. */
export function text(name: string, write: (n: string, world: World) => Call, read: (world: World) => string): Slot {
  return { name, write: (n, world) => write(String(n), world), value: String, read }
}

/** Records of which one more is made each time. */
export function growing(name: string, write: (n: number) => Call, read: (world: World) => number): Slot {
  return { name, write, value: String, read: world => String(read(world)) }
}

/** A record that is written again and again, and looks the same afterwards. */
export function steady(name: string, write: (n: number) => Call, read: (world: World) => boolean): Slot {
  return { name, write, value: () => presence(true), read: world => presence(read(world)) }
}

/** What the first write does, and further ones do again. */
export function once(name: string, write: () => Call, read: (world: World) => boolean): Slot {
  return { ...toggle(name, write, read), value: n => presence(n > 0) }
}

/** Something that is there or not. */
export function toggle(
  name: string,
  write: (yes: boolean, world: World) => Call,
  read: (world: World) => boolean,
): Slot {
  return {
    name,
    write: (n, world) => write(n % 2 === 1, world),
    value: n => presence(n % 2 === 1),
    read: w => presence(read(w)),
  }
}

/** A toggle that needs the ID of something, or everything that is there. */
export function looksUp(...args: Parameters<typeof toggle>): Slot {
  return { ...toggle(...args), looksUp: true }
}

/** Of records that have an order: whether the one with ID 1 comes first. */
export function order(name: string, reorder: (ids: number[]) => Call, ids: (world: World) => readonly number[]): Slot {
  const write = (yes: boolean, world: World) => {
    const others = ids(world).filter(id => id !== 1)
    return reorder(yes ? [...others, 1] : [1, ...others])
  }
  return looksUp(name, write, world => ids(world)[0] !== 1)
}

export function call(endpoint: Endpoint, params: Call['params']): Call {
  return { endpoint, params }
}

function presence(yes: boolean): string {
  return yes ? 'there' : 'not there'
}

export function by(list: readonly any[], id: number): any {
  return list.find(one => one.id === id)
}

export function person(world: World, id: number, list = 'realm_users'): any {
  return world[list].find((one: any) => one.user_id === id)
}

export function group(world: World, name: string): any {
  return world.realm_user_groups.find((one: any) => one.name === name)
}

export function lastWord(name: string): string {
  return name.split(' ').at(-1)!
}

export function everyChannel(world: World): any[] {
  return [world.subscriptions, world.unsubscribed, world.never_subscribed].flat()
}

export function channelOf(world: World, id: number): any {
  return everyChannel(world).find(one => one.stream_id === id)
}
