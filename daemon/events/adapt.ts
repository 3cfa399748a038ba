// One announcement, in the form one kind of client asked for. Clients that asked for the same things share one
// `Client` object, so an event is turned into text once per form and not once per queue.

import type { Capability } from '../api/capabilities.ts'
import { getLevel } from '../api/levels/level.ts'
import { defaultLevel } from '../api/levels/releases.ts'
import type { QueueRegistration } from '../domain/model/rows/queues.ts'
import type { Announcement, Client, Event } from '../domain/resource.ts'
import { type EventText, writeEvent } from './event-text.ts'

type Declared = Omit<QueueRegistration, 'id' | 'userId'>

/** The types whose absence changes the form of another event. All others are filtered queue by queue. */
const standIns = ['muted_topics', 'user_topic']

/** What each capability and parameter of register changes. The domain knows clients by this form only, never by a capability. */
export function buildClient(registration: Declared): Client {
  const { capabilities, eventTypes, applyMarkdown, clientGravatar, slimPresence, includeSubscribers } = registration
  const has = (capability: Capability) => capabilities.includes(capability)
  return {
    level: getLevel(registration.level ?? defaultLevel),
    emptyTopic: has('empty_topic_name'),
    bulkDeletion: has('bulk_message_deletion'),
    channelTyping: has('stream_typing_notifications'),
    inheritedNotifications: has('notification_settings_null'),
    settingsObject: has('user_settings_object'),
    linkifierTemplates: has('linkifier_url_template'),
    incompleteUserList: has('user_list_incomplete'),
    deactivatedGroups: has('include_deactivated_groups'),
    archivedChannels: has('archived_channels'),
    modernPresence: has('simplified_presence_events'),
    singleEmoji: has('individual_emoji_changes'),
    eventTypes: eventTypes && new Set(eventTypes.filter(type => standIns.includes(type))),
    applyMarkdown,
    clientGravatar,
    slimPresence,
    includeSubscribers,
  }
}

/** The clients of the queues there are, one object for each form; a form without queues is forgotten. */
export class Clients {
  readonly #shared = new Map<string, { readonly client: Client; uses: number }>()

  get size(): number {
    return this.#shared.size
  }

  take(registration: Declared): Client {
    const key = writeKey(registration)
    const known = this.#shared.get(key)
    if (known) {
      known.uses++
      return known.client
    }
    const client = buildClient(registration)
    this.#shared.set(key, { client, uses: 1 })
    return client
  }

  release(registration: Declared): void {
    const key = writeKey(registration)
    const known = this.#shared.get(key)
    if (known && --known.uses === 0) this.#shared.delete(key)
  }
}

function writeKey(registration: Declared): string {
  const { capabilities, eventTypes, applyMarkdown, clientGravatar, slimPresence, includeSubscribers } = registration
  const types = eventTypes && standIns.filter(type => eventTypes.includes(type))
  return JSON.stringify([
    [...capabilities].sort(),
    types,
    applyMarkdown,
    clientGravatar,
    slimPresence,
    includeSubscribers,
    registration.level ?? defaultLevel,
  ])
}

/** One event of a form; turned into text when the first queue wants its type. */
export class FormedEvent {
  readonly type: string
  readonly #event: Event
  readonly #personal: object | undefined
  readonly #texts: Map<EventText, EventText>
  #text: EventText | undefined

  /** `texts` are those of other forms, most of which are the same. */
  constructor(event: Event, personal: object | undefined, texts: Map<EventText, EventText>) {
    this.type = event.type
    this.#event = event
    this.#personal = personal
    this.#texts = texts
  }

  get text(): EventText {
    this.#text ??= this.#share(writeEvent(this.#personal ? { ...this.#event, ...this.#personal } : this.#event))
    return this.#text
  }

  /** One text for all forms that are written alike: there can be thousands, and a text can have 300,000 characters. */
  #share(text: EventText): EventText {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    this.#texts.set(text, text)
    return text
  }
}

/** Turns one announcement into text, form by form. */
export class Adapter {
  readonly #announcement: Announcement
  readonly #forms = new Map<Client, Map<object | undefined, readonly FormedEvent[]>>()
  readonly #texts = new Map<EventText, EventText>()
  /** Events that are the same for several forms, as they were written for one of them. */
  readonly #shared = new Map<Event, Map<Client['level'], readonly FormedEvent[]>>()

  constructor(announcement: Announcement) {
    this.#announcement = announcement
  }

  /** The texts of all events, for this person. */
  textsFor(client: Client, userId: number): readonly EventText[] {
    return this.eventsWith(client, this.#announcement.personal?.(userId)).map(({ text }) => text)
  }

  /** The events, with these fields as those of a person. */
  eventsWith(client: Client, personal: object | undefined): readonly FormedEvent[] {
    let forms = this.#forms.get(client)
    if (!forms) {
      forms = new Map()
      this.#forms.set(client, forms)
    }
    let events = forms.get(personal)
    if (!events) {
      events = this.#form(client, personal)
      forms.set(personal, events)
    }
    return events
  }

  #form(client: Client, personal: object | undefined): FormedEvent[] {
    const { event } = this.#announcement
    const form = typeof event === 'function' ? event(client) : event
    const events: readonly Event[] = form === null ? [] : Array.isArray(form) ? form : [form]
    return events.flatMap(one => (personal ? this.#speak(one, client, personal) : this.#speakOnce(one, client)))
  }

  /** A list of all emoji takes milliseconds to write, and an account with its bots can have queues in thousands of forms. */
  #speakOnce(event: Event, client: Client): readonly FormedEvent[] {
    const byLevel = this.#shared.get(event) ?? new Map<Client['level'], readonly FormedEvent[]>()
    this.#shared.set(event, byLevel)
    const formed = byLevel.get(client.level) ?? this.#speak(event, client, undefined)
    byLevel.set(client.level, formed)
    return formed
  }

  #speak(event: Event, { level }: Client, personal: object | undefined): readonly FormedEvent[] {
    const spoken = level.event(event)
    return spoken ? [new FormedEvent(spoken, personal, this.#texts)] : []
  }
}
