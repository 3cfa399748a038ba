// Looking at users: everyone the reader may know of.

import type { ParamsOf, ReplyOf } from '../../../api/define.ts'
import type { users as api } from '../../../api/people/users.ts'
import { apiEmail, emailIsPublic } from '../../model/lookups.ts'
import { newestOwn } from '../../model/message-reader.ts'
import type { State, User } from '../../model/state.ts'
import { missing } from '../../refusal.ts'
import type { Client, Context, Outcome } from '../../resource.ts'
import * as may from '../../rules/index.ts'
import { Written } from '../../written.ts'
import { avatarUrl, presentAvatar, presentStranger, presentUser, userText, type View } from './present.ts'

type Reading = Pick<ParamsOf<typeof api.show>, 'client_gravatar' | 'include_custom_profile_fields'>

export function list(ctx: Context, params: ParamsOf<typeof api.list>): Outcome<ReplyOf<typeof api.list>> {
  const limited = may.mayHaveStrangers(ctx)
  const shared = !limited && !params.user_ids && !params.include_custom_profile_fields
  // People of one role see the same list, but for an address of their own that is hidden from others.
  const key = `${may.sightOf(ctx.actor)} ${params.client_gravatar} ${emailIsPublic(ctx.actor) ? '' : ctx.actor.id}`
  const known = shared && lists.get(ctx.state)?.get(key)
  if (known && known.version === ctx.state.users.version) return { reply: known.written.as() }
  const members: string[] = []
  for (const user of listWanted(ctx.state, params.user_ids)) {
    if (user.bot?.system) continue
    const isStranger = limited && !may.accessUser.allows(ctx, user)
    if (isStranger && ctx.server.level.rules.strangersLeftOut) continue
    members.push(
      isStranger
        ? JSON.stringify(presentStranger(ctx.state, user, ctx.server.level))
        : userText(ctx.state, user, chooseView(ctx, user, params)),
    )
  }
  const written = new Written(`{"members":[${members.join(',')}]}`)
  if (shared) remember(ctx.state, key, written)
  return { reply: written.as() }
}

const lists = new WeakMap<State, Map<string, { readonly version: number; readonly written: Written }>>()
const mostLists = 8

/** Until an account changes. */
function remember(state: State, key: string, written: Written): void {
  const known = lists.get(state) ?? new Map()
  lists.set(state, known)
  if (known.size >= mostLists) known.clear()
  known.set(key, { version: state.users.version, written })
}

/** `parameter` is how the user was named. */
export function show(
  ctx: Context,
  parameter: string,
  user: User | undefined,
  params: Reading,
): Outcome<ReplyOf<typeof api.show>> {
  if (!user || !may.accessUser.allows(ctx, user)) throw missing(parameter, 'user')
  return { reply: { user: presentUser(ctx.state, user, chooseView(ctx, user, params)) } }
}

export function me(ctx: Context): Outcome<ReplyOf<typeof api.me>> {
  const view = { seesEmail: true, clientGravatar: false, withProfile: true, level: ctx.server.level }
  return { reply: { ...presentUser(ctx.state, ctx.actor, view), max_message_id: newestOwn(ctx.state, ctx.actor.id) } }
}

/** The realm_user part of `register`: everyone, and what the reader may do. */
export function section(ctx: Context, { clientGravatar, incompleteUserList, level }: Client): object {
  const active: object[] = []
  const deactivated: object[] = []
  const system: object[] = []
  for (const user of ctx.state.users.values()) {
    const known = may.accessUser.allows(ctx, user)
    if (!known && incompleteUserList) continue
    const view = { seesEmail: may.seeEmail.allows(ctx, user), clientGravatar, withProfile: true, level }
    if (user.bot?.system) {
      // No client works out their avatars, and unlike the lists of people this one says who is active.
      system.push(presentUser(ctx.state, user, { ...view, clientGravatar: false }))
      continue
    }
    const { is_active, ...shown } = known ? presentUser(ctx.state, user, view) : presentStranger(ctx.state, user, level)
    ;(is_active ? active : deactivated).push(shown)
  }
  return {
    realm_users: active,
    realm_non_active_users: deactivated,
    cross_realm_bots: system,
    ...presentSelf(ctx),
  }
}

function presentSelf(ctx: Context) {
  const { state, actor } = ctx
  const { avatar_url_medium, avatar_source } = presentAvatar(actor)
  const can_create_public_streams = may.holdsInOrganization(ctx, 'can_create_public_channel_group')
  const can_create_private_streams = may.holdsInOrganization(ctx, 'can_create_private_channel_group')
  const can_create_web_public_streams =
    may.allowsWebPublic(state) && may.holdsInOrganization(ctx, 'can_create_web_public_channel_group')
  return {
    user_id: actor.id,
    email: apiEmail(state, actor),
    delivery_email: actor.email,
    full_name: actor.fullName,
    avatar_url: avatarUrl(actor),
    avatar_url_medium,
    avatar_source,
    is_owner: may.isOwner(actor),
    is_admin: may.isAdministrator(actor),
    is_moderator: may.isModerator(actor),
    is_guest: may.isGuest(actor),
    can_create_public_streams,
    can_create_private_streams,
    can_create_web_public_streams,
    can_create_streams: can_create_public_streams || can_create_private_streams || can_create_web_public_streams,
    can_invite_others_to_realm: may.holdsInOrganization(ctx, 'can_invite_users_group'),
  }
}

function chooseView(ctx: Context, user: User, params: Reading): View {
  return {
    seesEmail: may.seeEmail.allows(ctx, user),
    clientGravatar: params.client_gravatar,
    withProfile: params.include_custom_profile_fields,
    level: ctx.server.level,
  }
}

function* listWanted(state: State, ids: readonly number[] | undefined): Iterable<User> {
  if (!ids) return yield* state.users.values()
  for (const id of new Set(ids)) {
    const user = state.users.get(id)
    if (user) yield user
  }
}
