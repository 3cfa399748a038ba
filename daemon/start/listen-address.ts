// Kinds of addresses to listen at: this machine only, or every address of it.

import { isIPv6 } from 'node:net'

/** However the address is written. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d+){0,3}|::1|::ffff:7f[\da-f]{2}:[\da-f]+)$/.test(canonicalHost(host))
}

/** Whether this means every address of the machine. */
export function isWildcard(host: string): boolean {
  return /^(?:0(?:\.0){0,3}|::|::ffff:0:0)$/.test(canonicalHost(host))
}

/** IPv6 addresses in their shortest form. */
function canonicalHost(host: string): string {
  // Checked last, because its pattern takes some milliseconds to compile.
  return host.includes(':') && !host.includes('%') && isIPv6(host)
    ? new URL(`http://[${host}]`).hostname.slice(1, -1)
    : host.toLowerCase()
}
