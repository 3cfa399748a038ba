// The settings of a cluster, read from the flags.

import { type Read, UsageError } from './flags.ts'
import { isLoopback, isWildcard } from './listen-address.ts'

export interface ClusterConfig {
  /** Members of etcd. */
  readonly urls: readonly string[]
  readonly name: string
  /** The address of this daemon in the status of the cluster; undefined: the one where it listens. */
  readonly advertise: string | undefined
  /** The address where it listens for the other daemons. */
  readonly listen: { readonly host: string; readonly port: number }
  /** The address by which they reach it; undefined: the one where it listens. */
  readonly peerAdvertise: string | undefined
  readonly user: string | undefined
  readonly password: string | undefined
  /** PEM files. */
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
  /** Seconds. */
  readonly lease: number
}

export function clusterConfig(read: Read, password: string | undefined): ClusterConfig | undefined {
  const urls = read('cluster')
  if (urls === undefined) {
    for (const flag of clusterFlags) if (read(flag) !== undefined) throw new UsageError(`--${flag} needs --cluster`)
    return undefined
  }
  const name = read('cluster-name')
  if (!/^[a-z0-9][a-z0-9._-]{0,62}$/.test(name))
    throw new UsageError(`--cluster-name takes 1 to 63 lower-case letters, digits, '.', '_' and '-', not '${name}'`)
  if ((read('cluster-user') === undefined) !== (password === undefined))
    throw new UsageError('--cluster-user and --cluster-password-file go together')
  if ((read('cluster-cert') === undefined) !== (read('cluster-key') === undefined))
    throw new UsageError('--cluster-cert and --cluster-key go together')
  return {
    urls: urls.split(',').map(url => httpUrl('cluster', url.trim(), 'http://10.0.0.1:2379,http://10.0.0.2:2379')),
    name,
    advertise: read('advertise') && httpUrl('advertise', read('advertise')!, 'http://10.0.0.1:9991'),
    listen: peerAddress(read),
    peerAdvertise: peerAdvertise(read('cluster-advertise')),
    user: read('cluster-user'),
    password,
    ca: read('cluster-ca'),
    cert: read('cluster-cert'),
    key: read('cluster-key'),
    lease: read('cluster-lease'),
  }
}

const clusterFlags = [
  'advertise',
  'cluster-listen',
  'cluster-advertise',
  'cluster-user',
  'cluster-password-file',
  'cluster-ca',
  'cluster-cert',
  'cluster-key',
] as const

/** By default any free port of loopback, for daemons on one machine. */
function peerAddress(read: Read): ClusterConfig['listen'] {
  const text = read('cluster-listen')
  if (text === undefined) {
    if (isLoopback(read('host'))) return { host: read('host'), port: 0 }
    throw new UsageError(
      '--cluster needs --cluster-listen HOST:PORT here, such as 10.0.0.1:9992: the daemons of a cluster call each other at an ' +
        'address of their own. Choose one in a private network',
    )
  }
  const [, ipv6, name, port] = /^(?:\[([\da-f:]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(text) ?? []
  const host = ipv6 ?? name
  if (host === undefined || Number(port) > 65_535)
    throw new UsageError(`--cluster-listen takes HOST:PORT, such as 10.0.0.1:9992 or [fd00::1]:9992, not '${text}'`)
  if (isWildcard(host) && read('cluster-advertise') === undefined && read('advertise') === undefined)
    throw new UsageError(
      `--cluster-listen ${text} needs --cluster-advertise URL: the other daemons cannot call this one at every address`,
    )
  return { host, port: Number(port) }
}

function peerAdvertise(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = httpUrl('cluster-advertise', text, 'http://10.0.0.1:9992')
  if (new URL(url).origin !== url.toLowerCase())
    throw new UsageError(`--cluster-advertise takes a URL without a path, such as http://10.0.0.1:9992, not '${text}'`)
  return url
}

/** Refuses flags that do not go with --cluster. */
export function refuseAlone(read: Read, memory: boolean, secret: string | undefined): void {
  if (read('advertise') === undefined && isWildcard(read('host')))
    throw new UsageError(
      '--cluster needs --advertise URL here: without it, all daemons would have the same address in the status',
    )
  if (memory) throw new UsageError('--memory and --cluster exclude each other: a daemon in a cluster needs a folder')
  if (read('control'))
    throw new UsageError('--control and --cluster exclude each other: the control plane is for single daemons')
  if (read('clock') !== 'real')
    throw new UsageError('--clock and --cluster exclude each other: a cluster runs on the real time')
  if (read('import') !== undefined)
    throw new UsageError(
      '--import and --cluster exclude each other: import into a single daemon, then start it with --cluster',
    )
  if (read('snapshot-on-exit') !== undefined)
    throw new UsageError('--snapshot-on-exit and --cluster exclude each other')
  if (read('random') !== undefined) throw new UsageError('--random and --cluster exclude each other')
  if (read('new-secret'))
    throw new UsageError('--new-secret and --cluster exclude each other: change the secret of a single daemon first')
  if (secret === undefined)
    throw new UsageError('--cluster needs --secret-file: all daemons of a cluster have the same secret')
}

function httpUrl(flag: string, text: string, example: string): string {
  if (!/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : ''))
    throw new UsageError(`--${flag} takes ${flag === 'cluster' ? 'URLs' : 'a URL'} such as ${example}, not '${text}'`)
  return text.replace(/\/+$/, '')
}
