// Settings that newer levels have: the table of each kind of setting says since when.

import type { Change } from './change.ts'

type Kind = 'user' | 'organization' | 'channel'

type Settings = Readonly<Record<string, object>>

const abouts: Readonly<Record<Kind, string>> = {
  user: 'People have the setting',
  organization: 'The organization has the setting',
  channel: 'Channels have the setting',
}

export function settingChanges(kind: Kind, settings: Settings): Change[] {
  return Object.entries(settings).flatMap(([name, setting]) =>
    'since' in setting
      ? [{ level: setting.since as number, about: `${abouts[kind]} ${name}.`, ...forms[kind](name) }]
      : [],
  )
}

type Event = Readonly<Record<string, any>>

/** Events that tell of one property, or of several at once. */
function untold(name: string) {
  return (event: Event): Event | null => {
    if (event.property === name) return null
    if (event.data?.[name] === undefined) return event
    const { [name]: _, ...data } = event.data
    return Object.keys(data).length > 0 ? { ...event, data } : null
  }
}

const forms: Readonly<Record<Kind, (name: string) => Partial<Change>>> = {
  user: name => ({
    register: { begins: [`user_settings.${name}`, `realm_user_settings_defaults.${name}`] },
    replies: { 'get-settings': { begins: [`user_settings.${name}`] } },
    events: { user_settings: { older: untold(name) }, realm_user_settings_defaults: { older: untold(name) } },
  }),
  organization: name => ({
    register: { begins: [`realm_${name}`, `server_supported_permission_settings.realm.${name}`] },
    replies: { 'get-realm': { begins: [`realm.realm_${name}`] } },
    events: { realm: { older: untold(name) } },
  }),
  // What shows channels leaves the field out itself.
  channel: name => ({
    register: { begins: [`server_supported_permission_settings.stream.${name}`] },
    events: { stream: { older: untold(name) } },
  }),
}
