// Members of etcd for a test: on ports of their own, in folders of their own, ended with the test.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { quickFolder } from './quick-folder.ts'
import { until } from './until.ts'

/** Seconds for a member to start. It makes its files first, which waits for the disk. */
const startSeconds = 180

const env = { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch }

/** Why tests with etcd cannot run here; undefined where they can. NATTER_REQUIRE=etcd makes that a failure. */
export const withoutEtcd: string | undefined = hasEtcd() ? undefined : 'there is no etcd on the PATH'
if (withoutEtcd && /\betcd\b/.test(process.env.NATTER_REQUIRE ?? '')) throw new Error(withoutEtcd)

function hasEtcd(): boolean {
  try {
    execFileSync('etcd', ['--version'], { stdio: 'ignore', env })
    return true
  } catch {
    return false
  }
}

export interface EtcdMember {
  readonly url: string
  readonly process: ChildProcess
  kill(): Promise<void>
  /** After `kill`: on the same folder and ports. */
  start(): Promise<void>
  /** Resolves when it has stopped: it goes on for a moment after the signal. */
  pause(): Promise<void>
  resume(): void
}

export interface EtcdCluster {
  readonly members: readonly EtcdMember[]
  readonly urls: readonly string[]
  stop(): Promise<void>
}

/** PEM files. Clients must show a certificate too, from the same authority. */
export interface EtcdTls {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** Where a process runs, if not simply here: its address, and the command that puts it there. */
export interface Host {
  readonly address: string
  readonly exec: readonly string[]
}

export interface MemberOptions {
  readonly flags?: readonly string[]
  readonly tls?: EtcdTls
  /** One for each member. */
  readonly hosts?: readonly Host[]
}

export async function startEtcd(size = 1, { flags = [], tls, hosts }: MemberOptions = {}): Promise<EtcdCluster> {
  const folder = mkdtempSync(join(quickFolder(), 'natter-etcd-'))
  const places = await Promise.all(
    Array.from({ length: size }, async (_, index) => {
      const { address, exec } = hosts?.[index] ?? { address: '127.0.0.1', exec: [] }
      return {
        exec,
        name: `m${index}`,
        client: `${tls ? 'https' : 'http'}://${address}:${await freePort()}`,
        peer: `http://${address}:${await freePort()}`,
        // Where it tells its health without authentication.
        health: `http://${address}:${await freePort()}`,
      }
    }),
  )
  const secured = tls
    ? ['--cert-file', tls.cert, '--key-file', tls.key, '--client-cert-auth', '--trusted-ca-file', tls.ca]
    : []
  const initial = places.map(({ name, peer }) => `${name}=${peer}`).join(',')
  const members = places.map(({ exec, name, client, peer, health }) =>
    memberOf(client, health, [
      ...exec,
      'etcd',
      ...['--name', name, '--data-dir', join(folder, name), '--log-level', 'error', '--logger', 'zap'],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      ...['--initial-cluster', initial, '--initial-cluster-state', 'new', '--listen-metrics-urls', health],
      ...secured,
      ...flags,
    ]),
  )
  await Promise.all(members.map(member => member.start()))
  return {
    members,
    urls: places.map(({ client }) => client),
    async stop() {
      await Promise.all(members.map(member => member.kill()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function memberOf(url: string, health: string, [command, ...args]: readonly string[]): EtcdMember {
  let child!: ChildProcess
  return {
    url,
    get process() {
      return child
    },
    async start() {
      const started = spawn(command!, args, { stdio: ['ignore', 'ignore', 'pipe'], env })
      child = started
      let said = ''
      started.stderr.setEncoding('utf8').on('data', text => {
        said += text
      })
      const why = () => `etcd on ${url} (exit code ${started.exitCode}): ${said.slice(-2000) || 'it said nothing'}`
      const ended = () => started.exitCode !== null || started.signalCode !== null
      await until(async () => (await isHealthy(health)) || ended(), startSeconds).catch(error => {
        throw new Error(`${error.message}; ${why()}`)
      })
      if (ended()) throw new Error(why())
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const closed = new Promise(resolve => child.once('close', resolve))
      child.kill('SIGKILL')
      await closed
    },
    async pause() {
      child.kill('SIGSTOP')
      const threads = `/proc/${child.pid}/task`
      const isStopped = (thread: string) => /^\d+ \(.*\) T /s.test(readFileSync(join(threads, thread, 'stat'), 'utf8'))
      if (existsSync(threads)) await until(() => readdirSync(threads).every(isStopped))
    },
    resume: () => child.kill('SIGCONT'),
  }
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return /"health":\s*"true"/.test(await (await fetch(`${url}/health`, { signal: AbortSignal.timeout(2000) })).text())
  } catch {
    return false
  }
}
