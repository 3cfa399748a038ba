// One daemon of a cluster: it follows the log in etcd, and leads when it is elected. A world that led and lost the lead
// is thrown away, with all that it decided since, and read again from the folder and the log.

import { type Daemon, openPort, readableUrl, readOnce, readyOf } from '../daemon.ts'
import { figuresOf } from '../metrics/figures.ts'
import type { Config } from '../start/config.ts'
import { claimFolder } from '../store.ts'
import { exposureOf, openPeerPort, peerUrl } from './peer-port.ts'
import { Replica } from './replica.ts'

export async function startClusteredDaemon(
  config: Config,
  onFailure: (error: Error) => void,
  warn: (text: string) => void,
): Promise<Daemon> {
  const once = await readOnce(config)
  const { metrics } = once
  const folder = await claimFolder(config, warn, metrics?.countFlush)
  const port = openPort(config, once, warn)
  const { server } = port
  const replica = new Replica({ config, folder, server, metrics, onFailure, warn })
  const { listen } = config.cluster!
  const peerPort = openPeerPort({
    peers: replica.peers,
    certificate: once.certificate,
    bodyLimit: server.intake.uploadBytes,
    newId: server.newId,
    answer: (...call) => replica.answerPeer(...call),
    forwarded: (request, response) => replica.world.site.serveForwarded(request, response),
  })
  const exposure = exposureOf(listen.host)
  if (exposure) warn(exposure)
  const reload = () => port.reload(certificate => peerPort.replaceCertificate(certificate))
  const stop = async () => {
    port.end()
    try {
      await replica.stop()
    } finally {
      await peerPort.close()
      await folder.release()
    }
  }
  try {
    await replica.prepare()
    metrics?.show({
      figures: () => figuresOf(replica.world.engine, replica.journalSize(), replica.world.clock.now()),
      connections: () => server.connections(),
      cluster: () => replica.status().details,
    })
    const address = await server.listen({ host: config.host, port: config.port })
    const localUrl = readableUrl(address, config.host, port.scheme)
    await replica.join(localUrl, peerUrl(config.cluster!, await peerPort.listen(listen), port.scheme))
    return {
      ready: readyOf(replica.world),
      localUrl,
      get world() {
        return replica.world
      },
      spaces: () => Promise.reject(new Error('spaces are for single daemons')),
      reload,
      unref() {
        server.unref()
        peerPort.unref()
      },
      stop,
    }
  } catch (error) {
    await stop().catch(() => {})
    throw error
  }
}
