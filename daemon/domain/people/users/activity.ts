// Accounts that leave, come back, and grow out of their waiting period.

import type { ParamsOf, ReplyOf } from '../../../api/define.ts'
import type { users as api } from '../../../api/people/users.ts'
import { newKey, withNewToken } from '../../bots/secrets.ts'
import type { Fact } from '../../facts.ts'
import { limits } from '../../limits.ts'
import type { UserFact } from '../../model/facts/people.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { State, User } from '../../model/state.ts'
import { conflict, missing, Refusal } from '../../refusal.ts'
import type { Context, Job, Mail, Outcome, Surroundings } from '../../resource.ts'
import { activeUsers } from '../../rules/audiences.ts'
import * as may from '../../rules/index.ts'
import { knownUser } from '../../rules/user-access.ts'
import { clean } from '../../values/text.ts'
import { checkBotName } from './checks.ts'
import { type Deletions, deleteAccountData, deletesMessages } from './deletions.ts'
import { settleDeactivated } from './lifecycle.ts'

export function deactivate(
  ctx: Context,
  { user_id, deactivation_notification_comment: comment, actions = {} }: ParamsOf<typeof api.deactivate>,
): Outcome<ReplyOf<typeof api.deactivate>> {
  may.check(may.administer, ctx)
  const user = ctx.state.users.get(user_id)
  if (!user || user.bot) throw missing('user_id', 'person', user_id)
  may.insist(may.deactivateUser, ctx, user)
  if (may.isOnlyOwner(ctx.state, user)) throw conflict('user_id', 'the only organization owner cannot be deactivated')
  if (!user.active) throw conflict('user_id', 'the account is already deactivated')
  if (deletesMessages(actions)) may.check(may.deleteAnyMessage, ctx, undefined)
  const text =
    comment === undefined ? undefined : clean('deactivation_notification_comment', comment, limits.deactivationComment)
  return {
    facts: leaving(ctx, user, actions),
    mails: text === undefined ? [] : [farewell(ctx, user, text)],
    reply: {},
  }
}

export function deactivateSelf(ctx: Context): Outcome<ReplyOf<typeof api.deactivateSelf>> {
  const isLastUser = activeUsers(ctx.state, user => !user.bot?.system).length === 1
  if (isLastUser || may.isOnlyOwner(ctx.state, ctx.actor))
    throw new Refusal(
      isLastUser
        ? 'You are the only user of this organization.'
        : 'You are the only organization owner; make another user an owner first.',
      {
        code: 'CANNOT_DEACTIVATE_LAST_USER',
        fields: { is_last_owner: !isLastUser, entity: isLastUser ? 'user' : 'organization owner' },
      },
    )
  return { facts: leaving(ctx, ctx.actor), reply: {} }
}

/** Bots go before their owner. */
export function leaving(ctx: Context, user: User, actions: Deletions = {}): Fact[] {
  const bots = ctx.state.users.where('botOwner', user.id).filter(bot => bot.active)
  const announced = listAnnounced(ctx.state, [user, ...bots])
  return [...bots, user].flatMap(account => [
    ...deleteAccountData(ctx, account, actions),
    ...settleDeactivated(ctx, account),
    { type: 'user.deactivated', userId: account.id, ...(!announced.has(account) && { quiet: true }) },
  ])
}

/**
 * The accounts of which other subscribers hear in each channel: the first, and as many others as have few channels together.
 * OPEN: the public server sends any number of events; here clients learn from those about the accounts alone that the others are gone.
 */
function listAnnounced({ subscriptions }: State, accounts: readonly User[]): ReadonlySet<User> {
  const announced = new Set<User>()
  let channels = 0
  for (const account of accounts) {
    channels += subscriptions.channelsOfUser(account.id).length
    if (channels > limits.departuresAnnounced && announced.size > 0) break
    announced.add(account)
  }
  return announced
}

export function reactivate(
  ctx: Context,
  { user_id }: ParamsOf<typeof api.reactivate>,
): Outcome<ReplyOf<typeof api.reactivate>> {
  const user = knownUser(ctx, user_id)
  if (!user || user.bot?.system) throw missing('user_id', 'user', user_id)
  may.check(may.reactivateUser, ctx, user)
  if (user.active) return { reply: {} }
  if (!user.bot) return { facts: [{ type: 'user.reactivated', userId: user.id }], reply: {} }
  may.check(may.createBot, ctx, user.bot.type)
  checkBotName(ctx.state, user.fullName, user)
  const orphaned = user.bot.ownerId === null || !ctx.state.users.get(user.bot.ownerId)?.active
  if (!orphaned) return { facts: [{ type: 'user.reactivated', userId: user.id }], reply: {} }
  // It moves to the actor, and the former owner knows the old key and token.
  const bot = { ...user.bot, ownerId: ctx.actor.id, ...withNewToken(user.bot) }
  return {
    facts: [
      { type: 'user.reactivated', userId: user.id, ownerId: ctx.actor.id, formerOwnerId: user.bot.ownerId },
      ...(bot.service ? [{ type: 'bot.configured', userId: user.id, bot, changed: ['service'] } as const] : []),
      newKey(user),
    ],
    reply: {},
  }
}

function farewell(ctx: Context, user: User, comment: string): Mail {
  const organization = organizationSetting(ctx.state, 'name')
  const lines = [
    `Hi ${user.fullName},`,
    `your account ${user.email} at ${organization} (${ctx.server.url}) has been deactivated, and you can no longer log in.`,
    ...(comment === '' ? [] : ['The administrators provided the following comment:', comment]),
  ]
  return {
    to: user.email,
    subject: `Notification of account deactivation on ${organization}`,
    text: lines.join('\n\n'),
  }
}

// --- the waiting period -----------------------------------------------------------------------------------------

const day = 24 * 60 * 60 * 1000

/**
 * Who becomes a full member, or is one no longer, when the waiting period is this many days. The person who changes the
 * organization's waiting period adds these facts to that of the change.
 */
export function settleWaiting(state: State, now: number, thresholdDays: number): UserFact[] {
  const done: number[] = []
  const waiting: number[] = []
  for (const user of state.users.values()) {
    if (user.bot?.system) continue
    const fullMember = now >= user.joined + thresholdDays * day
    if (fullMember !== user.fullMember) (fullMember ? done : waiting).push(user.id)
  }
  return [settle(done, true), settle(waiting, false)].flat()
}

function settle(userIds: number[], fullMember: boolean): UserFact[] {
  return userIds.length > 0 ? [{ type: 'user.waiting-settled', userIds, fullMember }] : []
}

const dueCache = new WeakMap<State, { readonly version: number; readonly threshold: number; readonly due: number }>()

export const endOfWaiting: Job = {
  op: 'end-waiting-period',
  // Asked after every change: worked out again only when accounts or the period changed.
  due(state) {
    const threshold = organizationSetting(state, 'waiting_period_threshold')
    let known = dueCache.get(state)
    if (known?.version !== state.users.version || known.threshold !== threshold) {
      const joined = state.users.where('newcomer', 1).map(user => user.joined)
      const due = joined.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY) + threshold * day
      known = { version: state.users.version, threshold, due }
      dueCache.set(state, known)
    }
    return known.due === Number.POSITIVE_INFINITY ? undefined : known.due
  },
  run: (ctx: Surroundings) => ({
    facts: settleWaiting(ctx.state, ctx.now, organizationSetting(ctx.state, 'waiting_period_threshold')),
    reply: {},
  }),
}
