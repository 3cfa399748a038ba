// What one process holds: the port, the folder of the store, the main world, and spaces. `main.ts` starts one for the
// program, the testing library for a test.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from './domain/limits.ts'
import { affordableConnections, usualBounds } from './http/bounds.ts'
import { type Certificate, expiryWarning, readCertificate } from './http/certificate.ts'
import { buildServer, type HttpServer } from './http/server.ts'
import { anyHost, localHosts, namedHosts, type TrustedHosts } from './http/trusted-hosts.ts'
import { daemonFlags, inspectorAddress, logLevelFileName, type Ready } from './local/flags.ts'
import { figuresOf } from './metrics/figures.ts'
import type { Metrics } from './metrics/prometheus.ts'
import type { Config } from './start/config.ts'
import { isLoopback, isWildcard } from './start/listen-address.ts'
import { LogStream } from './start/log-stream.ts'
import { claimFolder, type Store } from './store.ts'
import { writeSnapshot } from './world/snapshot-file.ts'
import type { Spaces } from './world/spaces.ts'
import { World } from './world/world.ts'

export interface Daemon {
  readonly ready: Ready
  /** Where it listens, whatever clients call it. */
  readonly localUrl: string
  readonly world: World
  /** Loaded when they are first asked for: most daemons have none. */
  spaces(): Promise<Spaces>
  /** Reads again what can change while it runs: the certificate, and the log level. */
  reload(): void
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
  // Loaded with the library for etcd only where there is a cluster.
  if (config.cluster) return (await import('./cluster/start.ts')).startClusteredDaemon(config, onFailure, warn)
  // First of all: what is wrong with it must not leave a folder behind.
  const once = await readOnce(config)
  const { metrics } = once
  const folder = await claimFolder(config, warn, metrics?.countFlush)
  const port = openPort(config, once, warn)
  const { server, reload } = port
  let store: Store | undefined
  let world: World | undefined
  let spaces: Promise<Spaces> | undefined
  const openSpaces = () => {
    spaces ??= import('./world/spaces.ts').then(({ Spaces }) => new Spaces({ config, server, main: world!, warn }))
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
    port.end()
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
    world = new World({ settings: config, store, host: server, spaces: openSpaces, onFailure, warn, metrics })
    const { engine, clock } = world
    const { journalSize } = store
    metrics?.show({
      figures: () => figuresOf(engine, journalSize(), clock.now()),
      connections: () => server.connections(),
    })
    server.mount('', world.site)
    // The port opens first: /readyz can say that the daemon starts, and a port in use is known before anything is written.
    const address = await server.listen({ host: config.host, port: config.port })
    const localUrl = readableUrl(address, config.host, port.scheme)
    await world.start(config.url ?? localUrl)
    return { ready: readyOf(world), localUrl, world, spaces: openSpaces, reload, unref: () => server.unref(), stop }
  } catch (error) {
    // The first error says more than one of the way out.
    await stop().catch(() => {})
    throw error
  }
}

/** What a process has once. */
export interface Once {
  readonly certificate: Certificate | undefined
  readonly metrics: Metrics | undefined
}

export async function readOnce({ tls, metrics }: Config): Promise<Once> {
  return {
    certificate: tls && readCertificate(tls, new Date()),
    metrics: metrics ? new (await import('./metrics/prometheus.ts')).Metrics() : undefined,
  }
}

/** A server that does not listen yet. */
export interface Port {
  readonly server: HttpServer
  readonly scheme: 'http' | 'https'
  /** `follow` gets a newer certificate, if there is one. */
  reload(follow?: (certificate: Certificate) => void): void
  end(): void
}

export function openPort(config: Config, { certificate, metrics }: Once, warn: (text: string) => void): Port {
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
    hosts: hostsOf(config),
    certificate,
    logger: { level: config.logLevel, stream: new LogStream() },
    countCall: metrics?.countCall,
  })
  const expiry = certificate && watchExpiry(certificate, warn)
  const reload = (follow?: (certificate: Certificate) => void) => {
    if (config.tls && expiry)
      try {
        const newer = readCertificate(config.tls, new Date())
        server.replaceCertificate(newer)
        follow?.(newer)
        expiry.follow(newer)
      } catch (error) {
        warn(`the certificate in use stays: ${(error as Error).message}`)
      }
    const level = wantedLevel(config, warn)
    server.setLogLevel(level)
    warn(`reloaded; the log level is ${level}`)
  }
  return { server, scheme: certificate ? 'https' : 'http', reload, end: () => expiry?.end() }
}

/** A daemon that others can reach without a URL cannot know its names. */
function hostsOf({ host, url, cluster }: Config): TrustedHosts {
  if (isLoopback(host)) return localHosts(url)
  return url === undefined ? anyHost : namedHosts(url, cluster?.advertise === undefined ? [] : [cluster.advertise])
}

export function readyOf({ url, owner, keys, control }: World): Ready {
  return {
    url,
    pid: process.pid,
    owner: { user_id: owner.id, email: owner.email, api_key: keys.keyOf(owner) },
    ...(control && { control_token: keys.controlToken }),
    inspector: inspectorAddress(url, control && keys.controlToken),
  }
}

/** The port that the system gave, and an address that can be called, unlike 0.0.0.0. */
export function readableUrl(address: string, host: string, scheme: 'http' | 'https'): string {
  const { port } = new URL(address)
  if (isWildcard(host)) return `${scheme}://127.0.0.1:${port}`
  return isLoopback(host) && !host.includes(':') ? `${scheme}://${host}:${port}` : address.replace(/^https?/, scheme)
}

/** The level in the file of the folder, or that of the flags. */
function wantedLevel({ data, logLevel }: Config, warn: (text: string) => void): string {
  const file = join(data, logLevelFileName)
  if (!existsSync(file)) return logLevel
  const level = readFileSync(file, 'utf8').trim()
  const levels: readonly string[] = daemonFlags['log-level'].choices
  if (levels.includes(level)) return level
  warn(`${file} has no log level; write one of ${levels.join(', ')}`)
  return logLevel
}

const dayMs = 24 * 60 * 60 * 1000

/** Warns now and once a day when a certificate comes to its end. */
function watchExpiry(certificate: Certificate, warn: (text: string) => void) {
  let followed = certificate
  const look = () => {
    const warning = expiryWarning(followed, new Date())
    if (warning) warn(warning)
  }
  look()
  const daily = setInterval(look, dayMs).unref()
  return {
    follow(newer: Certificate) {
      followed = newer
      look()
    },
    end: () => clearInterval(daily),
  }
}
