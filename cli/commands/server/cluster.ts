// `natter cluster status`: the daemons of a cluster as one of them sees it, the details of /readyz in a table.
// `natter cluster restore`: restores a whole cluster from a backup.

import { resolve } from 'node:path'
import { exitCodes, Failure } from '../../base/failure.ts'
import { formatFlags } from '../../base/globals.ts'
import { note } from '../../base/note.ts'
import { accountFor } from '../../base/profile.ts'
import type { ExtraSubcommand, Invocation } from '../../base/subcommand.ts'
import { columnWidth } from '../../base/text-layout.ts'
import { printFormatted, printReply } from '../../print/output.ts'
import { parseBody, send } from '../../transport/client.ts'
import { daemonFlagsOnly } from './daemon/flags.ts'

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

export const subcommands: readonly ExtraSubcommand[] = [
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
      const { ready, cluster: status } = parseBody({ ...answer, status: 200 }, account.site) as {
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
  {
    name: 'cluster restore',
    about: 'Bring a whole cluster to a backup, while all of its daemons are stopped',
    args: [{ name: 'file', about: 'the backup; `-` reads stdin' }],
    flags: [
      ...daemonFlagsOnly(
        'data',
        'secret-file',
        'cluster',
        'cluster-name',
        'cluster-user',
        'cluster-password-file',
        'cluster-ca',
        'cluster-cert',
        'cluster-key',
      ),
      { name: 'incomplete', about: 'restore a backup that lacks uploads, without them' },
    ],
    globals: [...formatFlags, 'quiet', 'color'],
    more: `Run it on the machine of one daemon, with the flags that this daemon has; the environment and the config file count too. It checks the
backup as \`natter restore --check\` does, and refuses while a daemon of the cluster runs. Then the cluster begins again in etcd at the position
of the backup, and the folder gets the store of the backup; what it held moves to \`replaced-TIME\` inside it. Start this daemon first, then the
others: each moves its old store aside in the same way and fetches the new one. If the command is interrupted, run it again. It also works
with an etcd that has lost everything.`,
    examples: [
      'natter cluster restore natter.tar --data /var/lib/natter --cluster http://10.0.0.1:2379 --secret-file /etc/natter/secret',
      'zstd -d < natter.tar.zst | natter cluster restore - --cluster http://10.0.0.1:2379 --secret-file ./secret',
    ],
    run: restoreFrom,
  },
]

async function restoreFrom({ args, flags, globals }: Invocation): Promise<void> {
  const file = args[0]!
  const { restoreCluster } = await import('../../../daemon/cluster/restore.ts')
  const { inSentences } = await import('./store/actions.ts')
  const { incomplete, ...named } = flags
  const given = Object.entries(named).flatMap(([name, value]) => [`--${name}`, String(value)])
  const options = { incomplete: incomplete === true, now: new Date() }
  const restored = await inSentences(() => restoreCluster(file === '-' ? file : resolve(file), given, options))
  if (await printFormatted(restored, globals)) return
  const { cluster: name, folder, made, version, position, notes, replaced } = restored
  note(`restored the cluster '${name}' to the backup of ${made}, by natter ${version}, position ${position}`)
  for (const text of notes) note(`note: ${text}`)
  if (replaced) note(`the store that was in ${folder} is now in ${replaced}`)
  note(`start the daemon of ${folder} first, then the others: they move their stores aside and fetch this one`)
}

function linesFor(status: Status): string[] {
  const { name, leader, etcd, head, log, daemons } = status
  const mib = (log.database / 1024 / 1024).toFixed(1)
  const width = columnWidth(['DAEMON', ...daemons.map(({ url }) => url)].map(url => url.length))
  const row = (...[url, role, position, lag, version]: string[]) =>
    `${url!.padEnd(width)}  ${role!.padEnd(8)}  ${position!.padStart(10)}  ${lag!.padStart(8)}  ${version}`
  return [
    `Cluster ${name}: ${leader ? `${leader} leads` : 'no daemon leads'}, the log is at position ${head}, etcd is ${etcd}`,
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
