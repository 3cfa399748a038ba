// events.md: every event, when it is sent, who receives it, and an example. When and the call are those of `natter trigger`, which makes each happen.

import { triggers } from '../../cli/commands/test/trigger/index.ts'
import { eventTypes } from '../../daemon/api/event-types.ts'
import examples from './event-examples.json' with { type: 'json' }
import { anchor, code, codeBlock, page, table } from './markdown.ts'

type Example = { readonly type: string; readonly op?: string }

/** By type: the accounts that receive it. */
const audiences: Readonly<Record<(typeof eventTypes)[number], string>> = {
  alert_words: 'the account itself',
  attachment: 'the account that uploaded the file',
  channel_folder: 'every account',
  custom_profile_fields: 'every account',
  default_stream_groups: 'every account except guests',
  default_streams: 'every account except guests',
  delete_message: 'the accounts that have the message in their history, and those that can read its channel',
  drafts: 'the account itself',
  heartbeat: 'every queue whose poll waited for 45 to 55 seconds',
  invites_changed: 'administrators, and the account that invited',
  message: 'the accounts that receive the message, and queues with `all_public_streams` or a narrow that it fits',
  muted_topics: 'the account itself; for clients that do not ask for `user_topic`',
  muted_users: 'the account itself',
  navigation_view: 'the account itself',
  onboarding_steps: 'the account itself',
  presence: 'every account that can see the user, unless the user hides it',
  reaction: 'the accounts that have the message in their history, and those that can read its channel',
  realm: 'every account',
  realm_bot: 'the owner of the bot, and administrators',
  realm_domains: 'every account',
  realm_emoji: 'every account',
  realm_export: 'administrators',
  realm_export_consent: 'administrators',
  realm_linkifiers: 'every account',
  realm_playgrounds: 'every account',
  realm_user: 'every account that can see the user',
  realm_user_settings_defaults: 'every account',
  reminders: 'the account itself',
  saved_snippets: 'the account itself',
  scheduled_messages: 'the account itself',
  stream: 'the accounts that know of the channel',
  submessage: 'the accounts that have the message in their history',
  subscription: 'the account itself; `peer_add` and `peer_remove`: the accounts that may see who follows the channel',
  typing: 'the recipients of the message that is being written',
  typing_edit_message: 'the recipients of the message that is being edited',
  update_display_settings: 'the account itself; for clients without `user_settings_object`',
  update_global_notifications: 'the account itself; for clients without `user_settings_object`',
  update_message: 'the accounts that have the message in their history, and those that can read its channel',
  update_message_flags: 'the account itself',
  user_group: 'every account',
  user_settings: 'the account itself',
  user_status: 'every account that can see the user',
  user_topic: 'the account itself',
}

export function eventsPage(): string {
  return page(
    'Events',
    `What a client reads from its event queue: \`POST /register\` opens one, \`GET /events\` polls it ([api.md](api.md#get-events)). \`event_types\` of
\`POST /register\` takes the types below. Each event has an \`id\` that grows within its queue. \`natter trigger KIND\` makes each happen by real calls, and
\`natter tail --type TYPE\` prints them. Fields may be added at any time; ignore those that you do not know.`,
    table(
      ['Type', 'Ops', 'Received by'],
      eventTypes.map(type => [`[${type}](#${anchor(type)})`, opsOf(type).map(code).join(', '), audiences[type]]),
    ),
    ...eventTypes.flatMap(typeParts),
  )
}

function typeParts(type: (typeof eventTypes)[number]): string[] {
  const kinds = kindsOf(type)
  const rows = kinds.map(kind => {
    const { about, endpoint } = triggers[kind]!
    return [code(kind), about, code(`${endpoint.method} ${endpoint.path}`)]
  })
  return [
    `## ${type}`,
    `Received by ${audiences[type]}.`,
    kinds.length === 0 ? 'It has no fields but `type` and `id`.' : table(['Kind', 'For example when', 'By'], rows),
    ...kinds.map(kind => codeBlock('json', JSON.stringify(exampleOf(kind), null, 2))),
  ]
}

function kindsOf(type: string): string[] {
  return Object.keys(triggers).filter(kind => exampleOf(kind).type === type)
}

function opsOf(type: string): string[] {
  return [...new Set(kindsOf(type).flatMap(kind => exampleOf(kind).op ?? []))]
}

function exampleOf(kind: string): Example {
  const example = (examples as Readonly<Record<string, Example>>)[kind]
  if (!example) throw new Error(`no example of the event ${kind}: run npx tsx docs/event-examples.ts`)
  return example
}
