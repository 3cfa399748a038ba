// Names by which this machine calls itself. A page in a browser can make its own name resolve to this machine and call a server here as if
// it were that page's own (DNS rebinding), but it cannot send one of these names.

const loopback = /^(?:localhost|(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i

/** A host as the header names it, without the port. */
export function withoutPort(host: string): string | undefined {
  return /^(\[[\d:a-f]+\]|[\w.-]+)(?::\d+)?$/i.exec(host)?.[1]
}

/** With or without a port. */
export function isLoopbackHost(host: string): boolean {
  return loopback.test(withoutPort(host) ?? '')
}

/** Of an address that can be parsed. */
export function isLoopbackSite(site: string): boolean {
  return isLoopbackHost(new URL(site).host)
}
