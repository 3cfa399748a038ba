// Role × rule: who may do what, as a table in a file. A changed right shows as a changed line of it.
// NATTER_UPDATE=1 writes the table again.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { groupPermissions } from '../../daemon/api/shapes/permission-settings.ts'
import { applyFact } from '../../daemon/domain/index.ts'
import type { Message } from '../../daemon/domain/model/message-store/index.ts'
import { roles } from '../../daemon/domain/model/roles.ts'
import { type Channel, type Group, State, type User } from '../../daemon/domain/model/state.ts'
import { found } from '../../daemon/domain/organization/founding.ts'
import { defaultValue } from '../../daemon/domain/rules/group-values.ts'
import * as permissions from '../../daemon/domain/rules/index.ts'
import seed from '../../data/seed.json' with { type: 'json' }
import { channelRow } from '../support/channel-row.ts'
import { root } from '../support/sources.ts'

const file = join(root, 'test/laws/permissions.table.txt')
const state = new State()
applyFact(state, found(seed, 'example.com', 0))

// --- who asks ---------------------------------------------------------------------------------------------------

const bot = (type: 1 | 2 | 3 | 4) => ({ role: roles.member, bot: { type, ownerId: 11, system: false } })

/** One of each kind, in the order of the columns. */
const people: Readonly<Record<string, Partial<User>>> = {
  owner: { role: roles.owner },
  administrator: { role: roles.administrator },
  moderator: { role: roles.moderator },
  'full member': { role: roles.member },
  'new member': { role: roles.member, fullMember: false },
  guest: { role: roles.guest },
  'generic bot': bot(1),
  'incoming bot': bot(2),
  'outgoing bot': bot(3),
  'embedded bot': bot(4),
}

const [anyone] = [...state.users.values()]
const askers = Object.entries(people).map(([name, parts], index) => {
  const user = { ...anyone!, id: 10 + index, email: `${10 + index}@example.com`, fullMember: true, ...parts }
  if (!parts.bot) delete (user as { bot?: unknown }).bot
  state.users.put(user as User)
  return { name, actor: user as User }
})

const member = askers[3]!.actor

// --- about what -------------------------------------------------------------------------------------------------

function channel(id: number, parts: Partial<Channel>): Channel {
  return channelRow(state, id, { creatorId: 99, ...parts })
}

function subscribed(to: Channel): Channel {
  for (const { actor } of askers)
    state.subscriptions.put({
      channelId: to.id,
      userId: actor.id,
      active: true,
      color: '#76ce90',
      muted: false,
      pinned: false,
      notifications: { desktop: null, audible: null, push: null, email: null, wildcardMentions: null },
      spans: [[0]],
    })
  return to
}

const group: Group = {
  id: 100,
  name: 'group',
  description: '',
  system: false,
  creatorId: 99,
  dateCreated: 0,
  deactivated: false,
  members: [],
  subgroups: [],
  permissions: Object.fromEntries(
    Object.entries(groupPermissions).map(([name, setting]) => [name, defaultValue(state, setting, 99)]),
  ) as Group['permissions'],
}

const byMembers = defaultValue(state, { nobody: true, everyone: true, default: 'role:members' }, null)
const everyonesGroup = { ...group, permissions: mapped(group.permissions) }
const secret = { inviteOnly: true, historyPublic: false }
const everyonesSecret = channel(7, { ...secret, permissions: mapped(channel(7, {}).permissions) })

function mapped<P extends object>(permissions: P): P {
  return Object.fromEntries(Object.keys(permissions).map(name => [name, byMembers])) as P
}

const channels = {
  public: channel(1, {}),
  'web-public': channel(2, { webPublic: true }),
  'private, shared': channel(3, { inviteOnly: true }),
  'private, protected': channel(4, secret),
  'public, subscribed': subscribed(channel(5, {})),
  'private, subscribed': subscribed(channel(6, secret)),
  'private, all groups role:members': everyonesSecret,
}

for (const row of Object.values(channels)) state.channels.put(row)
state.conversations.put({ id: 1, userIds: [member.id, 99] })

let lastMessage = 0

/** The ID of a message there. */
function message(place: Pick<Message, 'channelId' | 'topic' | 'conversationId'>): number {
  const said = { senderId: 99, time: 0, client: 'test', content: 'Hi', html: '<p>Hi</p>', marks: 0 }
  state.messages.add({ id: ++lastMessage, ...said, ...place })
  return lastMessage
}

const messages = Object.fromEntries(
  Object.entries(channels).map(([name, { id: channelId }]) => [name, message({ channelId, topic: 'lunch' })]),
)

const groups = {
  'of somebody else': group,
  'with all settings role:members': everyonesGroup,
  'of the system': [...state.groups.values()].find(({ name }) => name === 'role:members')!,
}

const accounts = {
  'a member': member,
  'who shows the address to members': { ...member, settings: { email_address_visibility: 2 } },
  'who shows it to administrators': { ...member, settings: { email_address_visibility: 3 } },
  'who shows it to nobody': { ...member, settings: { email_address_visibility: 4 } },
  'who shows it to moderators': { ...member, settings: { email_address_visibility: 5 } },
}

