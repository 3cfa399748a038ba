// One announcement, in the form one kind of client asked for. Clients that asked for the same things share one
// `Client` object, so an event is turned into text once per form and not once per queue.

import type { Capability } from '../api/capabilities.ts'
import type { QueueRegistration } from '../domain/facts.ts'
import type { Announcement } from '../domain/resource.ts'

/** Everything about a registration that can change the form of an event. */
export interface Client {
  readonly capabilities: ReadonlySet<Capability>
  readonly applyMarkdown: boolean
  readonly clientGravatar: boolean
  readonly slimPresence: boolean
  readonly includeSubscribers: 'true' | 'false' | 'partial'
}

const clients = new Map<string, Client>()

export function clientOf(registration: Omit<QueueRegistration, 'id' | 'userId'>): Client {
  const { capabilities, applyMarkdown, clientGravatar, slimPresence, includeSubscribers } = registration
  const sorted = [...capabilities].sort()
  const key = JSON.stringify([sorted, applyMarkdown, clientGravatar, slimPresence, includeSubscribers])
  let client = clients.get(key)
  if (!client) {
    client = {
      capabilities: new Set(sorted as Capability[]),
      applyMarkdown,
      clientGravatar,
      slimPresence,
      includeSubscribers,
    }
    clients.set(key, client)
  }
  return client
}

/** JSON text of the event from after the opening brace, for the id to be set before it; null when not for this client. */
export function adapt(announcement: Announcement, client: Client): string | null {
  if (announcement.needs && !client.capabilities.has(announcement.needs)) return null
  return JSON.stringify(announcement.event).slice(1)
}
