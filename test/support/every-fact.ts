// A story with one fact of every kind that exists. A new kind of fact without a place in it is a type error.

import type { Fact } from '../../daemon/domain/facts.ts'
import { applyFact } from '../../daemon/domain/index.ts'
import type { Message } from '../../daemon/domain/model/message-store/index.ts'
import { roles } from '../../daemon/domain/model/roles.ts'
import type { WebhookDelivery } from '../../daemon/domain/model/rows/messages.ts'
import { type Group, State, type User } from '../../daemon/domain/model/state.ts'
import { found } from '../../daemon/domain/organization/founding.ts'
import seed from '../../data/seed.json' with { type: 'json' }
import { channelRow } from './channel-row.ts'
import { registration } from './in-process.ts'

type EveryKind = { readonly [Type in Fact['type']]: Fact & { readonly type: Type } }

const founded = found(seed, 'example.com', 0)
const before = new State()
applyFact(before, founded)

const owner = before.users.find('email', seed.owner.email)!.id
const amy = before.users.nextId
const bot = amy
const group = before.groups.nextId
const members = before.groups.find('name', 'role:members')!
const file = 'a'.repeat(64)
const site = 'http://localhost'
const smile = { type: 'unicode_emoji', code: '1f642', name: 'smile' } as const

const user: User = {
  ...before.users.get(owner)!,
  id: amy,
  email: 'amy@example.com',
  fullName: 'Amy',
  role: roles.member,
  fullMember: false,
}
const madeGroup: Group = { ...members, id: group, name: 'gardeners', system: false, members: [], subgroups: [] }
const field = {
  id: 1,
  type: 1,
  order: 1,
  name: 'Phone',
  hint: '',
  data: '',
  required: false,
  editable: true,
  inSummary: false,
} as const
const message = (id: number, more: Partial<Message> = {}): Message => ({
  id,
  senderId: owner,
  channelId: 1,
  topic: 'beans',
  time: 10,
  client: 'test',
  content: `number ${id}`,
  html: `<p>number ${id}</p>`,
  marks: 0,
  ...more,
})
const draft = { id: 1, userId: amy, kind: 'stream', to: [1], topic: 'beans', content: 'soon', timestamp: 5 } as const
const planned = {
  userId: amy,
  target: { channelId: 1, topic: 'beans' },
  content: 'later',
  html: '<p>later</p>',
  due: 2_000_000_000,
  failed: false,
  client: 'test',
  readBySender: true,
}
const reminder = { userId: amy, messageId: 1, note: '', content: 'c', html: '', due: 2_000_000_000, failed: false }
const delivery: WebhookDelivery = {
  id: 1,
  botId: bot,
  messageId: 1,
  trigger: 'mention',
  queued: 5,
  status: 'waiting',
  attempts: 0,
  due: 10,
}
const view = { userId: amy, fragment: 'narrow/is/starred', isPinned: true, name: null }
const invitation = {
  id: 1,
  token: 'token',
  email: 'new@example.com',
  inviterId: owner,
  madeAt: 1,
  expires: null,
  invitedAs: roles.member,
  channelIds: [1],
  groupIds: [group],
  withDefaultChannels: true,
  notifyInviter: true,
  welcome: null,
}
const topic = { userId: amy, channelId: 1, topic: 'Beans', policy: 3, updated: 4 }
const attachment = {
  id: 1,
  userId: amy,
  name: 'a.txt',
  path: '1/ab/a.txt',
  file,
  size: 5,
  contentType: 'text/plain',
  created: 5,
  messages: [],
}

