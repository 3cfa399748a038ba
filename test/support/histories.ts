// Random histories: commands of many people against one organization, chosen by numbers so that they shrink well.

import fc from 'fast-check'
import { type Role, roles } from '../../daemon/domain/model/roles.ts'
import type { User } from '../../daemon/domain/model/state.ts'
import type { Act, Scene, Step } from './act.ts'
import type { World } from './in-process.ts'
import { moreActs } from './more-acts.ts'

const number = fc.nat({ max: 9 })
const step = fc.record({ what: fc.nat({ max: 999 }), who: number, a: number, b: number, yes: fc.boolean() })

export function histories(length: number): fc.Arbitrary<Step[]> {
  return fc.array(step, { minLength: 1, maxLength: length, size: 'max' })
}

/** Two administrators, three members, two guests and a bot; four channels; two groups. */
export function furnished(world: World, only?: 'people'): Scene {
  const standing: Role[] = [roles.administrator, roles.moderator, roles.member, roles.member, roles.guest, roles.guest]
  const people = [world.owner, ...standing.map(role => world.join(role))]
  const ids = people.map(user => user.id)
  const make = (name: string, subscribers: number[], more: object = {}) =>
    world.run(world.owner, 'create-channel', { name, subscribers, ...more }).id as number
  const channels = [
    make('garden', ids.slice(0, 6)),
    make('vault', ids.slice(0, 4), { invite_only: true, history_public_to_subscribers: false }),
    make('cellar', ids.slice(2, 4), { invite_only: true, history_public_to_subscribers: true }),
    make('pond', []),
  ]
  const groups = ['cooks', 'bakers'].map(
    name =>
      world.run(world.owner, 'create-user-group', { name, description: '', members: [ids[2]] }).group_id as number,
  )
  world.run(world.owner, 'create-custom-profile-field', { field_type: 1, name: 'Phone' })
  if (only) {
    const members = world.state.groups.find('name', 'role:members')!.id
    world.run(world.owner, 'update-realm', { can_access_all_users_group: { new: members } })
  }
  return { world, people, channels, groups, acts: only ? aboutPeople : acts }
}

const words = ['', 'beans', 'Beans', 'peas', '✔ beans', 'general chat', 'x', 'y', 'z', 'w']
const pick = <T>(list: readonly T[], index: number): T => list[index % list.length]!
const person = ({ people }: Scene, index: number) => pick(people, index).id
const topic = (index: number) => pick(words.slice(0, 5), index)
const recent = ({ world }: Scene, back: number) => Math.max(1, world.state.messages.lastId - back)
const draft = (text: string) => ({ type: '', to: [], topic: '', content: `draft ${text}` })

/** What decides who knows of whom, and what they know. */
const aboutPeople: readonly Act[] = [
  (scene, { a, b }) => [
    'send-message',
    { type: 'direct', to: [...new Set([person(scene, a), person(scene, b)])], content: 'psst' },
  ],
  (scene, { a }) => ['delete-message', { message_id: recent(scene, a) }],
  (scene, { a, b, yes }) => [
    'subscribe',
    { subscriptions: [{ name: nameOf(scene, a) }], ...(yes && { principals: [person(scene, b)] }) },
  ],
  (scene, { a, b, yes }) => [
    'unsubscribe',
    { subscriptions: [nameOf(scene, a)], ...(yes && { principals: [person(scene, b)] }) },
  ],
  (scene, { a, b }) => ['update-user', { user_id: person(scene, a), role: pick([100, 200, 300, 400, 600], b) }],
  (scene, { a, b }) => ['update-user', { user_id: person(scene, a), full_name: `Name ${b}` }],
  (scene, { a, yes }) => [yes ? 'deactivate-user' : 'reactivate-user', { user_id: person(scene, Math.max(1, a)) }],
  (_scene, { a, yes }) => [
    'update-settings',
    pick(
      [
        { enter_sends: yes },
        { email_address_visibility: 1 + (a % 5) },
        { enable_sounds: yes },
        { timezone: 'Europe/Berlin' },
        { presence_enabled: yes },
        { enable_stream_push_notifications: yes },
      ],
      a,
    ),
  ],
  (_scene, { a, yes }) => [
    'update-status',
    yes ? { status_text: pick(words, a) } : { emoji_name: a % 2 === 0 ? 'tada' : '' },
  ],
  (scene, { yes }) => [
    'update-realm',
    { can_access_all_users_group: { new: groupNamed(scene, yes ? 'role:everyone' : 'role:members') } },
  ],
]

