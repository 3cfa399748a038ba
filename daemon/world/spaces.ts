// Spaces: worlds in memory beside the main one, each under /spaces/NAME. Made and deleted through the control plane of the
// main world; an idle one is deleted after a while.

import { createHmac } from 'node:crypto'
import { mainWorld, spaceName } from '../api/control/spaces.ts'
import { levelForms, readLevel } from '../api/levels/releases.ts'
import { presentAccount, presentAccounts } from '../control/handlers/accounts.ts'
import type { ShownSpace, SpacesControl, WantedSpace } from '../control/spaces.ts'
import { conflict, invalid, missingOwn, onlyOneOf, Refusal, taken } from '../domain/refusal.ts'
import type { HttpServer } from '../http/server.ts'
import { namedFiles } from '../io/unneeded-files.ts'
import { inspectorAddress } from '../local/ready-file.ts'
import { warn } from '../local/warnings.ts'
import { type Config, clockForms, parseClock } from '../start/config.ts'
import { memoryStore } from '../store.ts'
import { Beginnings } from './beginnings.ts'
import { type Beginning, World } from './world.ts'

interface SpacesParts {
  readonly config: Config
  readonly server: HttpServer
  readonly main: World
}

export interface Space {
  readonly name: string
  readonly world: World
  /** Milliseconds since the epoch, by the clock of the machine. */
  readonly created: number
  /** The same; updated by `#updateUse`. */
  lastUsed: number
  /** How many requests it had at the last update. */
  requests: number
  /** Timer ticks in a row without a request. */
  unused: number
}

/** Timer ticks that a space must be idle before it is deleted. */
const idleTicks = 10
/** Milliseconds. */
const shortestPause = 100
const longestPause = 60_000

export class Spaces implements SpacesControl {
  readonly #parts: SpacesParts
  readonly #spaces = new Map<string, Space>()
  /** Names of spaces that are being made. */
  readonly #making = new Set<string>()
  readonly #beginnings: Beginnings
  /** Milliseconds between two timer ticks. */
  readonly #pause: number
  #lastNumber = 0
  #ticking: NodeJS.Timeout | undefined
  #stopped = false

  constructor(parts: SpacesParts) {
    this.#parts = parts
    this.#beginnings = new Beginnings(parts.config, parts.main.keys)
    this.#pause = Math.min(longestPause, Math.max(shortestPause, (parts.config.spaceIdle * 1000) / idleTicks))
  }

  async create(wanted: WantedSpace): Promise<ShownSpace> {
    return this.#show(await this.open(wanted))
  }

