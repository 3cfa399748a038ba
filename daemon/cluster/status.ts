// The status of a cluster as one daemon reports it: in the details of /readyz, and so in `natter cluster status`.

import type { KnownCluster } from './known-cluster.ts'
import type { LogSize } from './log-keeper.ts'
import type { WorldInstance } from './world-instance.ts'

interface StatusParts {
  readonly name: string
  readonly self: { readonly id: string; readonly url: string }
  readonly leads: boolean
  readonly instance: WorldInstance
  readonly known: KnownCluster
  readonly log: LogSize
}

export function describeStatus({ name, self, leads, instance, known, log }: StatusParts) {
  const { committed: position } = instance.store.journal
  const { isFresh, headBefore, view } = known
  const head = Math.max(view?.head.position ?? 0, position)
  const places = (view?.members ?? []).map(({ id, url, version, position: reported }) => {
    const at = id === self.id ? position : reported
    return { url, version, leads: id === view?.leader?.id, position: at, lag: Math.max(0, head - at) }
  })
  const details = {
    name,
    url: self.url,
    role: leads ? 'leader' : 'follower',
    leader: view?.leader?.url ?? null,
    etcd: isFresh ? 'reachable' : 'unreachable',
    position,
    head,
    lag: head - position,
    daemons: places,
    log,
  }
  return { caughtUp: instance.caughtUp && position >= headBefore && isFresh, details }
}
