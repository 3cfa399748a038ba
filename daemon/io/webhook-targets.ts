// Addresses that outgoing webhooks may call. Every address of a name is checked, and the connection is made to one of
// the checked addresses: a name cannot change its mind in between.

import { lookup } from 'node:dns'
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net'

export interface Permitted {
  /** This machine itself. */
  readonly loopback: boolean
  /** Networks that are not the internet, this machine included. */
  readonly private: boolean
}

export class Forbidden extends Error {}

interface Ranges {
  readonly loopback: BlockList
  readonly inner: BlockList
}

// Shared by all worlds: which addresses are not of the internet is the same for each. Made at the first call.
let ranges: Ranges | undefined

const innerIpv4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const

/** Beside private networks: ranges that carry an IPv4 address inside (they would lead anywhere), and reserved ones. */
const innerIpv6 = [
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const

/** Why this address may not be called; undefined for names, which are checked when they are looked up. */
export function forbidden(host: string, permitted: Permitted): string | undefined {
  const address = host.replace(/^\[|\]$/g, '')
  if (isIP(address) === 0 || permitted.private) return undefined
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  ranges ??= makeRanges()
  const { loopback, inner } = ranges
  if (loopback.check(address, family))
    return permitted.loopback ? undefined : `The address ${address} is this machine; natterd may not call it`
  return inner.check(address, family)
    ? `The address ${address} is in a private network; natterd calls those only with --webhook-private`
    : undefined
}

export function checkedLookup(permitted: Permitted): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, [])
      for (const { address } of addresses) {
        const why = forbidden(address, permitted)
        if (why) return done(new Forbidden(why), [])
      }
      if (options.all) done(null, addresses)
      else done(null, addresses[0]!.address, addresses[0]!.family)
    })
  }
}

function makeRanges(): Ranges {
  const loopback = new BlockList()
  loopback.addSubnet('127.0.0.0', 8)
  loopback.addAddress('::1', 'ipv6')
  const inner = new BlockList()
  for (const [network, bits] of innerIpv4) inner.addSubnet(network, bits)
  for (const [network, bits] of innerIpv6) inner.addSubnet(network, bits, 'ipv6')
  return { loopback, inner }
}
