// The content of new spaces: the rows of a preset and a seed, founded once and kept, so that the next space with the same
// content only has to load them.

import { readFileSync } from 'node:fs'
import { invalid, rateLimited } from '../domain/refusal.ts'
import type { Keys } from '../domain/resource.ts'
import { memoryFiles } from '../io/files.ts'
import { Passwords } from '../io/passwords.ts'
import { realRandomness, seededRandomness } from '../io/randomness.ts'
import { SeedRefused } from '../seed/format.ts'
import { buildState, firstFacts, SeedText } from '../seed/found.ts'
import type { Config } from '../start/config.ts'
import { serverFacts } from './settings.ts'
import type { Beginning } from './world.ts'

type Preset = Config['preset']
type GivenSeed = string | object

interface Kept {
  /** Milliseconds, by the clock of the world. */
  readonly time: number
  readonly founding: Promise<Founded>
}

interface Founded {
  readonly beginning: Beginning
  /** Whether it holds something that must not be in two worlds. */
  readonly unique: boolean
}

/** Contents that are kept. */
const most = 16

/**
 * Milliseconds that the founding may be in the past. People joined and messages were sent so much earlier, which no one can
 * tell. Where time is frozen at a given moment, it is that moment.
 */
const freshFor = 60_000

export class Beginnings {
  readonly #config: Config
  readonly #keys: Keys
  readonly #passwords: Passwords
  readonly #kept = new Map<string, Kept>()

  constructor(config: Config, keys: Keys) {
    this.#config = config
    this.#keys = keys
    this.#passwords = new Passwords(config.passwordCost, rateLimited)
  }

  /** Without a preset and a seed, what the daemon itself began with. */
  async found(settings: Config, preset?: Preset, seed?: GivenSeed): Promise<Beginning> {
    const content = {
      preset: preset ?? settings.preset,
      seed:
        typeof seed === 'string' ? new SeedText(seed) : (seed ?? (preset === undefined ? this.#ownSeed() : undefined)),
    }
    const { clock } = settings
    const frozenAt = clock === 'real' || clock.frozenAt === 'now' ? undefined : clock.frozenAt
    const now = frozenAt ?? Date.now()
    const key = JSON.stringify([content, content.seed instanceof SeedText, frozenAt, settings.level])
    const kept = this.#kept.get(key)
    try {
      if (kept && now >= kept.time && now - kept.time < freshFor) {
        const { beginning, unique } = await kept.founding
        if (!unique) return beginning
      }
      const founding = this.#found({ ...settings, ...content }, now)
      this.#keep(key, { time: now, founding })
      return (await founding).beginning
    } catch (error) {
      this.#kept.delete(key)
      throw error instanceof SeedRefused ? invalid('seed', error.message) : error
    }
  }

  async #found(settings: Config, now: number): Promise<Founded> {
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
      return new SeedText(readFileSync(seed, 'utf8'))
    } catch (error) {
      throw invalid('seed', `${seed} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
    }
  }

  #keep(key: string, kept: Kept): void {
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    if (this.#kept.size > most) this.#kept.delete(this.#kept.keys().next().value!)
  }
}
