// One history, lived by clients that hear of it and checked against `register` after every step.

import assert from 'node:assert/strict'
import { type Capability, capabilities } from '../../daemon/api/capabilities.ts'
import type { Scene, Step } from './act.ts'
import { commandOf, furnished } from './histories.ts'
import { World } from './in-process.ts'
import { prepared, StateClient, view } from './state-client.ts'

const all = Object.keys(capabilities) as Capability[]
const sets: readonly (readonly Capability[])[] = [
  all,
  [],
  ['archived_channels', 'user_settings_object', 'empty_topic_name'],
  ['include_deactivated_groups', 'bulk_message_deletion', 'user_list_incomplete', 'notification_settings_null'],
]

export interface ClientKind {
  readonly title: string
  readonly declared: readonly Capability[]
  readonly only: 'people' | undefined
}

/** What clients can declare, in an organization where guests know of all users and in one where they do not. */
export const clientKinds: readonly ClientKind[] = sets.flatMap(declared => {
  const which = declared.length === all.length ? 'all' : declared.join(', ') || 'no'
  const title = `for clients with ${which} capabilities`
  return [
    { title, declared, only: undefined },
    { title: `${title}, where guests know of some people only`, declared, only: 'people' as const },
  ]
})

/** `people`: only what decides who knows of whom, and guests know of some people only. */
export function live(declared: readonly Capability[], steps: readonly Step[], only?: 'people'): void {
  const scene = furnished(new World(), only)
  const { world } = scene
  const clients = new Map(scene.people.map(user => [user.id, new StateClient(world, user, declared)]))
  let step = ''
  world.onNews = (userId, announcement) => {
    const client = clients.get(userId)
    try {
      client?.hear(announcement)
    } catch (error) {
      throw new Error(`after ${step}, user ${userId}: ${(error as Error).message}`)
    }
  }
  for (const one of steps) {
    const command = commandOf(scene, one)
    if (!command) continue
    const { actor, endpoint, params } = command
    step = `${endpoint} ${JSON.stringify(params)} by ${actor.id}`
    world.now += 1000
    if (world.refusal(actor, endpoint, params) !== undefined) continue
    for (const { id } of scene.people)
      if (world.user(id).active && !clients.has(id)) clients.set(id, new StateClient(world, world.user(id), declared))
    compare(scene, clients, step, endpoint === 'update-message' && params.stream_id !== undefined)
  }
}

function compare({ world }: Scene, clients: Map<number, StateClient>, step: string, isMove: boolean): void {
  for (const client of clients.values()) {
    const user = world.user(client.userId)
    // An account that cannot call has no client, and starts with a new one when it can again.
    if (!user.active) {
      clients.delete(user.id)
      continue
    }
    const given = world.register(user, client.capabilities)
    if (isMove) client.figures.learnMoved(given)
    client.figures.check(given, step)
    const now = view(prepared(given))
    const believed = view({ ...client.state, people: { ...client.state.people } })
    // Guests who knew the user hear that the account is gone, not to forget it; a new client learns nothing of it.
    for (const id of Object.keys(believed.people))
      if (!world.user(Number(id)).active && (now.people[id]?.stranger ?? true)) {
        delete believed.people[id]
        delete now.people[id]
      }
    for (const name of Object.keys(now))
      assert.deepEqual(believed[name], now[name], `${name} of user ${user.id} after ${step}`)
  }
}
