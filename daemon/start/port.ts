// The port of a process, before it listens: certificate, bounds, trusted names and log, and what SIGHUP reads again.

import { closeSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../domain/limits.ts'
import { fitDescriptors, usualBounds } from '../http/bounds.ts'
import { type Certificate, expiryWarning, readCertificate } from '../http/certificate.ts'
import { buildServer, type HttpServer } from '../http/server.ts'
import { anyHost, localHosts, namedHosts, type TrustedHosts } from '../http/trusted-hosts.ts'
import { daemonFlags } from '../local/flags.ts'
import { openPlainSync } from '../local/plain-files.ts'
import { logLevelFileName } from '../local/ready-file.ts'
import { warn } from '../local/warnings.ts'
import type { Metrics } from '../metrics/prometheus.ts'
import type { Config } from './config.ts'
import { isLoopback, isWildcard } from './listen-address.ts'

/** Resources that all worlds of a process share. */
export interface ProcessResources {
  readonly certificate: Certificate | undefined
  readonly metrics: Metrics | undefined
}

export async function readResources({ tls, metrics }: Config): Promise<ProcessResources> {
  return {
    certificate: tls && readCertificate(tls, new Date()),
    metrics: metrics ? new (await import('../metrics/prometheus.ts')).Metrics() : undefined,
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

export function openPort(config: Config, { certificate, metrics }: ProcessResources): Port {
  const { connections, arrivingFiles } = fitDescriptors(config.cluster !== undefined)
  const server = buildServer({
    // Room for the largest file, and for the form around it.
    bodyLimit: (limits.fileUploadMiB + 1) * 1024 * 1024,
    bounds: {
      ...usualBounds,
      arrivingFiles,
      connections: Math.min(config.maxConnections, connections),
      receiveMs: config.receiveTimeout * 1000,
      stalledMs: config.receiveTimeout * 1000,
    },
    plainHttp: config.plainHttp,
    hosts: chooseHosts(config),
    certificate,
    logLevel: config.logLevel,
    countCall: metrics?.countCall,
  })
  const expiry = certificate && watchExpiry(certificate)
  let level: string = config.logLevel
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
    level = wantedLevel(config, level)
    server.setLogLevel(level)
    warn(`reloaded; the log level is ${level}`)
  }
  return { server, scheme: certificate ? 'https' : 'http', reload, end: () => expiry?.end() }
}

/** Without a URL, a daemon that listens beyond this machine does not know its own names. */
function chooseHosts({ host, url, cluster }: Config): TrustedHosts {
  if (isLoopback(host)) return localHosts(url)
  return url === undefined ? anyHost : namedHosts(url, cluster?.advertise === undefined ? [] : [cluster.advertise])
}

/** The address with a host that can be called, unlike 0.0.0.0, and under the name that was given for it. */
export function readableUrl(address: string, host: string): string {
  const { protocol, port } = new URL(address)
  // URLs leave out the usual port of their scheme.
  const end = port && `:${port}`
  if (isWildcard(host)) return `${protocol}//127.0.0.1${end}`
  return isLoopback(host) && !host.includes(':') ? `${protocol}//${host}${end}` : address
}

/** The level in the file `log-level` of the folder, without the file that of the flags, and the present one if the file is of no use. */
function wantedLevel({ data, logLevel }: Config, present: string): string {
  const file = join(data, logLevelFileName)
  const levels: readonly string[] = daemonFlags['log-level'].choices
  try {
    const level = readStart(file).trim()
    if (levels.includes(level)) return level
    warn(`${file} has no log level; write one of ${levels.join(', ')}`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return logLevel
    warn(
      `${file} cannot be read (${code}); remove it, and set the level again with \`natter daemon reload --log-level LEVEL\``,
    )
  }
  return present
}

/** As much as a level can be. */
function readStart(file: string): string {
  const fd = openPlainSync(file)
  try {
    const bytes = Buffer.alloc(64)
    return bytes.toString('utf8', 0, readSync(fd, bytes))
  } finally {
    closeSync(fd)
  }
}

const dayMs = 24 * 60 * 60 * 1000

/** Warns now and once a day when the certificate is about to expire. */
function watchExpiry(certificate: Certificate) {
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
