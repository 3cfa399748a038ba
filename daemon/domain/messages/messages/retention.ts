// Messages are kept as long as their channel, or the organization, wants; what is older goes in the background, in
// batches, so that no request waits for it.

import type { Fact } from '../../facts.ts'
import type { MessageStore } from '../../model/message-store/index.ts'
import type { Organization } from '../../model/rows/organization.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { State } from '../../model/state.ts'
import type { Job, Surroundings } from '../../resource.ts'
import { day, seconds } from '../../values/time.ts'
import { deleteByPlace } from './deletion-facts.ts'

const batch = 200

export const retention: Job = {
  op: 'delete-old-messages',
  due: nextExpiry,
  run: ctx => ({ facts: listExpired(ctx), reply: {} }),
}

interface Known {
  readonly channels: number
  readonly organization: Organization
  /** Milliseconds. */
  readonly due: number
}

const known = new WeakMap<State, Known>()

/**
 * Asked after every change, so it is worked out only when it came or the rules changed. A message sent meanwhile
 * expires a day later at the earliest, so looking once a day is enough.
 */
function nextExpiry(state: State, now: number): number | undefined {
  let last = known.get(state)
  if (last?.channels !== state.channels.version || last.organization !== state.organization || last.due <= now) {
    let due = Number.POSITIVE_INFINITY
    for (const { ids, days } of listLimited(state)) {
      due = Math.min(due, now + day * 1000)
      if (ids.length > 0) due = Math.min(due, (state.messages.time(ids.at(0)) + days * day) * 1000)
    }
    last = { channels: state.channels.version, organization: state.organization, due }
    known.set(state, last)
  }
  return last.due === Number.POSITIVE_INFINITY ? undefined : last.due
}

interface Limited {
  readonly ids: ReturnType<MessageStore['inChannel']>
  readonly days: number
}

/** All channels and conversations that delete old messages. */
function* listLimited(state: State): Generator<Limited> {
  const usual = organizationSetting(state, 'message_retention_days')
  // Few channels have a time of their own, and most organizations keep everything: creating a channel must not cost more with every other one.
  const channels = usual > 0 ? state.channels.values() : state.channels.where('ownRetention', 1)
  for (const { id, retentionDays } of channels) {
    const days = retentionDays ?? usual
    if (days > 0) yield { ids: state.messages.inChannel(id), days }
  }
  if (usual > 0)
    for (const { id } of state.conversations.values()) yield { ids: state.messages.inConversation(id), days: usual }
}

/** One batch of what is too old. */
function listExpired({ state, now }: Surroundings): Fact[] {
  const { messages } = state
  const old: number[] = []
  for (const { ids, days } of listLimited(state)) {
    const oldest = seconds(now) - days * day
    for (let i = 0; i < ids.length && old.length < batch && messages.time(ids.at(i)) <= oldest; i++) old.push(ids.at(i))
    if (old.length === batch) break
  }
  return deleteByPlace(state, old, null)
}