  list() {
    this.#updateUse(false)
    const { maxSpaces, spaceIdle } = this.#parts.config
    const spaces = [...this.#spaces.values()].map(({ name, world, created, lastUsed }) => ({
      name,
      url: world.url,
      control_token: world.keys.controlToken,
      created,
      last_used: lastUsed,
      expires: spaceIdle === 0 || world.isAwaited ? null : lastUsed + spaceIdle * 1000,
      busy: world.isAwaited,
      ended: world.ended ?? null,
    }))
    return { spaces, most: maxSpaces }
  }

  show(name: string): ShownSpace {
    return this.#show(this.#find(name))
  }

  async delete(name: string): Promise<void> {
    await this.end(this.#find(name))
  }

  /** The space itself, for programs in the same process. */
  async open(wanted: WantedSpace): Promise<Space> {
    refuseMixture(wanted)
    const name = this.#nameFor(wanted.name)
    this.#making.add(name)
    try {
      const space = await this.#make(name, wanted)
      if (this.#stopped) {
        await space.world.stop()
        throw new Refusal('The daemon is stopping.', { code: 'SERVER_NOT_READY', status: 503 })
      }
      this.#spaces.set(name, space)
      this.#parts.server.mount(prefixOf(name), space.world.site)
      this.#startTicking()
      return space
    } finally {
      this.#making.delete(name)
    }
  }

  /** Stops all of them, which answers waiting polls. `drain` is that of `World.stop`. */
  async stop(drain: () => Promise<void>): Promise<void> {
    this.#stopped = true
    clearInterval(this.#ticking)
    await Promise.all([...this.#spaces.values()].map(({ world }) => world.stop(drain)))
  }

  async #make(name: string, wanted: WantedSpace): Promise<Space> {
    const { server, main } = this.#parts
    const settings = this.#settingsFor(name, wanted)
    const beginning = await this.#beginningFor(wanted, settings)
    const files = new Set<string>()
    const world = new World({
      settings: { ...settings, level: settings.level ?? beginning.level ?? main.level.number },
      store: memoryStore(settings.secret, beginning.files.fork(files)),
      host: server.createHost(name),
      beginning,
      onFailure: error => this.#endedBy(error, name, world),
      whenEnded: `A defect of the daemon has ended the space ${name}; the log of the daemon has the details. Delete the space and create it again.`,
      prefix: `space ${name}: `,
      findings: main.control?.findings?.ofSpace(name),
    })
    await world.start(`${main.url}${prefixOf(name)}`)
    for (const file of namedFiles(world.engine.state)) files.add(file)
    return { name, world, created: Date.now(), lastUsed: Date.now(), requests: 0, unused: 0 }
  }

  /** A space that a defect ended stays in the list, with the reason, until it is deleted. */
  #endedBy(error: Error, name: string, world: World): void {
    warn(`a defect ended the space ${name}: ${error.message}. The other spaces go on; delete it and create it again`)
    // After a defect, stopping may fail too. The rest is gone when the space is deleted.
    world.stop().catch(() => {})
  }

  /** The settings of the daemon, with those that a space has for itself. */
  #settingsFor(name: string, wanted: WantedSpace): Config {
    const { config } = this.#parts
    const clock = wanted.clock === undefined ? config.clock : parseClock(wanted.clock)
    if (!clock) throw invalid('clock', `must be ${clockForms}`)
    // Derived, so that a daemon with the same keys in every run has spaces with the same keys in every run.
    const own = (text: string | undefined) =>
      text === undefined ? undefined : createHmac('sha256', text).update(`space:${name}`).digest('hex')
    return {
      ...config,
      from: undefined,
      memory: true,
      control: true,
      newSecret: false,
      reactivate: false,
      // A test must not reach people outside.
      smtpUrl: undefined,
      seed: undefined,
      import: undefined,
      clock,
      dialect: wanted.dialect ?? config.dialect,
      level: levelIn(wanted),
      strict: wanted.strict ?? config.strict,
      secret: wanted.secret ?? own(config.secret),
      random: wanted.secret ?? own(config.random),
    }
  }

  async #beginningFor({ preset, seed, snapshot, from, clock }: WantedSpace, settings: Config): Promise<Beginning> {
    if (snapshot === undefined && from === undefined) return this.#beginnings.get(settings, preset, seed)
    const source = from === undefined || from === mainWorld ? this.#parts.main : this.#find(from, 'from').world
    if (source.engine.failure) throw source.engine.failure
    const beginning = source.copy(snapshot)
    return clock === undefined ? beginning : { ...beginning, clock: undefined }
  }

  #nameFor(given: string | undefined): string {
    const { maxSpaces } = this.#parts.config
    if (this.#spaces.size + this.#making.size >= maxSpaces) {
      const most = maxSpaces === 1 ? 'is already 1 space' : `are already ${maxSpaces} spaces`
      throw conflict('name', `there ${most}, the most that --max-spaces allows; delete one first`)
    }
    const exists = (name: string) => this.#spaces.has(name) || this.#making.has(name)
    if (given === undefined) {
      do this.#lastNumber++
      while (exists(String(this.#lastNumber)))
      return String(this.#lastNumber)
    }
    if (!spaceName.test(given))
      throw invalid(
        'name',
        'must be up to 64 letters, digits, dots, dashes and underscores, not beginning with a dot or dash',
      )
    if (given === mainWorld) throw invalid('name', `${mainWorld} is the daemon’s own world; choose another name`)
    if (exists(given)) throw taken('name', given)
    return given
  }

  #find(name: string, parameter = 'name'): Space {
    const space = this.#spaces.get(name)
    if (!space) throw missingOwn(parameter, 'space', name)
    return space
  }

  #show({ name, world }: Space): ShownSpace {
    if (world.engine.failure) throw world.engine.failure
    const control = world.control!
    const { controlToken } = world.keys
    return {
      name,
      url: world.url,
      owner: presentAccount(control, world.owner),
      accounts: presentAccounts(control),
      control_token: controlToken,
      inspector: inspectorAddress(world.url, controlToken),
      level: world.level.number,
    }
  }

  /** Removes the space and stops its world. Does nothing if it has been removed already. */
  async end(space: Space): Promise<void> {
    const { name, world } = space
    if (this.#spaces.get(name) !== space) return
    this.#spaces.delete(name)
    this.#parts.server.unmount(prefixOf(name))
    if (this.#spaces.size === 0) {
      clearInterval(this.#ticking)
      this.#ticking = undefined
    }
    if (world.ended === undefined) await world.stop(undefined, 'This space has been deleted.')
  }

  #startTicking(): void {
    if (this.#parts.config.spaceIdle === 0 || this.#ticking || this.#stopped) return
    this.#ticking = setInterval(() => this.#updateUse(true), this.#pause).unref()
  }

  /**
   * Updates when each space was last used. On a tick of the timer it also deletes idle ones: idle time is counted in ticks, so
   * time during which the process was suspended does not count.
   */
  #updateUse(isTick: boolean): void {
    const enough = Math.ceil((this.#parts.config.spaceIdle * 1000) / this.#pause)
    for (const space of this.#spaces.values()) {
      const { requests } = space.world.site
      if (requests !== space.requests || space.world.isAwaited) {
        Object.assign(space, { requests, unused: 0, lastUsed: Date.now() })
      } else if (isTick && ++space.unused >= enough) void this.end(space)
    }
  }
}

function levelIn({ level: given }: WantedSpace): number | undefined {
  if (given === undefined) return undefined
  const level = readLevel(given)
  if (level === undefined) throw invalid('level', `must be ${levelForms}`)
  return level
}

function prefixOf(name: string): string {
  return `/spaces/${name}`
}

function refuseMixture({ preset, seed, snapshot, from }: WantedSpace): void {
  if (snapshot === undefined && from === undefined) return
  const given = snapshot === undefined ? 'from' : 'snapshot'
  if (preset !== undefined) throw onlyOneOf('preset', given)
  if (seed !== undefined) throw onlyOneOf('seed', given)
}
