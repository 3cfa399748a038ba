// Limits on the mails that an account can cause and that an address can get. They apply even where calls are not limited.

import type { Endpoint } from '../api/define.ts'
import type { State, User } from '../domain/model/state.ts'
import type { Mail } from '../domain/resource.ts'
import { isAdministrator } from '../domain/rules/index.ts'
import { type Claim, mailBudgets, RateLimiter, type Times } from './rate-limit.ts'

export class MailBudget {
  readonly #times: Times
  /** A world that is reset or replaced begins with fresh budgets. */
  readonly #limiters = new WeakMap<State, RateLimiter>()

  constructor(times: Times) {
    this.#times = times
  }

  /** Counts mails before they are sent, or refuses all of them. */
  spend(state: State, { id, mails: kind }: Endpoint, sender: User, mails: readonly Mail[]): void {
    if (kind === undefined) throw new Error(`the catalogue does not say that ${id} sends mail`)
    // Not counted, so that a member cannot use up the mails that an administrator needs to end their access.
    if (kind === 'notice') return
    const limiter = this.#limiters.get(state) ?? new RateLimiter(this.#times)
    this.#limiters.set(state, limiter)
    const recipients = mails.map(({ to }): Claim => [mailBudgets.recipient, to.toLowerCase()])
    limiter.attempt([...senderClaims(kind, sender, mails.length), ...recipients])
  }
}

/** Invitations of administrators have a limit of the organization instead. */
function senderClaims(kind: NonNullable<Endpoint['mails']>, sender: User, count: number): Claim[] {
  if (kind === 'confirmation')
    return [
      [mailBudgets.confirmationsHourly, sender.id, count],
      [mailBudgets.confirmationsDaily, sender.id, count],
    ]
  return kind === 'invitation' && !isAdministrator(sender) ? [[mailBudgets.invitations, sender.id, count]] : []
}
