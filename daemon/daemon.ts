// What one process holds: the port, the folder of the store, the main world, and spaces. `main.ts` starts one for the
// program, the testing library for a test.

import { inspectorAddress, type Ready } from './api/local.ts'
import { type Config, isLoopback } from './config.ts'
import { limits } from './domain/limits.ts'
import { affordableConnections, usualBounds } from './http/bounds.ts'
import { buildServer } from './http/server.ts'
import { anyHost, localHosts } from './http/trusted-hosts.ts'
import { writeSnapshot } from './snapshot-file.ts'
import type { Spaces } from './spaces.ts'
import { claimFolder, type Store } from './store.ts'
import { World } from './world.ts'

export interface Daemon {
  readonly ready: Ready
  /** Where it listens, whatever clients call it. */
  readonly localUrl: string
  readonly world: World
  /** Loaded when they are first asked for: most daemons have none. */
  spaces(): Promise<Spaces>
  /** From here on it does not keep the process alive. */
  unref(): void
  /** Answers parked polls, writes everything to disk, and gives up the store and the port. */
  stop(): Promise<void>
}

export async function startDaemon(
  config: Config,
  onFailure: (error: Error) => void,
  warn: (text: string) => void,
): Promise<Daemon> {
  const folder = await claimFolder(config, warn)
  const server = buildServer({
    // Room for the largest file, and for what a form puts around it.
    bodyLimit: (limits.fileUploadMiB + 1) * 1024 * 1024,
    bounds: {
      ...usualBounds,
      connections: affordableConnections(config.maxConnections),
      receiveMs: config.receiveTimeout * 1000,
      stalledMs: config.receiveTimeout * 1000,
    },
    plainHttp: config.plainHttp,
    hosts: isLoopback(config.host) ? localHosts(config.url) : anyHost,
    logger: { level: config.logLevel, stream: process.stderr },
  })
  let store: Store | undefined
  let world: World | undefined
  let spaces: Promise<Spaces> | undefined
  const openSpaces = () => {
    spaces ??= import('./spaces.ts').then(({ Spaces }) => new Spaces({ config, server, main: world!, warn }))
    return spaces
  }
  const saveSnapshot = async () => {
    const { snapshotOnExit: file } = config
    if (file === undefined || !world || !store || world.engine.state.users.size === 0) return
    await writeSnapshot(file, world.engine, world.clock, store.files).catch(error =>
      warn(`the snapshot ${file} could not be written: ${error.message}`),
    )
  }
  const stop = async () => {
    let closed: Promise<void> | undefined
    const close = () => {
      closed ??= server.close()
      return closed
    }
    try {
      const closeMain = async () => {
        await close()
        await saveSnapshot()
      }
      await Promise.all([world?.stop(closeMain), spaces?.then(opened => opened.stop(close))])
    } finally {
      await folder.release()
    }
  }
  try {
    store = await folder.open()
    world = new World({ settings: config, store, host: server, spaces: openSpaces, onFailure, warn })
    server.mount('', world.site)
    // The port opens first: /readyz can say that the daemon starts, and a port in use is known before anything is written.
    const localUrl = readableUrl(await server.listen({ host: config.host, port: config.port }), config.host)
    await world.start(config.url ?? localUrl)
    return { ready: readyOf(world), localUrl, world, spaces: openSpaces, unref: () => server.unref(), stop }
  } catch (error) {
    // The first error says more than one of the way out.
    await stop().catch(() => {})
    throw error
  }
}

function readyOf({ url, owner, keys, control }: World): Ready {
  return {
    url,
    pid: process.pid,
    owner: { user_id: owner.id, email: owner.email, api_key: keys.keyOf(owner) },
    ...(control && { control_token: keys.controlToken }),
    inspector: inspectorAddress(url, control && keys.controlToken),
  }
}

/** The port that the system gave, and an address that can be called, unlike 0.0.0.0. */
function readableUrl(address: string, host: string): string {
  const { port } = new URL(address)
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`
  return isLoopback(host) && !host.includes(':') ? `http://${host}:${port}` : address
}
