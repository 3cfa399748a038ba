// Parts of a world that follow from its settings: its clock, and the facts about its server.

import { getLevel, type Level } from '../api/levels/level.ts'
import { defaultLevel } from '../api/levels/releases.ts'
import type { Boundary } from '../boundary.ts'
import { type Clock, RealClock, SteeredClock } from '../clock.ts'
import type { ServerFacts } from '../domain/resource.ts'
import type { Config } from '../start/config.ts'

export function createClock({ clock, control }: Config, boundary: Boundary): Clock {
  if (clock === 'real') return control ? new SteeredClock(undefined, boundary) : new RealClock(boundary)
  return new SteeredClock(clock.frozenAt === 'now' ? Date.now() : clock.frozenAt, boundary)
}

/** The header Date where time is frozen or moved: two runs of a script give the same headers, and a client can tell the time here. */
export function createDateHeader(clock: Clock): (() => string | undefined) | undefined {
  if (!(clock instanceof SteeredClock)) return undefined
  return () => {
    const { setting } = clock
    return 'ahead' in setting && setting.ahead === 0 ? undefined : new Date(clock.now()).toUTCString()
  }
}

type SettledLater = ServerFacts & {
  url: string
  level: Level
  /** Takes the level of a seed or of another world, unless the flags give one. */
  readonly chooseLevel: (level: number | undefined) => void
}

/** The URL is known when the world starts, and the level once its seed is read. */
export function serverFacts({ devAuth, level, uploadQuota }: Config): SettledLater {
  const facts: SettledLater = {
    level: getLevel(level ?? defaultLevel),
    url: '',
    emailDomain: 'example.com',
    devAuth,
    ...(uploadQuota !== undefined && { uploadQuotaMiB: uploadQuota }),
    chooseLevel: chosen => {
      if (level === undefined && chosen !== undefined) facts.level = getLevel(chosen)
    },
  }
  return facts
}
