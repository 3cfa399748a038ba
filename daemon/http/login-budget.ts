// Limits on password attempts. Failed attempts count three times: for one account from one client, for the client, and for the
// account. Accounts are known by the address as it was given, never by a look at the state: a budget shared by the addresses
// of one account would show that they belong together, and unknown addresses must get the same answers.

import { isIPv6 } from 'node:net'
import type { Endpoint } from '../api/define.ts'
import type { User } from '../domain/model/state.ts'
import { Refusal } from '../domain/refusal.ts'
import { budgets, type RateLimiter } from './rate-limit.ts'

type Login = NonNullable<Endpoint['login']>
type Params = Readonly<Record<string, unknown>>

/** Clients that logged in to an account before. Only a correct password adds one. */
const mostKnown = 10_000

export class LoginBudget {
  readonly #limiter: RateLimiter
  readonly #known = new Set<string>()

  constructor(limiter: RateLimiter) {
    this.#limiter = limiter
  }

  /**
   * Counts an attempt before its outcome is known: otherwise many at once would pass. For a client that logged in to the account
   * before, only its own failures count, so that others cannot lock it out. Returns undefined if no password is tried.
   */
  begin(login: Login, params: Params, actor: User | undefined, ip: string): LoginAttempt | undefined {
    const { password, account, only = password } = login
    if (params[password] === undefined || params[only] === undefined) return undefined
    const name = account === undefined ? `user ${actor!.id}` : loginName(String(params[account]))
    const client = maskNetwork(ip)
    const pair = `${name} ${client}`
    const withdraw = this.#limiter.attempt(
      this.#known.has(pair)
        ? [[budgets.password, pair]]
        : [
            [budgets.passwordClient, client],
            [budgets.passwordAccount, name],
            [budgets.password, pair],
          ],
    )
    return {
      succeed: () => {
        withdraw()
        this.#limiter.forget(budgets.password, pair)
        this.#remember(pair)
      },
      fail: error => {
        if (!isWrongPassword(login, error)) withdraw()
      },
    }
  }

  #remember(pair: string): void {
    this.#known.delete(pair)
    this.#known.add(pair)
    if (this.#known.size > mostKnown) this.#known.delete(this.#known.values().next().value!)
  }
}

interface LoginAttempt {
  /** The password was correct. */
  succeed(): void
  /** Stays counted only if the password was wrong. */
  fail(error: unknown): void
}

/** Other refusals, such as that of a new password that is too easy to guess, do not show that the old one was wrong. */
function isWrongPassword({ password }: Login, error: unknown): boolean {
  return error instanceof Refusal && (error.code === 'AUTHENTICATION_FAILED' || error.parameter === password)
}

/** Characters of an address that are kept, so that callers without an account cannot fill the memory. */
const tellingLength = 100

/** One spelling of an address: any case, and a placeholder with any number of zeros (`user07@`), mean the same account. */
function loginName(address: string): string {
  const name = address.slice(0, 1000).trim().toLowerCase()
  return name.replace(/^user0+(?=\d)/, 'user').slice(0, tellingLength)
}

/** The address of a client; of IPv6 the network of 64 bits, because one client has all addresses in it. */
export function maskNetwork(ip: string): string {
  const address = ip.split('%', 1)[0]!
  if (!isIPv6(address)) return address
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::') as [string, string?]
  // An IPv4 address in the form of IPv6.
  if (head === '' && tail?.startsWith('ffff:')) return address
  const [first, last] = [head, tail ?? ''].map(part => part.split(':').filter(group => group !== ''))
  const zeros = Array(8 - first!.length - last!.length).fill('0')
  return [...first!, ...zeros, ...last!].slice(0, 4).join(':')
}
