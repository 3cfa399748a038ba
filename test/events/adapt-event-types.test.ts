// Every event type and op: how it comes about, who hears of it, which fields it has. One story on one daemon.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { capabilities } from '../../daemon/api/capabilities.ts'
import { eventTypes } from '../../daemon/api/event-types.ts'
import { events } from '../../daemon/api/events.ts'
import { type Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { aboutPeople } from '../support/event-story/people.ts'
import { aboutOneself, everyEvent } from '../support/event-story/personal.ts'
import { aboutPlaces } from '../support/event-story/places.ts'
import { at, type Name, names, people } from '../support/event-story/row.ts'
import { setStage } from '../support/event-story/stage.ts'

type Heard = Record<string, any>

/** A queue whose events are taken away as they come. */
class Listener {
  readonly #caller: Caller
  readonly #queueId: string
  #last = -1

  private constructor(caller: Caller, queueId: string) {
    this.#caller = caller
    this.#queueId = queueId
  }

  static async on(caller: Caller, options: object): Promise<Listener> {
    const { queue_id } = await caller.call(events.register, { fetch_event_types: [], ...options })
    return new Listener(caller, queue_id)
  }

  async hear(): Promise<Heard[]> {
    const params = { queue_id: this.#queueId, last_event_id: this.#last, dont_block: true }
    const { events: heard } = await this.#caller.call(events.get, params)
    this.#last = heard.at(-1)?.id ?? this.#last
    return heard
  }
}

const everything = {
  client_capabilities: Object.fromEntries(Object.keys(capabilities).map(name => [name, true])),
  slim_presence: true,
}
let daemon: TestDaemon
const modern = new Map<Name, Listener>()
const plain = new Map<Name, Listener>()

sharedDaemon({ flags: ['--durability', 'os'] }, async started => {
  daemon = started
  await setStage(daemon)
  for (const name of names) {
    modern.set(name, await Listener.on(people[name], everything))
    plain.set(name, await Listener.on(people[name], {}))
  }
})

function dig(value: any, path: string): any {
  return path.split('.').reduce((inner, step) => inner[step], value)
}

function keys(value: object): string {
  return Object.keys(value)
    .filter(key => !['id', 'type', 'op'].includes(key))
    .sort()
    .join(' ')
}

const sorted = (fields: string) =>
  fields
    .split(' ')
    .filter(field => !['', 'id', 'type'].includes(field))
    .sort()
    .join(' ')

const story = [...aboutPeople, ...aboutPlaces, ...aboutOneself]

describe('events', () => {
  // Elsewhere: heartbeat, which is about queues, and realm/deactivated, which is the end of the story. Not at all:
  // restart, web_reload_client, has_zoom_token and push_device, of which there is nothing.
  test('every type and op there is has its place in the story', () => {
    assert.deepEqual([...new Set(story.map(({ event }) => event))].sort(), [...everyEvent].sort())
  })

  test('every type of the story can be registered for, and no other', () => {
    const told = new Set(everyEvent.map(event => event.split('/')[0]!))
    assert.deepEqual([...eventTypes], [...told, 'heartbeat'].sort())
  })

  for (const [index, { event, by, endpoint, params, heard, fields, plain: older, keep, inner }] of story.entries())
    test(`${index + 1}. ${event} after ${endpoint.method} ${endpoint.path}`, async () => {
      await Promise.all([...modern.values(), ...plain.values()].map(listener => listener.hear()))
      const reply = await people[by].call(endpoint, params() as never)
      if (keep) at[keep[0]] = dig(reply, keep[1])
      const told = async (listener: Listener) =>
        (await listener.hear()).filter(({ type, op }) => (op === undefined ? type : `${type}/${op}`) === event)
      let hearers = ''
      for (const [name, listener] of modern) {
        const [first] = await told(listener)
        if (!first) continue
        hearers += name
        assert.equal(keys(first), sorted(fields))
        if (inner) assert.equal(keys(dig(first, inner[0])), sorted(inner[1]))
      }
      assert.equal(hearers, heard, 'who hears of it')
      for (const [name, listener] of plain) {
        const [first] = await told(listener)
        if (older === '-') assert.equal(first, undefined, `${name} hears of it without the capability`)
        else if (older === undefined) assert.equal(first !== undefined, heard.includes(name), `plain ${name}`)
        else if (first && older !== event) assert.equal(keys(first), sorted(older))
        if (older && older !== '-' && name === by) assert.ok(first, 'the older form is sent')
      }
    })
})
