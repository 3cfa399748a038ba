// API keys and passwords. Keys are derived from the store's secret and never stored; passwords are scrypt hashes.

import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import type { User } from '../domain/model/state.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Regenerating a key is a bump of the account's key version. */
export function deriveKey(secret: string, user: Pick<User, 'id' | 'keyVersion'>): string {
  return derived(secret, `api-key:${user.id}:${user.keyVersion}`)
}

/** What the outgoing webhooks of a bot carry; it stays the same when the key changes. */
export function deriveToken(secret: string, user: Pick<User, 'id'>): string {
  return derived(secret, `webhook-token:${user.id}`)
}

/** What opens the control plane. */
export function deriveControlToken(secret: string): string {
  return derived(secret, 'control-token')
}

/** 32 letters and digits. */
function derived(secret: string, purpose: string): string {
  const bytes = createHmac('sha512', secret).update(purpose).digest()
  let key = ''
  for (let i = 0; i < 32; i++) key += alphabet[(bytes[2 * i]! * 256 + bytes[2 * i + 1]!) % alphabet.length]
  return key
}

export function sameSecret(given: string, wanted: string): boolean {
  const a = Buffer.from(given)
  const b = Buffer.from(wanted)
  // Length is no secret: keys all have the same.
  return a.length === b.length && timingSafeEqual(a, b)
}

export function newSecret(): string {
  return randomBytes(32).toString('hex')
}

const cost = { N: 16384, r: 8, p: 1 }

/** In the place of a hash: no password fits it. */
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
