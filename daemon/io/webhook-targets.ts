// Addresses that outgoing webhooks may call. Every address of a name is checked, and the connection is made to one of
// the checked addresses: a name cannot change its mind in between.

import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { networkOf } from '../local/networks.ts'

export interface Permitted {
  /** This machine itself. */
  readonly loopback: boolean
  /** Networks that are not the internet, this machine included. */
  readonly private: boolean
}

export class Forbidden extends Error {}

/** Why this address may not be called; undefined for names, which are checked when they are looked up. */
export function forbidden(host: string, permitted: Permitted): string | undefined {
  const address = host.replace(/^\[|\]$/g, '')
  if (isIP(address) === 0 || permitted.private) return undefined
  const network = networkOf(address)
  if (network === 'loopback')
    return permitted.loopback ? undefined : `The address ${address} is this machine; natterd may not call it`
  return network === 'private'
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
