// Reads settings: what was set, or the default of the table.

import type { Static } from '../../api/define.ts'
import { type OrganizationSetting, organizationSettings } from '../../api/shapes/organization-settings.ts'
import { type UserSetting, userSettings } from '../../api/shapes/user-settings.ts'
import type { State, User } from './state.ts'

type UserSettingValue<S extends UserSetting> = Static<(typeof userSettings)[S]['shape']>
type OrganizationSettingValue<S extends OrganizationSetting> = Widened<(typeof organizationSettings)[S]['default']>

/** Limits can be null (none) and numbers other than their default. */
type Widened<D> = D extends boolean ? boolean : D extends number ? number : D extends string ? string : string | null

export function userSetting<S extends UserSetting>(user: User, setting: S): UserSettingValue<S> {
  return (Object.hasOwn(user.settings, setting) ? user.settings[setting] : userSettings[setting].default) as never
}

/** What a new account starts with, where it differs from the table. */
export function initialSettings({ organization }: State): Readonly<Record<string, unknown>> {
  const { default_language } = organization.settings
  return { ...organization.userDefaults, ...(default_language !== undefined && { default_language }) }
}

export function organizationSetting<S extends OrganizationSetting>(
  state: State,
  setting: S,
): OrganizationSettingValue<S> {
  const { settings } = state.organization
  return (Object.hasOwn(settings, setting) ? settings[setting] : organizationSettings[setting].default) as never
}
