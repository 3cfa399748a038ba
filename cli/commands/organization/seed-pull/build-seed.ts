// Makes a seed from the replies of a server. Accounts get short names, and no real name is kept unless asked for.

import { roleNames } from '../../../../daemon/api/people/users.ts'
import { type Disguise, disguisesFor, disguiseText, keepText, type Person } from './disguise.ts'
import type { Settings } from './settings.ts'
import type { Read } from './shapes.ts'

/** `now` in seconds: the times of messages are written relative to it. Without a salt, names stay as they are. */
export function buildSeed(read: Read, { salt, now }: { salt: Uint8Array | undefined; now: number }) {
  const heard = new Set(Object.values(read.messages).flatMap(({ list }) => list.map(({ sender_id }) => sender_id)))
  const people = read.people.filter(person => person.is_active || heard.has(person.user_id)).map(readPerson)
  // Texts also name people who have left.
  const everyone = read.people.map(readPerson)
  const disguises = salt ? disguisesFor(everyone, salt) : asTheyAre(everyone)
  const rewrite = salt ? disguiseText(everyone, disguises, salt) : keepText
  const owner = read.people.find(person => person.is_active && !person.is_bot && person.role === 100)
  const names = shortNames(people, disguises, owner?.user_id)
  const named = (ids: readonly number[]) => ids.flatMap(id => names.get(id) ?? [])
  const visible = read.people.filter(({ user_id }) => names.has(user_id))
  const groups = read.groups.filter(group => !group.is_system_group && !group.deactivated)
  const groupNames = new Map(groups.map(({ id, name }) => [id, rewrite(name)]))
  return {
    organization: clean({
      name: text(read.organization.name, rewrite),
      description: text(read.organization.description, rewrite),
      settings: collectSettings(read, rewrite),
    }),
    ...(owner && {
      owner: { email: disguises.get(owner.user_id)!.email, full_name: disguises.get(owner.user_id)!.fullName },
    }),
    users: visible
      .filter(({ is_bot, user_id }) => !is_bot && user_id !== owner?.user_id)
      .map(({ user_id, role = 400 }) => ({
        name: names.get(user_id)!,
        email: disguises.get(user_id)!.email,
        full_name: disguises.get(user_id)!.fullName,
        ...(role !== 400 && roleNames[role] && { role: roleNames[role] }),
      })),
    bots: visible
      .filter(({ is_bot }) => is_bot)
      .map(({ user_id, bot_owner_id, bot_type }) =>
        clean({
          name: names.get(user_id)!,
          full_name: disguises.get(user_id)!.fullName,
          owner: (bot_owner_id && names.get(bot_owner_id)) || undefined,
          // The address that an outgoing webhook calls is a secret of the real server.
          type: bot_type === 2 ? 'incoming-webhook' : undefined,
        }),
      ),
    groups: groups.map(({ id, description, members, direct_subgroup_ids }) => {
      const subgroups = (direct_subgroup_ids ?? []).flatMap(id => groupNames.get(id) ?? [])
      return clean({
        name: groupNames.get(id)!,
        description: text(description, rewrite),
        members: named(members),
        subgroups: subgroups.length > 0 ? subgroups : undefined,
      })
    }),
    channels: read.channels.map(
      ({ stream_id, name, description, invite_only, is_web_public, is_default, ...channel }) =>
        clean({
          name: rewrite(name),
          description: text(description, rewrite),
          privacy: is_web_public ? 'web-public' : invite_only ? 'private' : undefined,
          subscribers: named(read.subscribers[stream_id] ?? []),
          default: is_default || undefined,
          // Only private channels have a choice.
          settings:
            invite_only && channel.history_public_to_subscribers ? { history_public_to_subscribers: true } : undefined,
        }),
    ),
    messages: read.channels
      .flatMap(({ stream_id, name }) => (read.messages[stream_id]?.list ?? []).map(message => ({ name, message })))
      .sort((a, b) => a.message.id - b.message.id)
      .flatMap(({ name, message }) => {
        const from = names.get(message.sender_id)
        const reactions = message.reactions.flatMap(({ user_id, emoji_name }) => {
          const who = names.get(user_id ?? 0)
          return who ? [{ from: who, emoji: emoji_name }] : []
        })
        if (!from || message.content === '') return []
        const where = clean({ channel: rewrite(name), topic: text(message.subject, rewrite) })
        const ago = agoText(now - message.timestamp)
        return [{ from, ...where, content: rewrite(message.content), ago, ...(reactions.length > 0 && { reactions }) }]
      }),
  }
}

function collectSettings({ settings, channels }: Read, rewrite: (text: string) => string): Settings | undefined {
  const found = Object.entries(settings).map(([name, value]) => [
    name,
    typeof value === 'string' ? rewrite(value) : value,
  ])
  // Without it, channels for everyone on the web are refused.
  if (channels.some(channel => channel.is_web_public)) found.push(['enable_spectator_access', true])
  return found.length > 0 ? Object.fromEntries(found) : undefined
}

function readPerson({ user_id, email, delivery_email, full_name, is_bot }: Read['people'][number]): Person {
  return { userId: user_id, email: delivery_email || email, fullName: full_name, isBot: is_bot }
}

function asTheyAre(people: readonly Person[]): Map<number, Disguise> {
  return new Map(people.map(({ userId, fullName, email }) => [userId, { fullName, email }]))
}

/** Their names in the rest of the seed; the owner is `owner`. */
function shortNames(people: readonly Person[], disguises: ReadonlyMap<number, Disguise>, owner: number | undefined) {
  const taken = new Set(['owner'])
  /** By the name that several have. */
  const nextNumbers = new Map<string, number>()
  const names = new Map<number, string>()
  for (const { userId, isBot } of people) {
    const { email } = disguises.get(userId)!
    const base =
      email
        .split('@', 1)[0]!
        .replace(/-bot$/, '')
        .replace(/[^\w.-]/g, '-') || `user${userId}`
    let name = isBot ? base.replace(/\.bot\b/, '') : base
    let number = nextNumbers.get(base) ?? 2
    while (taken.has(name)) name = `${base}-${number++}`
    nextNumbers.set(base, number)
    if (userId === owner) name = 'owner'
    taken.add(name)
    names.set(userId, name)
  }
  return names
}

function text(value: string | null | undefined, rewrite: (text: string) => string): string | undefined {
  return value ? rewrite(value) : undefined
}

function clean<T extends object>(record: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as never
}

function agoText(seconds: number): string {
  const left = Math.max(1, Math.round(seconds))
  const parts = [
    [Math.floor(left / 86_400), 'd'],
    [Math.floor((left % 86_400) / 3600), 'h'],
    [Math.floor((left % 3600) / 60), 'm'],
    [left % 60, 's'],
  ] as const
  return parts.map(([number, unit]) => (number > 0 ? `${number}${unit}` : '')).join('')
}
