// Three members of etcd, three daemons, writers and readers at each of them, and faults: kills, pauses, cut connections
// (test/proof/cluster/campaign.ts).

import { withoutEtcd } from '../support/etcd.ts'
import { blaming, type Campaign } from './campaign.ts'
import { campaign as attack } from './cluster/campaign.ts'
import { Namespaces } from './cluster/namespaces.ts'

/** A new cluster after so many. */
const perCluster = 25

export const campaign: Campaign = {
  about:
    'faults in a cluster: nothing answered is lost or doubled, every reader hears everything once, all daemons agree',
  unit: 'faults',
  long: 300,
  short: 10,
  unavailable: withoutEtcd,
  async run({ count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {}, progress = () => {} }) {
    const total = { writes: 0, unanswered: 0, leaders: 0, moves: 0 }
    const withoutNamespaces = Namespaces.unavailable()
    const skipped = new Set<string>()
    if (withoutNamespaces) skipped.add(`namespaces of the kernel: ${withoutNamespaces}; gates in a process instead`)
    const namespaces = withoutNamespaces === undefined
    let done = 0
    for (let next = seed; done < count && performance.now() < deadline; next++) {
      const faults = Math.min(perCluster, count - done)
      const attacking = attack({ faults, seed: next, namespaces, note: text => note(`seed ${next}: ${text}`) })
      const seen = await blaming(next, faults, attacking)
      for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += seen[key]
      for (const what of seen.skipped) skipped.add(what)
      done += faults
      progress(done)
    }
    const { writes, unanswered, leaders, moves } = total
    return {
      done,
      summary:
        `${writes} writes answered, ${unanswered} not, ${leaders} leaders, readers moved on ${moves} times, ` +
        (namespaces ? 'each daemon and member of etcd in a namespace of its own' : 'connections through gates'),
      skipped: [...skipped],
    }
  },
}
