// Checks the value of a setting, where its shape does not say it all.

import sounds from '../../../../data/notification-sounds.json' with { type: 'json' }
import timeZones from '../../../../data/time-zones.json' with { type: 'json' }
import { userSettings } from '../../../api/shapes/user-settings.ts'
import type { SettingChanges } from '../../model/facts/people.ts'
import { inQuotes, invalid } from '../../refusal.ts'

/** Sounds that a client may play; `none` is silence. One has the name of the service. */
export const notificationSounds = sounds.map(name => (name === 'zulip' ? 'svc' : name))

export const emojisets = [
  { key: 'google', text: 'Google' },
  { key: 'twitter', text: 'Twitter' },
  { key: 'text', text: 'Plain text' },
  { key: 'google-blob', text: 'Google blobs' },
] as const

const ranges: Readonly<Record<string, readonly [number, number]>> = {
  email_notifications_batching_period_seconds: [1, 604_800],
  // OPEN: no bounds are documented for these two; these keep text readable.
  web_font_size_px: [1, 100],
  web_line_height_percent: [50, 500],
}

/** What was given and differs from the present value; refuses what a setting does not take. */
export function changedSettings(given: SettingChanges, current: (name: string) => unknown): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  for (const [name, sent] of Object.entries(given)) {
    if (!Object.hasOwn(userSettings, name)) continue
    const value = currentValue(name, sent)
    check(name, value)
    if (value !== current(name)) changes[name] = value
  }
  return changes
}

/** Zones that were renamed, and the sound that has the name of the service, are known by their present names. */
function currentValue(name: string, sent: unknown): unknown {
  if (name === 'timezone') return currentZone(sent as string)
  if (sent === 'recent') return 'recent_topics'
  return name === 'notification_sound' && sent === 'zulip' ? 'svc' : sent
}

function check(name: string, value: unknown): void {
  const range = ranges[name]
  if (range && ((value as number) < range[0] || (value as number) > range[1]))
    throw invalid(name, `must be from ${range[0]} to ${range[1]}`)
  if (name === 'timezone' && !isTimezone(value as string))
    throw invalid('timezone', `${inQuotes(value as string)} is not a time zone`)
  if (name === 'default_language') checkLanguage(name, value as string)
  if (name === 'notification_sound' && value !== 'none' && !notificationSounds.includes(value as string))
    throw invalid('notification_sound', `must be none or one of ${notificationSounds.join(', ')}`)
}

/** A name of the IANA database, an old one too, or none at all. */
function isTimezone(name: string): boolean {
  return name === '' || Object.hasOwn(links, name) || timeZones.zones.split(' ').includes(name)
}

const links: Readonly<Record<string, string>> = timeZones.links

function currentZone(name: string): string {
  return Object.hasOwn(links, name) ? links[name]! : name
}

export function checkLanguage(name: string, code: string): void {
  if (!/^[a-z]{2,3}([-_][A-Za-z0-9]{2,8})?$/.test(code) || languageName(code) === undefined)
    throw invalid(name, `${inQuotes(code)} is not a language code`)
}

/** What the language calls itself. */
export function languageName(code: string): string | undefined {
  const tag = code.replace('_', '-')
  try {
    return new Intl.DisplayNames([tag], { type: 'language', fallback: 'none' }).of(tag)
  } catch {
    return undefined
  }
}
