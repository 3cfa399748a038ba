// One process: the port, the folder of the store, the main world, and spaces. `main.ts` starts one for the
// program, the testing library for a test.

import { prepareFile } from './local/atomic-file.ts'
import { inspectorAddress, type Ready } from './local/ready-file.ts'
import { collectFigures } from './metrics/figures.ts'
import type { Config } from './start/config.ts'
import { openPort, readableUrl, readResources } from './start/port.ts'
import { claimFolder } from './store.ts'
import type { HostedWorldParts } from './world/hosted.ts'
import { singleWorld } from './world/single.ts'
import type { Spaces } from './world/spaces.ts'
import type { World } from './world/world.ts'

export interface Daemon {
  readonly ready: Ready
  /** The address where it listens, whatever URL clients use. */
  readonly localUrl: string
  readonly world: World
  /** Loaded when they are first asked for: most daemons have none. */
  spaces(): Promise<Spaces>
  /** Reads again what can change while it runs: the certificate, and the log level. */
  reload(): void
  /** From here on it does not keep the process alive. */
  unref(): void
  /** Answers waiting polls, writes everything to disk, and gives up the store and the port. */
  stop(): Promise<void>
  /** Closes its ports and cuts all connections, at once. Nothing is written: for a daemon that cannot go on. */
  disconnect(): void
}

/** Starts a daemon, alone or in a cluster. `onFailure` is called when it cannot go on: it must be stopped. */
export async function startDaemon(config: Config, onFailure: (error: Error) => void): Promise<Daemon> {
  // Before the folder is created: a mistake in the flags must not leave one behind.
  const resources = await readResources(config)
  const { metrics } = resources
  if (config.snapshotOnExit !== undefined) prepareFile(config.snapshotOnExit, 'the snapshot')
  const folder = await claimFolder(config, metrics?.countFlush)
  const port = openPort(config, resources)
  const { server } = port
  const hosted = await hostWorld({ config, resources, folder, port, metrics, onFailure })
  const { cluster } = hosted
  const stop = async () => {
    port.end()
    try {
      await hosted.stop()
    } finally {
      await folder.release()
    }
  }
  try {
    await hosted.open()
    metrics?.show({
      figures: () => collectFigures(hosted.world.engine, hosted.journalSize(), hosted.world.clock.now()),
      connections: () => server.connections(),
      ...(cluster && { cluster: cluster.place }),
    })
    // The port opens first: /readyz can say that the daemon starts, and a port in use is known before anything is written.
    const address = await server.listen({ host: config.host, port: config.port })
    const localUrl = readableUrl(address, config.host)
    await hosted.start(localUrl)
    return {
      ready: buildReady(hosted.world),
      localUrl,
      get world() {
        return hosted.world
      },
      spaces: hosted.spaces,
      reload: () => port.reload(cluster?.replaceCertificate),
      unref() {
        server.unref()
        cluster?.unref()
      },
      stop,
      disconnect() {
        server.disconnect()
        cluster?.disconnect()
      },
    }
  } catch (error) {
    // Report this error, not one from cleaning up.
    await stop().catch(() => {})
    throw error
  }
}

/** The code for clusters, with its client for etcd, is loaded only where there is one. */
async function hostWorld(parts: HostedWorldParts) {
  return parts.config.cluster ? (await import('./cluster/member.ts')).clusterMember(parts) : singleWorld(parts)
}

function buildReady({ url, owner, keys, control, level }: World): Ready {
  return {
    url,
    pid: process.pid,
    owner: { user_id: owner.id, email: owner.email, api_key: keys.deriveKey(owner) },
    ...(control && { control_token: keys.controlToken }),
    inspector: inspectorAddress(url, control && keys.controlToken),
    level: level.number,
  }
}