const acts: readonly Act[] = [
  ...aboutPeople,
  (scene, { a, b }) => [
    'send-message',
    { type: 'channel', to: pick(scene.channels, a), topic: topic(b), content: 'hello' },
  ],
  (scene, { a, b }) => [
    'send-message',
    {
      type: 'channel',
      to: pick(scene.channels, a),
      topic: topic(b),
      content: `@**all** @*cooks* @**User ${person(scene, b)}**`,
    },
  ],
  (scene, { a, b, yes }) => [
    'update-message',
    {
      message_id: recent(scene, a),
      ...(yes ? { topic: topic(b), propagate_mode: 'change_all' } : { content: 'edited' }),
    },
  ],
  (scene, { a, b }) => [
    'update-message',
    { message_id: recent(scene, a), stream_id: pick(scene.channels, b), propagate_mode: 'change_all' },
  ],
  (scene, { a, b, yes }) => [
    'update-message-flags',
    { messages: [recent(scene, a), recent(scene, b)], op: yes ? 'add' : 'remove', flag: 'read' },
  ],
  (scene, { a, yes }) => [
    'update-message-flags',
    { messages: [recent(scene, a)], op: yes ? 'add' : 'remove', flag: 'starred' },
  ],
  () => ['mark-all-as-read', {}],
  (scene, { a, b }) => ['mark-topic-as-read', { stream_id: pick(scene.channels, a), topic_name: topic(b) }],
  (scene, { a }) => ['add-reaction', { message_id: recent(scene, a), emoji_name: 'tada' }],
  (scene, { a, b }) => ['update-subscription-property', { stream_id: pick(scene.channels, a), ...pick(properties, b) }],
  (scene, { a, b }) => [
    'update-user-topic',
    { stream_id: pick(scene.channels, a), topic: topic(b), visibility_policy: (a + b) % 4 },
  ],
  (scene, { a, b, yes }) => [
    'update-stream',
    { stream_id: pick(scene.channels, a), ...pick(channelChanges(scene, b, yes), b) },
  ],
  (scene, { a, yes }) => [
    yes ? 'archive-stream' : 'update-stream',
    { stream_id: pick(scene.channels, a), ...(!yes && { is_archived: false }) },
  ],
  (scene, { a, yes }) => [yes ? 'add-default-stream' : 'remove-default-stream', { stream_id: pick(scene.channels, a) }],
  (_scene, { a }) => ['create-channel-folder', { name: `folder ${a}` }],
  (_scene, { a, b, yes }) => [
    'update-channel-folder',
    { channel_folder_id: a % 3, ...(yes ? { description: `*${b}*` } : { is_archived: b % 2 === 0 }) },
  ],
  (_scene, { b }) => ['update-profile-data', { data: [{ id: 1, value: `${b}` }] }],
  (_scene, { a, yes }) => [
    'update-realm-user-settings-defaults',
    pick([{ enter_sends: yes }, { color_scheme: 1 + (a % 3) }], a),
  ],
  (scene, { a, yes }) => [yes ? 'mute-user' : 'unmute-user', { muted_user_id: person(scene, a) }],
  (_scene, { a, yes }) => [yes ? 'add-alert-words' : 'remove-alert-words', { alert_words: [pick(words, a + 1)] }],
  (scene, { a, b, yes }) => [
    'update-user-group-members',
    { user_group_id: pick(scene.groups, a), [yes ? 'add' : 'delete']: [person(scene, b)] },
  ],
  (scene, { a, yes }) => [
    'update-user-group-subgroups',
    {
      user_group_id: scene.groups[0],
      [yes ? 'add' : 'delete']: [a % 2 ? scene.groups[1] : groupNamed(scene, 'role:moderators')],
    },
  ],
  (scene, { a, b, yes }) => [
    'update-user-group',
    {
      user_group_id: pick(scene.groups, a),
      ...(yes ? { name: `group ${b}` } : { can_join_group: { new: groupNamed(scene, 'role:members') } }),
    },
  ],
  (scene, { a, yes }) => [
    yes ? 'deactivate-user-group' : 'update-user-group',
    { user_group_id: pick(scene.groups, a), ...(!yes && { deactivated: false }) },
  ],
  (_scene, { a, yes }) => [
    'update-realm',
    pick(
      [
        { description: `${a}` },
        { allow_message_editing: yes },
        { topics_policy: yes ? 'disable_empty_topic' : 'allow_empty_topic' },
        { name_changes_disabled: yes },
      ],
      a,
    ),
  ],
  (scene, { a, yes }) => [
    'update-realm',
    {
      [pick(['can_create_bots_group', 'can_add_subscribers_group', 'can_invite_users_group'], a)]: {
        new: groupNamed(scene, yes ? 'role:members' : 'role:everyone'),
      },
    },
  ],
  (_scene, { a }) => ['create-saved-snippet', { title: `${a}`, content: 'x' }],
  (_scene, { a, yes }) => [
    yes ? 'edit-saved-snippet' : 'delete-saved-snippet',
    { saved_snippet_id: a, ...(yes && { title: 'u' }) },
  ],
  (_scene, { a }) => ['create-drafts', { drafts: [draft(`${a}`)] }],
  (_scene, { a, yes }) => [yes ? 'edit-draft' : 'delete-draft', { draft_id: a, ...(yes && { draft: draft('new') }) }],
  (_scene, { a, yes }) => ['add-navigation-view', { fragment: `narrow/${a}`, is_pinned: yes, name: 'x' }],
  (_scene, { a, yes }) => [
    yes ? 'edit-navigation-view' : 'remove-navigation-view',
    { fragment: `narrow/${a}`, ...(yes && { is_pinned: a % 2 === 0 }) },
  ],
  () => ['add-linkifier', { pattern: '#(?P<id>[0-9]+)', url_template: 'https://example.com/{id}' }],
  (_scene, { a }) => ['remove-linkifier', { filter_id: a }],
  (_scene, { a, yes }) =>
    yes
      ? ['add-code-playground', { name: `${a}`, pygments_language: 'c', url_template: 'https://example.com/{code}' }]
      : ['remove-code-playground', { playground_id: a }],
  (_scene, { yes }) => [
    yes ? 'add-realm-domain' : 'delete-realm-domain',
    { domain: 'example.org', ...(yes && { allow_subdomains: true }) },
  ],
  (_scene, { a }) => ['create-bot', { full_name: `bot ${a}`, short_name: `bot${a}` }],
  (scene, { a, b, yes }) => {
    const bots = [...scene.world.state.users.values()].filter(user => user.bot && !user.bot.system)
    if (bots.length === 0) return undefined
    return yes
      ? ['update-bot', { bot_id: pick(bots, a).id, bot_owner_id: person(scene, b) }]
      : ['update-bot', { bot_id: pick(bots, a).id, full_name: `droid ${b}` }]
  },
  ...moreActs,
]

