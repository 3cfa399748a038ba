// HTTP Basic authentication. The user name is the API email or the real one, in any case; the password is the API key.

import { isUtf8 } from 'node:buffer'
import { userByEmail } from '../domain/model/lookups.ts'
import type { State, User } from '../domain/model/state.ts'
import { inQuotes, organizationDeactivated, Refusal, unauthenticated, userDeactivated } from '../domain/refusal.ts'
import type { Keys } from '../domain/resource.ts'

interface Known {
  readonly userId: number
  readonly keyVersion: number
  readonly email: string
}

const mostRemembered = 10_000

export class Authenticator {
  readonly #keys: Keys
  /** Headers that were accepted before: deriving and comparing a key for every request would cost a seventh of the throughput. */
  readonly #remembered = new Map<string, Known>()
  /** Accounts by their keys, with the version of each key. All keys are derived when one is first looked for. */
  readonly #owners = new Map<string, Pick<Known, 'userId' | 'keyVersion'>>()
  readonly #versions = new Map<number, number>()
  #indexed: { readonly state: State; readonly version: number } | undefined

  constructor(keys: Keys) {
    this.#keys = keys
  }

  authenticate(state: State, header: string | undefined): User {
    const user = this.#known(state, header)
    if (state.organization.deactivated) throw organizationDeactivated()
    return user
  }

  /** The account of an API key alone, as a bearer token or in an address. Throws what `missing` returns if there is no key. */
  authenticateKey(state: State, key: string | undefined, missing: () => Refusal): User {
    if (key === undefined) throw missing()
    const user = this.#owner(state, key)
    if (!user) throw invalidKey()
    return checkOpen(state, user)
  }

  /** Keys are not stored, so each is derived once for this lookup. */
  #owner(state: State, key: string): User | undefined {
    if (this.#indexed?.state !== state || this.#indexed.version !== state.users.version) {
      for (const user of state.users.values()) {
        if (this.#versions.get(user.id) === user.keyVersion) continue
        this.#versions.set(user.id, user.keyVersion)
        this.#owners.set(this.#keys.deriveKey(user), { userId: user.id, keyVersion: user.keyVersion })
      }
      this.#indexed = { state, version: state.users.version }
    }
    const owner = this.#owners.get(key)
    const user = owner && state.users.get(owner.userId)
    return user?.keyVersion === owner?.keyVersion ? user : undefined
  }

  #known(state: State, header: string | undefined): User {
    if (header === undefined)
      throw unauthenticated(
        'UNAUTHORIZED',
        'Send an Authorization header: HTTP Basic, with your email address and API key.',
      )
    const known = this.#remembered.get(header)
    const remembered = known && state.users.get(known.userId)
    if (remembered?.active && remembered.keyVersion === known?.keyVersion && remembered.email === known.email)
      return remembered
    return this.#check(state, header)
  }

  #check(state: State, header: string): User {
    const [scheme, credentials] = header.split(' ', 2)
    if (scheme?.toLowerCase() !== 'basic')
      throw new Refusal('This endpoint takes HTTP Basic authentication only.', { kind: 'unauthenticated' })
    const bytes = Buffer.from(credentials ?? '', 'base64')
    const decoded = isUtf8(bytes) ? bytes.toString() : ''
    const colon = decoded.lastIndexOf(':')
    if (colon < 1)
      throw unauthenticated('UNAUTHORIZED', 'The Authorization header is not valid HTTP Basic authentication.')
    const email = decoded.slice(0, colon)
    const user = userByEmail(state, email)
    // Compared even if there is no such account, so that the time of the answer does not show which addresses exist.
    const wanted = user ? this.#keys.deriveKey(user) : '-'.repeat(32)
    if (!this.#keys.sameSecret(decoded.slice(colon + 1), wanted) || !user) {
      const hidden = user ? `The API key is not that of ${user.email}.` : `There is no account ${inQuotes(email)}.`
      throw invalidKey(hidden)
    }
    if (!user.active) throw userDeactivated()
    if (this.#remembered.size >= mostRemembered) this.#remembered.clear()
    this.#remembered.set(header, { userId: user.id, keyVersion: user.keyVersion, email: user.email })
    return user
  }
}

/** The account of a caller who was authenticated earlier, as it is now. */
export function stillKnown(state: State, { id, keyVersion }: User): User {
  const user = state.users.get(id)
  if (user?.keyVersion !== keyVersion) throw invalidKey()
  return checkOpen(state, user)
}

function checkOpen(state: State, user: User): User {
  if (state.organization.deactivated) throw organizationDeactivated()
  if (!user.active) throw userDeactivated()
  return user
}

function invalidKey(hidden?: string): Refusal {
  return unauthenticated('INVALID_API_KEY', 'Invalid API key', hidden)
}

export function missingBearer(): Refusal {
  return unauthenticated('UNAUTHORIZED', 'Send an Authorization header: Bearer, with your API key.')
}
