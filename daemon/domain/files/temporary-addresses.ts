// Addresses at which a file can be fetched for a short while by anyone who knows them.

import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Attachment } from '../model/rows/messages.ts'
import type { User } from '../model/state.ts'
import type { Context } from '../resource.ts'

/** Milliseconds. */
const shortWhile = 60_000

type Signing = Pick<Context, 'state' | 'now' | 'keys'>

/** Signed with the asker's key: it dies with the key, with the minute, and with the right to see the file. */
export function temporaryUrl(ctx: Context, { path }: Attachment): string {
  const expires = ctx.now + shortWhile
  const signature = sign(ctx.keys.deriveKey(ctx.actor), ctx.actor, expires, path)
  return `/user_uploads/temporary/${ctx.actor.id}-${expires}-${signature}/${path}`
}

/** The file behind a temporary address, and on whose behalf it is fetched; nothing if it is not, or no longer, good. */
export function temporaryReader({ state, now, keys }: Signing, token: string, path: string): User | undefined {
  const [, userId, expires, signature] = /^(\d{1,15})-(\d{1,15})-([0-9a-f]{64})$/.exec(token) ?? []
  const user = state.users.get(Number(userId))
  if (!user?.active || Number(expires) <= now) return undefined
  const wanted = sign(keys.deriveKey(user), user, Number(expires), path)
  return keys.sameSecret(signature!, wanted) ? user : undefined
}

function sign(key: string, { id }: User, expires: number, path: string): string {
  return bytesToHex(hmac(sha256, utf8ToBytes(key), utf8ToBytes(`upload ${id} ${expires} ${path}`)))
}