const properties = [
  { property: 'is_muted', value: true },
  { property: 'is_muted', value: false },
  { property: 'pin_to_top', value: true },
  { property: 'push_notifications', value: true },
  { property: 'color', value: '#a1b2c3' },
] as const

function channelChanges(scene: Scene, b: number, yes: boolean): object[] {
  return [
    { description: `about *${b}*` },
    { is_private: yes },
    { is_private: yes, history_public_to_subscribers: !yes },
    { can_subscribe_group: { new: groupNamed(scene, yes ? 'role:members' : 'role:nobody') } },
    { can_send_message_group: { new: groupNamed(scene, yes ? 'role:administrators' : 'role:everyone') } },
    { folder_id: 1 },
    { new_name: `channel ${b}` },
  ]
}

function nameOf({ world, channels }: Scene, index: number): string {
  return world.state.channels.get(pick(channels, index))!.name
}

function groupNamed({ world }: Scene, name: string): number {
  return world.state.groups.find('name', name)!.id
}

/** What the step comes to; undefined for nothing at all. */
export function commandOf(
  scene: Scene,
  step: Step,
): { actor: User; endpoint: string; params: Record<string, unknown> } | undefined {
  const call = pick(scene.acts, step.what)(scene, step)
  const actor = scene.world.user(person(scene, step.who))
  return call && actor.active ? { actor, endpoint: call[0], params: call[1] } : undefined
}
