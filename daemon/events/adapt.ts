// One announcement, in the form one kind of client asked for. Clients that asked for the same things share one
// `Client` object, so an event is turned into text once per form and not once per queue.

import type { Capability } from '../api/capabilities.ts'
import type { QueueRegistration } from '../domain/model/facts/queues.ts'
import type { Announcement, Client } from '../domain/resource.ts'

const clients = new Map<string, Client>()

export function clientOf(registration: Omit<QueueRegistration, 'id' | 'userId'>): Client {
  const { capabilities, eventTypes, applyMarkdown, clientGravatar, slimPresence, includeSubscribers } = registration
  const declared = [...capabilities].sort() as Capability[]
  const types = eventTypes && [...eventTypes].sort()
  const key = JSON.stringify([declared, types, applyMarkdown, clientGravatar, slimPresence, includeSubscribers])
  let client = clients.get(key)
  if (!client) {
    client = {
      capabilities: new Set(declared),
      eventTypes: types && new Set(types),
      applyMarkdown,
      clientGravatar,
      slimPresence,
      includeSubscribers,
    }
    clients.set(key, client)
  }
  return client
}

/** Turns one announcement into text, form by form. */
export class Adapter {
  readonly #announcement: Announcement
  readonly #forms = new Map<Client, Map<object | undefined, readonly string[]>>()

  constructor(announcement: Announcement) {
    this.#announcement = announcement
  }

  /** JSON texts of the events from after the opening brace, for the id to be set before it. */
  textsFor(client: Client, userId: number): readonly string[] {
    return this.textsWith(client, this.#announcement.personal?.(userId))
  }

  /** The same with these fields in place of those of a person. */
  textsWith(client: Client, personal: object | undefined): readonly string[] {
    let forms = this.#forms.get(client)
    if (!forms) {
      forms = new Map()
      this.#forms.set(client, forms)
    }
    let texts = forms.get(personal)
    if (!texts) {
      texts = this.#texts(client, personal)
      forms.set(personal, texts)
    }
    return texts
  }

  #texts(client: Client, personal: object | undefined): string[] {
    const { event } = this.#announcement
    const form = typeof event === 'function' ? event(client) : event
    const events = form === null ? [] : Array.isArray(form) ? form : [form]
    return events
      .filter(({ type }) => !client.eventTypes || client.eventTypes.has(type))
      .map(one => JSON.stringify(personal ? { ...one, ...personal } : one).slice(1))
  }
}
