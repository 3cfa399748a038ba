// `natter cluster status`: the daemons of a cluster as one of them sees it. The details of /readyz, in a table.

import { exitCodes, Failure } from '../base/failure.ts'
import { accountFor } from '../base/profile.ts'
import type { ExtraSubcommand } from '../base/subcommand.ts'
import { printReply } from '../print/output.ts'
import { bodyOf, send } from '../transport/client.ts'

interface Status {
  readonly name: string
  readonly url: string
  readonly role: string
  readonly leader: string | null
  readonly etcd: string
  readonly position: number
  readonly head: number
  readonly lag: number
  readonly daemons: readonly Daemon[]
  readonly log: { readonly batches: number; readonly database: number }
}

interface Daemon {
  readonly url: string
  readonly version: string
  readonly leads: boolean
  readonly position: number
  readonly lag: number
}

export const cluster: readonly ExtraSubcommand[] = [
  {
    name: 'cluster status',
    about: 'Show who leads the cluster, where each daemon is, how far behind, and what the log in etcd holds',
    examples: [
      'natter cluster status',
      'natter cluster status --site http://10.0.0.1:9991,http://10.0.0.2:9991',
      'natter cluster status --json',
    ],
    more: 'Asks the first daemon that answers. Exit code 8 if that daemon is not ready: it lags, or does not reach etcd.',
    async run({ globals }) {
      const account = accountFor(globals, process.env)
      const request = { method: 'GET', path: '/readyz', fields: new Map<string, string>() }
      const answer = await send(account, request, { timeout: globals.timeout })
      const { ready, cluster: status } = bodyOf({ ...answer, status: 200 }, account.site) as {
        ready?: boolean
        cluster?: Status
      }
      if (!status)
        throw new Failure(exitCodes.refused, `${account.site} is a single daemon, not one of a cluster`, {
          hint: 'A daemon joins a cluster by --cluster; see docs/cluster.md.',
        })
      await printReply({ ready, ...status }, { says: () => linesFor(status) }, globals)
      if (!ready)
        throw new Failure(exitCodes.unmet, `${status.url} is not ready: ${reasonOf(status)}`, { code: 'NOT_READY' })
    },
  },
]

function linesFor(status: Status): string[] {
  const { name, leader, etcd, head, log, daemons } = status
  const mib = (log.database / 1024 / 1024).toFixed(1)
  const width = Math.max(...daemons.map(({ url }) => url.length), 'DAEMON'.length)
  const row = (...[url, role, position, lag, version]: string[]) =>
    `${url!.padEnd(width)}  ${role!.padEnd(8)}  ${position!.padStart(10)}  ${lag!.padStart(8)}  ${version}`
  return [
    `Cluster ${name}: ${leader ? `${leader} leads` : 'nobody leads'}, the log is at position ${head}, etcd is ${etcd}`,
    `The log in etcd holds ${log.batches} commits; the database of etcd has ${mib} MiB`,
    '',
    row('DAEMON', 'ROLE', 'POSITION', 'BEHIND', 'VERSION'),
    ...daemons.map(({ url, leads, position, lag, version }) =>
      row(url, leads ? 'leader' : 'follower', String(position), String(lag), version),
    ),
  ]
}

function reasonOf({ etcd, lag }: Status): string {
  return etcd === 'unreachable' ? 'it cannot reach etcd' : `it is ${lag} entries behind`
}
