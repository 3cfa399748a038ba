// Which names the daemon answers to. A page in a browser can make its own name resolve to this machine and then call the daemon
// as if it were that page's server (DNS rebinding); only names that the daemon knows are answered.

import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../domain/refusal.ts'

export interface TrustedHosts {
  /** What is wrong with where the request was sent, or where it comes from. */
  refusalOf(headers: Readonly<IncomingHttpHeaders>): Refusal | undefined
}

/** A daemon that others can reach without a URL of its own cannot know its names. */
export const anyHost: TrustedHosts = { refusalOf: () => undefined }

/** Accepted values that are remembered, so that most requests cost one lookup. */
const mostRemembered = 100

/** Loopback names, and the host of the public URL. */
export function localHosts(url: string | undefined): TrustedHosts {
  const own = url === undefined ? undefined : new URL(url).host
  const accepted = new Set<string>()
  const isTrusted = (host: string): boolean => {
    if (accepted.has(host)) return true
    const name = nameOf(host)
    const trusted = host.toLowerCase() === own || (name !== undefined && loopback.test(name))
    if (trusted && accepted.size < mostRemembered) accepted.add(host)
    return trusted
  }
  return {
    refusalOf({ host, origin }) {
      // Browsers always send a host.
      if (host !== undefined && !isTrusted(host))
        return new Refusal(
          `The host ${shown(host)} is unknown here. Use a loopback name, or start natterd with --url.`,
          details,
        )
      if (origin !== undefined && !isTrusted(origin.replace(/^https?:\/\//, '')))
        return new Refusal(
          'Pages of other sites cannot call this daemon. To allow a site, start natterd with --url.',
          details,
        )
      return undefined
    },
  }
}

const loopback = /^(?:localhost|(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i

/** Without the port. */
function nameOf(host: string): string | undefined {
  return /^(\[[\d:a-f]+\]|[\w.-]+)(?::\d+)?$/i.exec(host)?.[1]
}

function shown(host: string): string {
  return JSON.stringify(host.slice(0, 100))
}

const details = { kind: 'forbidden', status: 403 } as const
