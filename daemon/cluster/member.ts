// The world of a daemon in a cluster: follows the log in etcd, and leads when it is elected. A world that loses the lead is
// discarded with its uncommitted decisions, and read again from the folder and the log.

import { setTimeout as sleep } from 'node:timers/promises'
import { warn } from '../local/warnings.ts'
import { reactivateOrganization } from '../world/first-start.ts'
import type { HostedWorld, HostedWorldParts } from '../world/hosted.ts'
import { leaderTimeout } from './known-cluster.ts'
import { describeExposure, openPeerPort, peerUrl } from './peer-port.ts'
import { Replica } from './replica.ts'

export function clusterMember({ config, resources, folder, port, metrics, onFailure }: HostedWorldParts): HostedWorld {
  const { server, scheme } = port
  const { listen } = config.cluster!
  const replica = new Replica({ config, folder, server, metrics, onFailure })
  const peerPort = openPeerPort({
    peers: replica.peers,
    certificate: resources.certificate,
    bodyLimit: server.intake.uploadBytes,
    newId: server.newId,
    answer: (...call) => replica.answerPeer(...call),
    forwarded: (request, response) => replica.world.site.serveForwarded(request, response),
  })
  let stopping = false
  const exposure = describeExposure(listen.host)
  if (exposure) warn(exposure)
  return {
    get world() {
      return replica.world
    },
    journalSize: () => replica.journalSize(),
    spaces: () => Promise.reject(new Error('spaces are for single daemons')),
    open: () => replica.prepare(),
    async start(localUrl) {
      const address = peerUrl(config.cluster!, await peerPort.listen(listen), scheme)
      await replica.join(localUrl, address)
      void checkOwnAddress(replica, address, () => stopping)
      if (config.reactivate) await reactivateOnce(replica)
    },
    async stop() {
      stopping = true
      try {
        await replica.stop()
      } finally {
        await peerPort.close()
      }
    },
    cluster: {
      place: () => replica.status().details,
      replaceCertificate: certificate => peerPort.replaceCertificate(certificate),
      unref: () => peerPort.unref(),
      disconnect: () => void peerPort.close(),
    },
  }
}

/** A warning only: some networks do not lead from a machine to its own address. */
async function checkOwnAddress({ peers, self }: Replica, address: string, stopping: () => boolean): Promise<void> {
  try {
    const { member } = await peers.post(address, '/seen', { queues: [] })
    if (member !== self.id) throw new Error('another daemon answers there')
  } catch (error) {
    if (!stopping())
      warn(
        `this daemon does not reach itself at its address for the other daemons, ${address}: ${(error as Error).message}. If they do not either, correct --cluster-advertise`,
      )
  }
}

/** When it is known who leads, and not later: another election must not undo what an owner has done since. */
async function reactivateOnce(replica: Replica): Promise<void> {
  const end = performance.now() + leaderTimeout
  while (!replica.leads && replica.status().details.leader === null && performance.now() < end) await sleep(100)
  if (replica.leads) await reactivateOrganization(replica.world.engine)
  else warn('--reactivate has no effect, because this daemon does not lead; stop the others and start this one first')
}
