// Which values a setting takes, where its shape does not say it all.

import { userSettings } from '../../../api/shapes/user-settings.ts'
import type { SettingChanges } from '../../model/facts/people.ts'
import { inQuotes, invalid } from '../../refusal.ts'

/** Sounds a client may play; `none` is silence. */
export const notificationSounds = ['ding', 'chime', 'bell', 'knock', 'pop'] as const

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
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(userSettings, name)) continue
    check(name, value)
    if (value !== current(name)) changes[name] = value
  }
  return changes
}

function check(name: string, value: unknown): void {
  const range = ranges[name]
  if (range && ((value as number) < range[0] || (value as number) > range[1]))
    throw invalid(name, `must be from ${range[0]} to ${range[1]}`)
  if (name === 'timezone' && !isTimezone(value as string))
    throw invalid('timezone', `${inQuotes(value as string)} is not a time zone`)
  if (name === 'default_language') checkLanguage(name, value as string)
  if (name === 'notification_sound' && value !== 'none' && !notificationSounds.includes(value as never))
    throw invalid('notification_sound', `must be none or one of ${notificationSounds.join(', ')}`)
}

/** A name of the IANA database, or none at all. */
function isTimezone(name: string): boolean {
  if (name === '') return true
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
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
