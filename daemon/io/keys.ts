// API keys and passwords. Keys are derived from the secret of the store and never stored; passwords are scrypt hashes.

import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import type { Keys } from '../domain/resource.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export function keysFrom(secret: string): Keys {
  const controlToken = derived(secret, 'control-token')
  return {
    // A new key is a higher version of it.
    keyOf: ({ id, keyVersion }) => derived(secret, `api-key:${id}:${keyVersion}`),
    // Stays the same when the key of the bot changes.
    tokenOf({ id, bot }) {
      const version = bot?.service && 'url' in bot.service ? bot.service.tokenVersion : undefined
      return derived(secret, version === undefined ? `webhook-token:${id}` : `webhook-token:${id}:${version}`)
    },
    controlToken,
    sameSecret,
  }
}

/** 32 letters and digits. */
function derived(secret: string, purpose: string): string {
  const bytes = createHmac('sha512', secret).update(purpose).digest()
  let key = ''
  for (let i = 0; i < 32; i++) key += alphabet[(bytes[2 * i]! * 256 + bytes[2 * i + 1]!) % alphabet.length]
  return key
}

function sameSecret(given: string, wanted: string): boolean {
  const a = Buffer.from(given)
  const b = Buffer.from(wanted)
  // The length is no secret: all keys have the same one.
  return a.length === b.length && timingSafeEqual(a, b)
}

export function newSecret(): string {
  return randomBytes(32).toString('hex')
}

const cost = { N: 16384, r: 8, p: 1 }

/** Takes the place of a hash where there is no password: nothing matches it. */
export const noPassword = `scrypt$${cost.N}$${'A'.repeat(22)}==$`

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  return `scrypt$${cost.N}$${salt.toString('base64')}$${(await derive(password, salt, cost.N)).toString('base64')}`
}

export async function verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
  const [, n, salt, wanted] = (hash ?? noPassword).split('$')
  const given = await derive(password, Buffer.from(salt!, 'base64'), Number(n))
  const known = Buffer.from(wanted!, 'base64')
  return known.length === given.length && timingSafeEqual(given, known)
}

function derive(password: string, salt: Buffer, n: number): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    scrypt(password.normalize('NFKC'), salt, 32, { ...cost, N: n }, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )
}
