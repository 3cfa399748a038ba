// The beginnings of new spaces: rows of a preset or a seed, which are made once and cached, so that the next space with the same
// content only has to load them.

import { invalid, rateLimited } from '../domain/refusal.ts'
import type { Keys } from '../domain/resource.ts'
import { memoryFiles } from '../io/files.ts'
import { Passwords } from '../io/passwords.ts'
import { realRandomness, seededRandomness } from '../io/randomness.ts'
import { largeFile, readText } from '../local/bounded-file.ts'
import { SeedRefused } from '../seed/format.ts'
import { buildState, firstFacts, SeedText } from '../seed/found.ts'
import type { Config } from '../start/config.ts'
import { serverFacts } from './settings.ts'
import type { Beginning } from './world.ts'

type Preset = Config['preset']
type GivenSeed = string | object

interface Cached {
  /** When it was made, in milliseconds by the clock of the world. */
  readonly time: number
  readonly made: Promise<Made>
}

interface Made {
  readonly beginning: Beginning
  /** Whether it holds random values that must not be in two worlds. */
  readonly unique: boolean
}

const mostCached = 16

/** Milliseconds that a cached beginning is used. In such a space, the organization is that much older than the space. */
const freshFor = 60_000

export class Beginnings {
  readonly #config: Config
  readonly #keys: Keys
  readonly #passwords: Passwords
  readonly #cache = new Map<string, Cached>()

  constructor(config: Config, keys: Keys) {
    this.#config = config
    this.#keys = keys
    this.#passwords = new Passwords(config.passwordCost, rateLimited)
  }

  /** Without a preset and a seed, the preset and the seed of the daemon itself. */
  async get(settings: Config, preset?: Preset, seed?: GivenSeed): Promise<Beginning> {
    const content = {
      preset: preset ?? settings.preset,
      seed:
        typeof seed === 'string' ? new SeedText(seed) : (seed ?? (preset === undefined ? this.#ownSeed() : undefined)),
    }
    const { clock } = settings
    const frozenAt = clock === 'real' || clock.frozenAt === 'now' ? undefined : clock.frozenAt
    const now = frozenAt ?? Date.now()
    const key = JSON.stringify([content, content.seed instanceof SeedText, frozenAt, settings.level])
    const cached = this.#cache.get(key)
    try {
      if (cached && now >= cached.time && now - cached.time < freshFor) {
        const { beginning, unique } = await cached.made
        if (!unique) return beginning
      }
      const made = this.#make({ ...settings, ...content }, now)
      this.#remember(key, { time: now, made })
      return (await made).beginning
    } catch (error) {
      this.#cache.delete(key)
      throw error instanceof SeedRefused ? invalid('seed', error.message) : error
    }
  }

  async #make(settings: Config, now: number): Promise<Made> {
    const { random } = settings
    const randomness = random === undefined ? realRandomness : seededRandomness(`${random}:0`)
    const files = memoryFiles()
    let unique = false
    const server = serverFacts({ ...settings, level: settings.level ?? this.#config.level })
    const tools = {
      hashPassword: (password: string) => this.#passwords.hashPassword(password),
      verifyPassword: (password: string, hash: string | undefined) => this.#passwords.verifyPassword(password, hash),
      keepFile: files.keep,
      server,
    }
    const surroundings = {
      client: 'internal',
      random: () => {
        unique = true
        return randomness.uuid()
      },
      keys: this.#keys,
      server,
    }
    let level: number | undefined
    const chooseLevel = (chosen: number) => {
      level = chosen
      server.chooseLevel(chosen)
    }
    const state = buildState(await firstFacts(settings, { now, tools, surroundings, chooseLevel }))
    const sections = Object.fromEntries(Object.entries(state.save()).map(([name, rows]) => [name, [...rows]]))
    return { beginning: { sections, files, level }, unique }
  }

  /** Read again: the file may have changed since the daemon started. */
  #ownSeed(): GivenSeed | undefined {
    const { seed } = this.#config
    if (typeof seed !== 'string') return seed
    try {
      return new SeedText(readText(seed, largeFile))
    } catch (error) {
      throw invalid('seed', `${seed} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
    }
  }

  #remember(key: string, cached: Cached): void {
    this.#cache.delete(key)
    this.#cache.set(key, cached)
    if (this.#cache.size > mostCached) this.#cache.delete(this.#cache.keys().next().value!)
  }
}
