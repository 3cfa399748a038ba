// Presence: reports are taken without waiting for the disk; others get an event when a user comes back.

import { presence as api } from '../../api/people/presence.ts'
import { limits } from '../limits.ts'
import type { PresenceFact } from '../model/facts/people.ts'
import { apiEmail } from '../model/lookups.ts'
import type { Presence } from '../model/rows/people.ts'
import { organizationSetting, userSetting } from '../model/settings.ts'
import type { State, User } from '../model/state.ts'
import { invalid, missing } from '../refusal.ts'
import { type Announcement, type Client, type Context, type Outcome, resource, type Surroundings } from '../resource.ts'
import { accessAudience } from '../rules/audiences.ts'
import * as may from '../rules/index.ts'
import { knownUserInPath } from '../rules/user-access.ts'
import { seconds } from '../values/time.ts'

const day = 86_400_000
/** Reports closer together than this change nothing. */
const coarseness = 55_000
const offlineAfter = limits.presenceOfflineSeconds * 1000
/** A user who was away for this long causes an event. */
const awayFor = offlineAfter - limits.presencePingSeconds * 1000 - 10_000
const legacyActiveWindow = 70_000

export const presence = resource(api)<PresenceFact>({
  commands: {
    update(ctx, params) {
      may.check(may.havePresence, ctx)
      const since = params.last_update_id
      const { row, signals } = report(ctx, params.status === 'active')
      const touch = row ? (state: State) => state.presence.put(row) : () => {}
      if (params.ping_only) return { touch, signals, reply: { presence_last_update_id: since ?? -1 } }
      const rows = listPresence(ctx, row, since, params.history_limit_days)
      const modern = since !== undefined || params.slim_presence
      return {
        touch,
        signals,
        reply: {
          presence_last_update_id: rows.reduce((newest, { updateId }) => Math.max(newest, updateId), since ?? -1),
          server_timestamp: ctx.now / 1000,
          presences: presentRows(ctx, rows, modern),
        },
      }
    },

    ofUser(ctx, { user_id_or_email }) {
      const user = knownUserInPath(ctx, user_id_or_email)
      if (!user?.active) throw missing('user_id_or_email', 'active user', user_id_or_email)
      if (!may.isHuman(user)) throw invalid('user_id_or_email', 'bots have no presence')
      const row = ctx.state.presence.get(user.id)
      if (!row || isHidden(ctx.state)) throw missing('user_id_or_email', 'presence of this user')
      const { status, timestamp } = legacyEntry(row)
      const offline = ctx.now - timestamp * 1000 > offlineAfter
      return {
        reply: {
          presence: {
            ...slim(user, row),
            aggregated: { status: offline ? 'offline' : status, timestamp },
            website: { status, timestamp },
          },
          server_timestamp: ctx.now / 1000,
        },
      }
    },

    list(ctx) {
      const presences = presentRows(ctx, listPresence(ctx), false) as Record<string, ReturnType<typeof legacy>>
      return { reply: { presences, server_timestamp: ctx.now / 1000 } }
    },
  },

  apply: {
    'presence.saved': (state, { rows }) => state.presence.load(rows),
  },
  announce: {
    'presence.saved': () => [],
  },

  sections: {
    presence(ctx, { slimPresence, modernPresence, presenceHistoryDays }) {
      const rows = listPresence(ctx, undefined, undefined, presenceHistoryDays)
      return {
        presences: presentRows(ctx, rows, slimPresence || modernPresence),
        presence_last_update_id: rows.reduce((newest, { updateId }) => Math.max(newest, updateId), -1),
        server_timestamp: ctx.now / 1000,
      }
    },
  },
})

/** Becoming invisible looks like having left; becoming visible again is a report of being active. */
export function toggleVisibility(ctx: Context, visible: boolean): Pick<Outcome<object>, 'touch' | 'signals'> {
  const { state, actor, now } = ctx
  const old = state.presence.get(actor.id)
  const at = visible ? now : now - offlineAfter - coarseness - 10_000
  // Already looks like having left.
  if (!visible && (!old || old.connected <= at)) return {}
  const active = visible ? now : old?.active && Math.min(old.active, at)
  const row: Presence = {
    userId: actor.id,
    ...(active !== undefined && { active }),
    connected: at,
    updateId: state.presence.nextUpdateId(now),
  }
  return {
    touch: state => state.presence.put(row),
    signals: isHidden(state) ? [] : [news(ctx, row, accessAudience(state, actor))],
  }
}

