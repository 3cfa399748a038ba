// Recognizes mobile apps that are too old. They ask before they log in; the answers are those of the public server.

import { malformed, type Refusal } from '../domain/refusal.ts'
import { readUserAgent } from './user-agent.ts'

/** Older apps for Android show broken notifications. */
const oldestAndroid = [16, 2, 96]

/** The refusal for an app that is too old, or that does not name itself; undefined for all others. */
export function refuseOldApp(userAgent: string | undefined): Refusal | undefined {
  if (userAgent === undefined) return malformed('Send a User-Agent header.')
  const { name, version } = readUserAgent(userAgent)
  const isOld =
    name === 'ZulipInvalid' || (name === 'ZulipMobile' && /\bAndroid\b/i.test(userAgent) && isOlder(version))
  // Old apps compare the first words.
  return isOld ? malformed('Client is too old. Install a newer version.') : undefined
}

/** False where the version cannot be compared. */
function isOlder(version: string): boolean {
  const numbers = /^\d+(\.\d+)*/.exec(version)?.[0].split('.').map(Number)
  if (!numbers) return false
  for (const [index, least] of oldestAndroid.entries()) {
    const number = numbers[index]
    if (number === undefined) return true
    if (number !== least) return number < least
  }
  return false
}
