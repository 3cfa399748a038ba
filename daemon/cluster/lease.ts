// A lease of etcd: keys that are put with it are deleted when its holder does not renew it in time. The holder counts from before
// the request, so that for the holder it never ends later than for etcd.

import type { Etcd } from './etcd.ts'

export class Lease {
  readonly id: string
  readonly #etcd: Etcd
  readonly #over = new AbortController()
  readonly #ttl: number
  #end: number
  #renewal: NodeJS.Timeout
  #watchdog: NodeJS.Timeout

  static async grant(etcd: Etcd, seconds: number): Promise<Lease> {
    const asked = performance.now()
    const { ID, TTL } = await etcd.call('/v3/lease/grant', { TTL: seconds })
    // etcd has a minimum, and another program in its place may answer with any number. This daemon can renew its lease more often than it must.
    return new Lease(etcd, ID, Math.min(Number(TTL), seconds) * 1000, asked)
  }

  private constructor(etcd: Etcd, id: string, ttl: number, asked: number) {
    this.#etcd = etcd
    this.id = id
    this.#ttl = ttl
    this.#end = asked + ttl
    this.#watchdog = setTimeout(this.#check, ttl).unref()
    this.#renewal = setTimeout(this.#renew, ttl / 4).unref()
  }

  /** Aborted when the lease has ended. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** Ends the lease and everything that was put with it. */
  async revoke(): Promise<void> {
    this.#finish()
    await this.#etcd.call('/v3/lease/revoke', { ID: this.id }, { deadlineMs: 1000 }).catch(() => {})
  }

  readonly #renew = async (): Promise<void> => {
    const asked = performance.now()
    try {
      const { TTL = 0 } = await this.#etcd.call('/v3/lease/keepalive', { ID: this.id }, { deadlineMs: this.#ttl / 2 })
      if (Number(TTL) === 0) return this.#finish()
      this.#end = asked + this.#ttl
    } catch {
      // Tried again until the time is up.
    }
    if (!this.signal.aborted) this.#renewal = setTimeout(this.#renew, this.#ttl / 4).unref()
  }

  readonly #check = (): void => {
    const left = this.#end - performance.now()
    if (left <= 0) this.#finish()
    else this.#watchdog = setTimeout(this.#check, left).unref()
  }

  #finish(): void {
    clearTimeout(this.#renewal)
    clearTimeout(this.#watchdog)
    this.#over.abort()
  }
}