/** What a report changes: at most one row, and rarely anything to tell. */
function report(ctx: Context, active: boolean): { row?: Presence; signals: Announcement[] } {
  const { state, actor, now } = ctx
  if (!userSetting(actor, 'presence_enabled')) return { signals: [] }
  const old = state.presence.get(actor.id)
  const lastActive = old?.active ?? now - day
  const seenAgain = !old || now - old.connected > coarseness
  const activeAgain = active && now - lastActive > coarseness
  if (!seenAgain && !activeAgain) return { signals: [] }
  const activeAt = activeAgain ? now : old?.active
  const row: Presence = {
    userId: actor.id,
    ...(activeAt !== undefined && { active: activeAt }),
    connected: seenAgain || activeAgain ? Math.max(old?.connected ?? 0, now) : old!.connected,
    updateId: state.presence.nextUpdateId(now),
  }
  const cameBack = !old || (active && now - lastActive > awayFor)
  return { row, signals: cameBack ? announcePresence(ctx, row) : [] }
}

/** In a large organization the news would be most of the traffic: clients ask instead. */
function announcePresence(ctx: Context, row: Presence): Announcement[] {
  const audience = accessAudience(ctx.state, ctx.actor)
  return audience.length > limits.presenceEventAudience || isHidden(ctx.state) ? [] : [news(ctx, row, audience)]
}

function news(ctx: Context, row: Presence, to: readonly number[]): Announcement {
  const { actor, state, now } = ctx
  const event = {
    type: 'presence',
    user_id: actor.id,
    server_timestamp: now / 1000,
    presence: { website: legacyEntry(row) },
  }
  const named = { ...event, email: apiEmail(state, actor) }
  const modern = { type: 'presence', presences: { [actor.id]: slim(actor, row) } }
  const form = ({ modernPresence, slimPresence }: Client) => (modernPresence ? modern : slimPresence ? event : named)
  return { to, event: form }
}

function isHidden(state: State): boolean {
  return organizationSetting(state, 'presence_disabled')
}

/**
 * Rows the reader may have; `own` replaces what the same call is about to change.
 *
 * OPEN: the presence of people whom a guest may not know of is hidden too. Public servers show it, unless their
 * CAN_ACCESS_ALL_USERS_GROUP_LIMITS_PRESENCE is on: it would tell hidden people from absent ones.
 */
function listPresence(ctx: Context, own?: Presence, since?: number, historyDays = 14): Presence[] {
  const { state, now } = ctx
  const older = since !== undefined && since > 0
  if (isHidden(state) || (historyDays === 0 && !older)) return []
  const limited = may.mayHaveStrangers(ctx)
  const rows: Presence[] = []
  const consider = (row: Presence) => {
    if (since !== undefined && row.updateId <= since) return
    if (!older && row.connected < now - historyDays * day) return
    const user = state.users.get(row.userId)
    if (user?.active && (!limited || may.accessUser.allows(ctx, user))) rows.push(row)
  }
  for (const row of state.presence.values()) if (row.userId !== own?.userId) consider(row)
  if (own) consider(own)
  return rows
}

function presentRows({ state }: Surroundings, rows: readonly Presence[], modern: boolean) {
  const entries: Record<string, ReturnType<typeof slim> | ReturnType<typeof legacy>> = {}
  for (const row of rows) {
    const user = state.users.get(row.userId)!
    if (modern) entries[String(user.id)] = slim(user, row)
    else entries[apiEmail(state, user)] = legacy(row)
  }
  return entries
}

function slim(user: User, { active, connected }: Presence) {
  return { active_timestamp: seconds(active ?? user.joined), idle_timestamp: seconds(connected) }
}

function legacy(row: Presence) {
  const { pushable, ...aggregated } = legacyEntry(row)
  return { aggregated, website: { ...aggregated, pushable } }
}

function legacyEntry({ active, connected }: Presence) {
  const isActive = active !== undefined && active + legacyActiveWindow >= connected
  return {
    client: 'website',
    status: isActive ? 'active' : 'idle',
    timestamp: seconds(isActive ? active : connected),
    pushable: false,
  }
}
