// The status of a cluster as one daemon reports it: in the details of /readyz, and so in `natter cluster status`.

import type { LogSize } from './log-keeper.ts'
import type { View } from './membership.ts'

interface StatusParts {
  readonly name: string
  readonly self: { readonly id: string; readonly url: string }
  readonly leads: boolean
  readonly position: number
  readonly view: View | undefined
  /** Whether etcd has answered lately. */
  readonly reachesEtcd: boolean
  readonly log: LogSize
}

export function describeStatus({ name, self, leads, position, view, reachesEtcd, log }: StatusParts) {
  const head = Math.max(view?.head.position ?? 0, position)
  const places = (view?.members ?? []).map(({ id, url, version, position: reported }) => {
    const at = id === self.id ? position : reported
    return { url, version, leads: id === view?.leader?.id, position: at, lag: Math.max(0, head - at) }
  })
  return {
    name,
    url: self.url,
    role: leads ? 'leader' : 'follower',
    leader: view?.leader?.url ?? null,
    etcd: reachesEtcd ? 'reachable' : 'unreachable',
    position,
    head,
    lag: head - position,
    daemons: places,
    log,
  }
}