const ownBot = { ...member, id: 97, bot: { type: 1, ownerId: member.id, system: false } }

/** For rules about a thing: the things to ask about, by the words for their lines. */
const things: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  changeRole: {
    'member to moderator': { from: roles.member, to: roles.moderator },
    'member to owner': { from: roles.member, to: roles.owner },
    'owner to member': { from: roles.owner, to: roles.member },
  },
  administerBot: {
    'somebody else’s': { ...member, id: 98, bot: { type: 1, ownerId: 99, system: false } },
    'that can create users': { ...member, id: 98, canCreateUsers: true, bot: { type: 1, ownerId: 99, system: false } },
    'that is a moderator': { ...member, id: 98, role: roles.moderator, bot: { type: 1, ownerId: 99, system: false } },
  },
  deactivateBot: { 'somebody else’s': { ...member, id: 98, bot: { type: 1, ownerId: 99, system: false } } },
  handOverBot: {
    'somebody else’s': { bot: { ...member, bot: { type: 1, ownerId: 99, system: false } }, to: member },
    'to a member': { bot: ownBot, to: member },
    'to an owner': { bot: ownBot, to: askers[0]!.actor },
  },
  createChannel: { public: 'public', private: 'private', 'web-public': 'web-public' },
  seeEmail: accounts,
  unsubscribeAccount: { 'a member': member, 'a bot of that member': ownBot },
  accessUser: { 'a member': member },
  deactivateUser: { 'a member': member, 'an owner': askers[0]!.actor },
  reactivateUser: {
    'a member': member,
    'somebody else’s bot': { ...member, bot: { type: 1, ownerId: 99, system: false } },
  },
  promoteGuest: {
    'to member': { from: roles.guest, to: roles.member },
    'to administrator': { from: roles.guest, to: roles.administrator },
  },
  changeOwn: { name: 'name_changes_disabled' },
  deactivateEmoji: { 'somebody else’s': { authorId: 99 }, 'of the full member': { authorId: member.id } },
  inviteAs: { owner: roles.owner, administrator: roles.administrator, moderator: roles.moderator, guest: roles.guest },
  seeInvitation: { 'somebody else’s': { inviterId: 99 }, 'of the full member': { inviterId: member.id } },
  writeDirectly: { 'to a member': [member], 'to a bot': [ownBot] },
  beginConversation: { 'with a member': [member], 'with a bot': [ownBot] },
  seeMessage: { ...messages, 'direct, with the full member': message({ conversationId: 1 }), 'that is gone': 1000 },
  seeUpload: { 'of the full member, in no message': { userId: member.id, messages: [] } },
  editContent: { 'of the full member': { senderId: member.id } },
  createBot: { generic: 1, 'incoming webhook': 2 },
  callEndpoint: { 'send-message': 'send-message', 'get-users': 'get-users' },
  editProfileField: { editable: { editable: true, name: 'Phone' }, 'not editable': { editable: false, name: 'Phone' } },
}

/** Rules about a channel or a group need no list of their own. */
function thingsOf(name: string): Readonly<Record<string, unknown>> {
  return things[name] ?? (/group/i.test(name) ? groups : channels)
}

// --- the table --------------------------------------------------------------------------------------------------

type AnyRule = permissions.Rule<any>

const rules = Object.entries(permissions).filter((entry): entry is [string, AnyRule] => isRule(entry[1]))

function isRule(value: unknown): value is AnyRule {
  return typeof value === 'object' && value !== null && 'law' in value && 'allows' in value
}

function table(): string {
  const lines = rules.flatMap(([name, rule]) => {
    const cases = rule.allows.length < 2 ? { '': undefined } : thingsOf(name)
    return Object.entries(cases).map(([words, thing]) => {
      const allowed = askers.filter(({ actor }) => rule.allows({ state, actor }, thing)).map(asker => asker.name)
      return `${words ? `${name} (${words})` : name}: ${allowed.join(', ') || 'nobody'}`
    })
  })
  return `${lines.sort().join('\n')}\n`
}

describe('permissions', () => {
  test('every rule has a law of one line', () => {
    assert.ok(rules.length > 0)
    for (const [name, { law }] of rules) assert.match(law, /^[A-Z][^\n]*\.$/, name)
  })

  test('every rule has a refusal for everything it is asked about', () => {
    for (const [name, { refusal, allows }] of rules)
      for (const thing of Object.values(allows.length < 2 ? { '': 'do this' } : thingsOf(name)))
        assert.match(
          typeof refusal === 'string' ? refusal : refusal(thing),
          /^(?:You|Only|Guests|Bots|System|Incoming)[^\n]*\.$/,
          name,
        )
  })

  test('every role has the rights the table says', () => {
    if (process.env.NATTER_UPDATE) writeFileSync(file, table())
    assert.equal(table(), readFileSync(file, 'utf8'), 'a right has changed; NATTER_UPDATE=1 npm test writes the table')
  })
})
