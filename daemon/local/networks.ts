// The networks that an address can belong to, from the outside in.

import { BlockList, isIPv6 } from 'node:net'

export type Network = 'internet' | 'private' | 'loopback'

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

/** Of an IP address. Reserved ones count as private. */
export function networkOf(address: string): Network {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  ranges ??= makeRanges()
  if (ranges.loopback.check(address, family)) return 'loopback'
  return ranges.inner.check(address, family) ? 'private' : 'internet'
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
