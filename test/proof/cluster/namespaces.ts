// Namespaces of the kernel that are joined by a bridge: each is a host with an address of its own, and packets from one
// to another can be lost. Only the administrator can make them.

import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import type { Host } from '../../support/etcd.ts'

const prefix = 'natter-proof'

export class Namespaces {
  readonly hosts: readonly Host[]
  /** The address of everything that is in none of them, such as this process. */
  readonly outside: string
  readonly #bridge = `nat${process.pid}`
  readonly #names = new Map<string, string>()
  #lost: (readonly string[])[] = []

  /** Why there can be none here; undefined where they can be made. */
  static unavailable(): string | undefined {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only the administrator makes namespaces'
    const name = `${prefix}-${process.pid}-try`
    const made = spawnSync('ip', ['netns', 'add', name])
    if (made.error) return 'there is no ip on the PATH'
    spawnSync('ip', ['netns', 'del', name])
    return made.status === 0 ? undefined : 'this system makes no namespaces'
  }

  static create(count: number): Namespaces {
    removeLeftovers()
    return new Namespaces(count)
  }

  private constructor(count: number) {
    const net = `10.${randomInt(100, 250)}.${randomInt(0, 250)}`
    this.outside = `${net}.1`
    ip('link', 'add', this.#bridge, 'type', 'bridge')
    ip('addr', 'add', `${this.outside}/24`, 'dev', this.#bridge)
    ip('link', 'set', this.#bridge, 'up')
    this.hosts = Array.from({ length: count }, (_, index) => this.#add(index, `${net}.${index + 11}`))
  }

  #add(index: number, address: string): Host {
    const name = `${prefix}-${process.pid}-${index}`
    const outer = `${this.#bridge}v${index}`
    this.#names.set(address, name)
    ip('netns', 'add', name)
    ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
    ip('link', 'set', outer, 'master', this.#bridge, 'up')
    ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
    ip('-n', name, 'link', 'set', 'eth0', 'up')
    ip('-n', name, 'link', 'set', 'lo', 'up')
    return { address, exec: ['ip', 'netns', 'exec', name] }
  }

  /** Packets from one address to the other vanish. */
  lose(from: string, to: string): void {
    const name = this.#names.get(from)
    const where = name === undefined ? [] : ['-n', name]
    ip(...where, 'route', 'add', 'blackhole', `${to}/32`)
    this.#lost.push([...where, 'route', 'del', 'blackhole', `${to}/32`])
  }

  mend(): void {
    for (const args of this.#lost) ip(...args)
    this.#lost = []
  }

  end(): void {
    this.mend()
    for (const name of this.#names.values()) ip('netns', 'del', name)
    ip('link', 'del', this.#bridge)
  }
}

/** Those of a process that was killed. */
function removeLeftovers(): void {
  for (const name of spawnSync('ip', ['netns', 'list'], { encoding: 'utf8' }).stdout.match(/natter-proof-\d+-\d+/g) ??
    []) {
    const pid = name.split('-')[2]!
    if (isRunning(Number(pid))) continue
    ip('netns', 'del', name)
    spawnSync('ip', ['link', 'del', `nat${pid}`])
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function ip(...args: string[]): void {
  const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`)
}
