// The host names that the daemon answers to. A page in a browser can make its own name resolve to this machine and then call the daemon
// as if it were that page's server (DNS rebinding); only names that the daemon knows are answered.

import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../domain/refusal.ts'
import { isLoopbackHost, withoutPort } from '../local/loopback.ts'

export interface TrustedHosts {
  /** The refusal if the headers name an unknown host or origin. */
  refuseHeaders(headers: Readonly<IncomingHttpHeaders>): Refusal | undefined
}

/** For a daemon that other machines can reach and that has no URL: it cannot know its own names. */
export const anyHost: TrustedHosts = { refuseHeaders: () => undefined }

const mostRemembered = 100

/** Loopback names, and the host of the public URL. */
export function localHosts(url: string | undefined): TrustedHosts {
  return trustHosts(url === undefined ? [] : [url], 'Use a loopback name, or start natterd with --url')
}

/**
 * For a daemon that listens beyond loopback and has a URL. Also trusts IP addresses and names without a dot, which containers and
 * probes use. A page cannot rebind either: it needs a name in the public DNS.
 */
export function namedHosts(url: string, others: readonly string[] = []): TrustedHosts {
  return trustHosts([url, ...others], 'Use the host of --url; a proxy must pass the header Host on', addressOrLabel)
}

/** Requests to names that match `alsoTrusted` are answered, but pages from there may only call the same name. */
function trustHosts(urls: readonly string[], advice: string, alsoTrusted?: RegExp): TrustedHosts {
  const hosts = new Set(urls.flatMap(listNames))
  const isOwn = remember(host => hosts.has(host.toLowerCase()) || isLoopbackHost(host))
  const isTrusted = remember(host => isOwn(host) || alsoTrusted?.test(withoutPort(host) ?? '') === true)
  return {
    refuseHeaders({ host, origin }) {
      // Browsers always send a host.
      if (host !== undefined && !isTrusted(host))
        return new Refusal(`The host ${quoteHost(host)} is unknown here. ${advice}.`, details)
      if (origin === undefined) return undefined
      const site = origin.replace(/^https?:\/\//, '')
      // A page of the host that is called. The origin 'null' has no scheme, and is no host.
      return isOwn(site) || (site === host && site !== origin) ? undefined : new Refusal(foreignPage, details)
    },
  }
}

/** Some clients state the port even if it is that of the scheme. */
function listNames(url: string): string[] {
  const { host, port, protocol } = new URL(url)
  return port === '' ? [host, `${host}:${protocol === 'https:' ? 443 : 80}`] : [host]
}

/** Accepted values are remembered, so that most requests cost one lookup. */
function remember(isTrusted: (host: string) => boolean): (host: string) => boolean {
  const accepted = new Set<string>()
  return host => {
    if (accepted.has(host)) return true
    const trusted = isTrusted(host)
    if (trusted && accepted.size < mostRemembered) accepted.add(host)
    return trusted
  }
}

const foreignPage = 'Pages of other sites cannot call this daemon. To allow a site, start natterd with --url.'

/** An IPv4 or IPv6 address, or a name of one label. */
const addressOrLabel = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\d:a-f]+\]|[a-z][\w-]*)$/i

function quoteHost(host: string): string {
  return JSON.stringify(host.slice(0, 100))
}

const details = { kind: 'forbidden', status: 403 } as const
