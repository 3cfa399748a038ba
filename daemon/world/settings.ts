// What follows from the settings of one world: its clock, and what it says of its server.

import type { Boundary } from '../boundary.ts'
import type { ServerFacts } from '../domain/resource.ts'
import { type Clock, RealClock, SteeredClock } from '../io/clock.ts'
import type { Config } from '../start/config.ts'

export function clockOf({ clock, control }: Config, boundary: Boundary): Clock {
  if (clock === 'real') return control ? new SteeredClock(undefined, boundary) : new RealClock(boundary)
  return new SteeredClock(clock.frozenAt === 'now' ? Date.now() : clock.frozenAt, boundary)
}

/** The URL is known when the world starts. */
export function serverFacts({ devAuth, uploadQuota }: Config): ServerFacts & { url: string } {
  return {
    url: '',
    emailDomain: 'example.com',
    devAuth,
    ...(uploadQuota !== undefined && { uploadQuotaMiB: uploadQuota }),
  }
}
