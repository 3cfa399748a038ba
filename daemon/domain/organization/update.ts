// PATCH /realm: every setting checked before any is changed.

import type { ParamsOf, ReplyOf } from '../../api/define.ts'
import type { organization as api } from '../../api/organization/organization.ts'
import { type OrganizationSetting, organizationSettings } from '../../api/shapes/organization-settings.ts'
import { type OrganizationPermission, organizationPermissions } from '../../api/shapes/permission-settings.ts'
import type { Fact } from '../facts.ts'
import { limits } from '../limits.ts'
import type { GroupValue } from '../model/roles.ts'
import { organizationSetting } from '../model/settings.ts'
import { checkLanguage } from '../people/settings/check.ts'
import { settleWaiting } from '../people/users/activity.ts'
import { conflict, invalid, missing } from '../refusal.ts'
import type { Context, Outcome } from '../resource.ts'
import { changedValue, presentValue } from '../rules/group-values.ts'
import * as may from '../rules/index.ts'
import { knownActiveUser } from '../rules/user-access.ts'
import { clean } from '../values/text.ts'
import { checkMethods, enabledMethods, presentEnabled } from './authentication.ts'

type Params = ParamsOf<typeof api.update>

export function update(ctx: Context, params: Params): Outcome<ReplyOf<typeof api.update>> {
  may.insist(may.administer, ctx)
  for (const name of Object.keys(params)) if (isForOwners(name)) may.insist(may.own, ctx, `change ${name}`)
  if (params.string_id !== undefined)
    throw conflict('string_id', 'only a demo organization can change its address; this server has none')
  const settings = changedSettings(ctx, params)
  const permissions = changedPermissions(ctx, params)
  const some = Object.keys(settings).length + Object.keys(permissions).length > 0
  const enabled = settings.authentication_methods as Readonly<Record<string, boolean>> | undefined
  const methods = enabled && { methods: presentEnabled(enabled, ctx.server) }
  const facts: Fact[] = some ? [{ type: 'organization.changed', settings, permissions, ...methods }] : []
  const waiting = settings.waiting_period_threshold
  if (typeof waiting === 'number') facts.push(...settleWaiting(ctx.state, ctx.now, waiting))
  return { facts, reply: echo(ctx, params, settings, permissions) }
}

function isForOwners(name: string): boolean {
  const setting: { owner?: true } | undefined =
    (organizationSettings as Record<string, object>)[name] ?? (organizationPermissions as Record<string, object>)[name]
  return name === 'authentication_methods' || name === 'string_id' || setting?.owner === true
}

function changedSettings(ctx: Context, params: Params): Record<string, unknown> {
  const settings: Record<string, unknown> = {}
  for (const name of Object.keys(organizationSettings) as OrganizationSetting[]) {
    const given = name === 'giphy_rating' ? (params.gif_rating_policy ?? params[name]) : params[name]
    if (given === undefined) continue
    const value = checkSetting(ctx, name, given)
    if (name === 'org_type' || value !== organizationSetting(ctx.state, name)) settings[name] = value
  }
  if (params.authentication_methods) {
    const methods = checkMethods(ctx.state, ctx.server, params.authentication_methods)
    if (JSON.stringify(methods) !== JSON.stringify(enabledMethods(ctx.state))) settings.authentication_methods = methods
  }
  return settings
}

function changedPermissions(ctx: Context, params: Params): Partial<Record<OrganizationPermission, GroupValue>> {
  const permissions: Partial<Record<OrganizationPermission, GroupValue>> = {}
  for (const name of Object.keys(organizationPermissions) as OrganizationPermission[]) {
    const change = params[name]
    if (!change) continue
    const current = ctx.state.organization.permissions[name]
    const value = changedValue(
      ctx.state,
      name,
      organizationPermissions[name],
      current,
      change,
      id => knownActiveUser(ctx, id) !== undefined,
    )
    if (value !== undefined) permissions[name] = value
  }
  return permissions
}

/** The value as it is kept. */
function checkSetting(ctx: Context, name: OrganizationSetting, given: unknown): unknown {
  switch (name) {
    case 'name': {
      const text = clean(name, given as string, limits.organizationName)
      if (text === '') throw invalid('name', 'cannot be blank')
      return text
    }
    case 'description':
      return clean(name, given as string, limits.organizationDescription)
    case 'welcome_message_custom_text':
      return clean(name, given as string, limits.welcomeMessage)
    case 'default_language':
      checkLanguage(name, given as string)
      return given
    case 'message_retention_days':
      return limit(name, given) ?? -1
    case 'message_content_edit_limit_seconds':
    case 'message_content_delete_limit_seconds':
    case 'move_messages_within_stream_limit_seconds':
    case 'move_messages_between_streams_limit_seconds':
      return limit(name, given)
    case 'video_chat_provider':
      if (given !== 0 && given !== 1) throw invalid('video_chat_provider', 'must be 0 (none) or 1 (Jitsi)')
      return given
    case 'jitsi_server_url':
      return jitsiUrl(given as string | null)
    case 'new_stream_announcements_stream_id':
    case 'signup_announcements_stream_id':
    case 'svc_update_announcements_stream_id':
    case 'moderation_request_channel_id':
      return channelPointer(ctx, name, given as number)
    default:
      return given
  }
}

/** null: none. */
function limit(name: string, given: unknown): number | null {
  if (given === 'unlimited') return null
  if (typeof given === 'number' && given > 0 && given <= 2_147_483_647) return given
  throw invalid(name, 'must be a number above 0, or "unlimited"', {
    code: 'REQUEST_VARIABLE_INVALID',
    fields: { var_name: name, bad_value: given },
  })
}

function jitsiUrl(given: string | null): string | null {
  if (given === null || given === 'default') return null
  const url = clean('jitsi_server_url', given, limits.jitsiUrl)
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw invalid('jitsi_server_url', 'must be a URL')
  return url
}

function channelPointer(ctx: Context, name: OrganizationSetting, id: number): number {
  if (id === -1) return id
  const channel = ctx.state.channels.get(id)
  if (!channel || channel.archived || !may.seeMetadata.allows(ctx, channel)) throw missing(name, 'channel', id)
  if (name === 'moderation_request_channel_id' && !channel.inviteOnly)
    throw invalid('moderation_request_channel_id', 'must be the ID of a private channel')
  return id
}

/** What changed, in the reply: texts only as a word, for they may be long. */
function echo(
  ctx: Context,
  params: Params,
  settings: Record<string, unknown>,
  permissions: Partial<Record<string, GroupValue>>,
) {
  const changed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(settings)) changed[name] = typeof value === 'string' ? 'updated' : value
  if (settings.authentication_methods) changed.authentication_methods = params.authentication_methods
  for (const [name, value] of Object.entries(permissions)) changed[name] = presentValue(ctx.state, value!)
  return changed
}
