// API keys and tokens: derived from the secret of the store and never stored.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Keys } from '../domain/resource.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export function keysFrom(secret: string): Keys {
  const controlToken = derive(secret, 'control-token')
  const digestKey = derive(secret, 'digest')
  return {
    // A new key is a higher version of it.
    deriveKey: ({ id, keyVersion }) => derive(secret, `api-key:${id}:${keyVersion}`),
    // Stays the same when the key of the bot changes.
    deriveToken({ id, bot }) {
      const version = bot?.service && 'url' in bot.service ? bot.service.tokenVersion : undefined
      return derive(secret, version === undefined ? `webhook-token:${id}` : `webhook-token:${id}:${version}`)
    },
    controlToken,
    digestText: text => createHmac('sha256', digestKey).update(text).digest().subarray(0, 24).toString('base64url'),
    sameSecret,
  }
}

/** 32 letters and digits. */
function derive(secret: string, purpose: string): string {
  const bytes = createHmac('sha512', secret).update(purpose).digest()
  let key = ''
  for (let i = 0; i < 32; i++) key += alphabet[(bytes[2 * i]! * 256 + bytes[2 * i + 1]!) % alphabet.length]
  return key
}

/** Compares bytes: a text of the right length can have more of them. */
export function sameSecret(given: string, wanted: string): boolean {
  const a = Buffer.from(given)
  const b = Buffer.from(wanted)
  // The length is no secret: all keys have the same one.
  return a.length === b.length && timingSafeEqual(a, b)
}

export function newSecret(): string {
  return randomBytes(32).toString('hex')
}
