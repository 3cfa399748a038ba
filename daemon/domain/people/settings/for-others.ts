// Settings of other people, changed by an administrator.

import type { ParamsOf } from '../../../api/define.ts'
import type { settings as api } from '../../../api/people/settings.ts'
import type { UserSetting } from '../../../api/shapes/user-settings.ts'
import type { SettingChanges } from '../../model/facts/people.ts'
import { userSetting } from '../../model/settings.ts'
import type { User } from '../../model/state.ts'
import { invalid, missing } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import { activeGroup, memberCheck } from '../../rules/group-values.ts'
import * as may from '../../rules/index.ts'
import { changedSettings } from './check.ts'

type Params = ParamsOf<typeof api.update>
type Targets = NonNullable<Params['target_users']>

/** What people decide for themselves alone. */
const personal = [
  'full_name',
  'email',
  'new_password',
  'timezone',
  'allow_private_data_export',
  'email_address_visibility',
  'enable_digest_emails',
  'enable_login_emails',
  'enable_marketing_emails',
  'presence_enabled',
  'send_private_typing_notifications',
  'send_read_receipts',
  'send_stream_typing_notifications',
] as const satisfies readonly (keyof Params)[]

/** Who gets which changes; nothing for people whose settings are as wanted. */
export function changesOfOthers(ctx: Context, params: Params, targets: Targets): [User, SettingChanges][] {
  may.insist(may.administer, ctx)
  for (const name of personal) if (params[name] !== undefined) throw invalid(name, 'cannot be changed for other people')
  const { skip_if_already_edited: skip } = targets
  return targetedPeople(ctx, targets).flatMap((user): [User, SettingChanges][] => {
    const changes = Object.entries(changedSettings(params, name => userSetting(user, name as UserSetting)))
    const wanted = changes.filter(([name]) => !skip || !user.chosenSettings?.includes(name))
    return wanted.length > 0 ? [[user, Object.fromEntries(wanted)]] : []
  })
}

/** Deactivated accounts too if they are named: they may come back. */
function targetedPeople({ state }: Context, { user_ids = [], group_ids = [] }: Targets): User[] {
  if (user_ids.length + group_ids.length === 0) throw invalid('target_users', 'must have user_ids or group_ids')
  const people = new Set<User>()
  for (const [index, id] of user_ids.entries()) {
    const user = state.users.get(id)
    if (!user || user.bot) throw missing(`target_users.user_ids[${index}]`, 'person', id)
    people.add(user)
  }
  const groups = group_ids.map((id, index) => activeGroup(state, `target_users.group_ids[${index}]`, id))
  const isMember = memberCheck(
    state,
    groups.map(({ id }) => id),
  )
  if (groups.length > 0) for (const user of state.users.values()) if (!user.bot && isMember(user)) people.add(user)
  return [...people]
}