/** In the order in which they happen. */
export const everyKind: EveryKind = {
  'organization.founded': founded,
  'store.restored': { type: 'store.restored', sections: rowsOf(before) },
  'store.put-back': { type: 'store.put-back', restoreId: 'restore' },
  'store.secret-changed': { type: 'store.secret-changed', verifier: 'verifier' },
  'queue.registered': {
    type: 'queue.registered',
    queue: { ...registration([]), id: 'queue', userId: owner, step: 100 },
  },
  'queue.acknowledged': { type: 'queue.acknowledged', queueId: 'queue', upTo: 0 },
  'user.created': { type: 'user.created', user },
  'group.created': { type: 'group.created', group: madeGroup },
  'group.edited': { type: 'group.edited', groupId: group, changes: { description: 'green' }, permissions: {} },
  'group.members-added': { type: 'group.members-added', groupId: group, userIds: [amy, owner] },
  'group.members-removed': { type: 'group.members-removed', groupId: group, userIds: [owner] },
  'group.subgroups-added': { type: 'group.subgroups-added', groupId: group, subgroupIds: [members.id] },
  'group.subgroups-removed': { type: 'group.subgroups-removed', groupId: group, subgroupIds: [members.id] },
  'group.deactivated': { type: 'group.deactivated', groupId: group },
  'group.reactivated': { type: 'group.reactivated', groupId: group },
  'user.renamed': { type: 'user.renamed', userId: amy, fullName: 'Amy Bee' },
  'user.reassigned': { type: 'user.reassigned', userId: amy, from: roles.member, to: roles.moderator },
  'user.email-changed': { type: 'user.email-changed', userId: amy, from: user.email, to: 'bee@example.com' },
  'user.avatar-changed': { type: 'user.avatar-changed', userId: amy, avatar: { version: 2, file } },
  'user.entered': { type: 'user.entered', userId: amy, joined: 1_794_710_000_000 },
  'profile-field.created': { type: 'profile-field.created', field },
  'profile-field.updated': { type: 'profile-field.updated', field: { ...field, hint: 'with code' }, cleared: [] },
  'profile-field.reordered': { type: 'profile-field.reordered', order: [1] },
  'user.profile-changed': { type: 'user.profile-changed', userId: amy, values: [{ id: 1, value: '123' }] },
  'user.key-regenerated': { type: 'user.key-regenerated', userId: amy, keyVersion: 2 },
  'user.waiting-settled': { type: 'user.waiting-settled', userIds: [amy], fullMember: true },
  'user.settings-changed': {
    type: 'user.settings-changed',
    userId: amy,
    changes: { twenty_four_hour_time: true },
    before: { twenty_four_hour_time: false },
  },
  'user.password-changed': { type: 'user.password-changed', userId: amy, password: 'scrypt' },
  'email-change.requested': {
    type: 'email-change.requested',
    change: { token: 'change', userId: amy, email: 'b@example.com', expires: 9 },
  },
  'organization.user-defaults-changed': {
    type: 'organization.user-defaults-changed',
    changes: { twenty_four_hour_time: true },
  },
  'organization.changed': { type: 'organization.changed', settings: { name: 'Garden' }, permissions: {} },
  'domain.added': { type: 'domain.added', domain: { id: 1, domain: 'example.com', allowSubdomains: false } },
  'domain.changed': { type: 'domain.changed', domain: { id: 1, domain: 'example.com', allowSubdomains: true } },
  'linkifier.added': {
    type: 'linkifier.added',
    linkifier: { id: 1, pattern: '#(?P<id>[0-9]+)', urlTemplate: 'https://example.com/{id}', order: 1 },
  },
  'linkifier.edited': {
    type: 'linkifier.edited',
    linkifier: { id: 1, pattern: '#(?P<id>[0-9]+)', urlTemplate: 'https://example.org/{id}', order: 1 },
  },
  'linkifiers.reordered': { type: 'linkifiers.reordered', ids: [1] },
  'playground.added': {
    type: 'playground.added',
    playground: { id: 1, name: 'Try', language: 'Python', urlTemplate: 'https://example.com/{code}' },
  },
  'emoji.added': {
    type: 'emoji.added',
    emoji: { id: 1, name: 'bean', authorId: amy, file, deactivated: false },
  },
  'organization.picture-changed': {
    type: 'organization.picture-changed',
    name: 'nightLogo',
    picture: { version: 2, file },
    site: 'http://localhost',
  },
  'channel-folder.created': {
    type: 'channel-folder.created',
    folder: { id: 1, name: 'Beds', description: '', order: 1, creatorId: owner, dateCreated: 1, archived: false },
  },
  'channel-folder.edited': { type: 'channel-folder.edited', id: 1, set: { description: 'raised' } },
  'channel-folder.reordered': { type: 'channel-folder.reordered', order: [1] },
  'channel.created': { type: 'channel.created', channel: channelRow(before, 1, { folderId: 1 }) },
  'channel.updated': {
    type: 'channel.updated',
    channelId: 1,
    was: { name: 'channel 1', postPolicy: 1 },
    settings: { name: 'garden' },
    permissions: {},
    strangers: [],
  },
  'channel.visibility-changed': { type: 'channel.visibility-changed', gained: [], lost: [], guests: [] },
  'default-channel-group.set': {
    type: 'default-channel-group.set',
    group: { id: 1, name: 'kit', description: '', channelIds: [1] },
  },
  'subscription.added': {
    type: 'subscription.added',
    after: 0,
    added: [{ channelId: 1, returning: [], fresh: { '#76ce90': [owner, amy] }, gained: [] }],
  },
  'subscription.changed': { type: 'subscription.changed', userId: amy, channelId: 1, set: { pinned: true } },
  'user-topic.set': { type: 'user-topic.set', row: topic },
  'message.sent': {
    type: 'message.sent',
    message: message(1),
    readBy: [owner],
    calls: [delivery],
  },
  'message.edited': {
    type: 'message.edited',
    message: message(1, { content: 'edited', html: '<p>edited</p>' }),
    edit: { userId: owner, time: 11, prevContent: 'number 1', prevHtml: '<p>number 1</p>' },
  },
  'messages.moved': {
    type: 'messages.moved',
    id: 1,
    ids: [1],
    from: { channelId: 1, topic: 'beans' },
    to: { channelId: 1, topic: 'peas' },
    topicLinks: [],
    mode: 'change_all',
    userId: owner,
    time: 12,
    markedRead: [],
  },
  'reaction.added': {
    type: 'reaction.added',
    messageId: 1,
    reaction: { ...smile, userId: amy },
    historical: false,
  },
  'submessage.added': {
    type: 'submessage.added',
    messageId: 1,
    submessage: { id: 1, senderId: owner, msgType: 'widget', content: '{}' },
  },
  'message-flags.changed': {
    type: 'message-flags.changed',
    userId: amy,
    op: 'add',
    flag: 'starred',
    runs: [1, 1],
  },
  'messages.all-read': { type: 'messages.all-read', userId: amy, upTo: 1 },
  'attachment.added': { type: 'attachment.added', attachment },
  'attachments.relinked': { type: 'attachments.relinked', messageId: 1, time: 10, linked: [1], unlinked: [] },
  'drafts.created': { type: 'drafts.created', drafts: [draft, { ...draft, id: 2 }] },
  'draft.edited': { type: 'draft.edited', draft: { ...draft, content: 'now' } },
  'saved-snippet.created': {
    type: 'saved-snippet.created',
    snippet: { id: 1, userId: amy, title: 'Greeting', content: 'Hi', dateCreated: 1 },
  },
  'saved-snippet.edited': {
    type: 'saved-snippet.edited',
    snippet: { id: 1, userId: amy, title: 'Greeting', content: 'Hello', dateCreated: 1 },
  },
  'scheduled-message.created': { type: 'scheduled-message.created', message: { ...planned, id: 1 } },
  'scheduled-message.edited': { type: 'scheduled-message.edited', message: { ...planned, id: 1, content: 'sooner' } },
  'scheduled-message.failed': {
    type: 'scheduled-message.failed',
    message: { ...planned, id: 2, failed: true, reason: 'gone' },
  },
  'reminder.created': { type: 'reminder.created', reminder: { ...reminder, id: 1 } },
  'reminder.failed': { type: 'reminder.failed', reminder: { ...reminder, id: 2, failed: true } },
  'user.onboarding-step-seen': { type: 'user.onboarding-step-seen', userId: amy, step: 'intro_resolve_topic' },
  'navigation-view.added': { type: 'navigation-view.added', view },
  'navigation-view.edited': {
    type: 'navigation-view.edited',
    view: { ...view, isPinned: false },
    changed: { is_pinned: false },
  },
  'user-status.set': {
    type: 'user-status.set',
    status: { userId: amy, text: 'out', emoji: smile },
    changed: ['text', 'emoji'],
  },
  'push-devices.changed': {
    type: 'push-devices.changed',
    devices: { userId: amy, tokens: [{ kind: 'fcm', token: 'x' }], accounts: [{ id: 1, kind: 'fcm' }] },
  },
  'alert-words.changed': { type: 'alert-words.changed', userId: amy, words: ['beans'] },
  'user.muted': { type: 'user.muted', userId: owner, mutedId: amy, since: 1 },
  'presence.saved': { type: 'presence.saved', rows: [{ userId: amy, active: 5, connected: 6, updateId: 6 }] },
  'bot-storage.put': {
    type: 'bot-storage.put',
    items: [
      { userId: amy, key: 'a', value: '1' },
      { userId: amy, key: 'b', value: '2' },
    ],
  },
  'webhook.asked': { type: 'webhook.asked', delivery: { ...delivery, again: true } },
  'webhook.attempted': {
    type: 'webhook.attempted',
    delivery: { ...delivery, status: 'failed', attempts: 1, due: null, httpStatus: 500, error: 'no', response: 'oops' },
  },
  'invitations.made': { type: 'invitations.made', invitations: [invitation, { ...invitation, id: 2, token: 'other' }] },
  'invitation.resent': { type: 'invitation.resent', id: 1, madeAt: 2, inviterId: owner },
  'export.requested': {
    type: 'export.requested',
    export: { id: 1, userId: owner, kind: 1, requested: 1, status: 'pending' },
    site,
  },
  'export.finished': { type: 'export.finished', id: 1, path: 'exports/1/x/a.tar.gz', file, site },
  'store.answered': {
    type: 'store.answered',
    answer: { userId: amy, key: 'key', request: 'digest', reply: '{"id":1}' },
  },
  // From here on things come to an end.
  'bot-storage.removed': { type: 'bot-storage.removed', userId: amy, keys: ['b'] },
  'bot.configured': {
    type: 'bot.configured',
    userId: amy,
    bot: { type: 3, ownerId: owner, system: false, service: { url: 'http://localhost/', interface: 1 } },
    changed: ['service'],
  },
  'user-topic.cleared': { type: 'user-topic.cleared', row: { ...topic, policy: 0 } },
  'reaction.removed': { type: 'reaction.removed', messageId: 1, reaction: { ...smile, userId: amy } },
  'draft.deleted': { type: 'draft.deleted', id: 2, userId: amy },
  'saved-snippet.deleted': { type: 'saved-snippet.deleted', id: 1, userId: amy },
  'scheduled-message.deleted': { type: 'scheduled-message.deleted', id: 1, userId: amy },
  'scheduled-message.delivered': { type: 'scheduled-message.delivered', id: 2, userId: amy },
  'reminder.deleted': { type: 'reminder.deleted', id: 1, userId: amy },
  'reminder.delivered': { type: 'reminder.delivered', id: 2, userId: amy },
  'navigation-view.removed': { type: 'navigation-view.removed', userId: amy, fragment: view.fragment },
  'user.unmuted': { type: 'user.unmuted', userId: owner, mutedId: amy },
  'email-change.confirmed': { type: 'email-change.confirmed', token: 'change' },
  'invitation.accepted': { type: 'invitation.accepted', id: 1, inviterId: owner, userId: owner },
  'invitation.revoked': { type: 'invitation.revoked', id: 2, inviterId: owner },
  'invitations.outdated': { type: 'invitations.outdated', ids: [2] },
  'linkifier.removed': { type: 'linkifier.removed', id: 1 },
  'playground.removed': { type: 'playground.removed', id: 1 },
  'emoji.deactivated': { type: 'emoji.deactivated', id: 1 },
  'domain.removed': { type: 'domain.removed', domain: { id: 1, domain: 'example.com', allowSubdomains: true } },
  'profile-field.deleted': { type: 'profile-field.deleted', id: 1, cleared: [amy] },
  'default-channel-group.deleted': { type: 'default-channel-group.deleted', id: 1 },
  'export.failed': { type: 'export.failed', id: 1, time: 5, site },
  'export.deleted': { type: 'export.deleted', id: 1, time: 6, site },
  'attachment.removed': { type: 'attachment.removed', id: 1, userId: amy },
  'messages.deleted': { type: 'messages.deleted', ids: [1], place: { channelId: 1, topic: 'peas' }, userId: owner },
  'subscription.removed': {
    type: 'subscription.removed',
    upTo: 2,
    removed: [{ channelId: 1, userIds: [amy], lost: [] }],
  },
  'channel.activity-changed': { type: 'channel.activity-changed', quiet: [1], woken: [] },
  'channel.archived': {
    type: 'channel.archived',
    channelId: 1,
    wasDefault: false,
    groupIds: [],
    announcing: [],
  },
  'channel.unarchived': { type: 'channel.unarchived', channelId: 1 },
  'user.deactivated': { type: 'user.deactivated', userId: amy },
  'user.reactivated': { type: 'user.reactivated', userId: amy },
  'queue.removed': { type: 'queue.removed', queueId: 'queue', reason: 'deleted' },
  'organization.deactivated': { type: 'organization.deactivated' },
  'organization.reactivated': { type: 'organization.reactivated' },
}

/** With the type named: without it the compiler compares all kinds with each other, which takes a second at each use. */
export const story: readonly Fact[] = Object.values<Fact>(everyKind)

function rowsOf(state: State): Record<string, unknown[]> {
  return Object.fromEntries(Object.entries(state.save(true)).map(([name, rows]) => [name, [...rows]]))
}
