// What of the flags belongs to one world, and what follows from it.

import type { ServerFacts } from '../domain/resource.ts'
import { type Clock, RealClock, SteeredClock } from '../io/clock.ts'
import type { Config } from '../start/config.ts'
import type { Boundary } from './boundary.ts'

/** What can differ from world to world. */
export type WorldSettings = Pick<
  Config,
  | 'clock'
  | 'control'
  | 'devAuth'
  | 'from'
  | 'dialect'
  | 'heartbeat'
  | 'import'
  | 'maxPending'
  | 'maxPendingMiB'
  | 'maxQueues'
  | 'memory'
  | 'newSecret'
  | 'org'
  | 'owner'
  | 'passwordCost'
  | 'preset'
  | 'random'
  | 'rateLimit'
  | 'reactivate'
  | 'seed'
  | 'smtpUrl'
  | 'strict'
  | 'uploadQuota'
  | 'trustProxy'
  | 'webhookLoopback'
  | 'webhookPrivate'
  | 'webhookTimeout'
>

export function clockOf({ clock, control }: WorldSettings, boundary: Boundary): Clock {
  if (clock === 'real') return control ? new SteeredClock(undefined, boundary) : new RealClock(boundary)
  return new SteeredClock(clock.frozenAt === 'now' ? Date.now() : clock.frozenAt, boundary)
}

/** The URL is known when the world starts. */
export function serverFacts({ devAuth, uploadQuota }: WorldSettings): ServerFacts & { url: string } {
  return {
    url: '',
    emailDomain: 'example.com',
    devAuth,
    ...(uploadQuota !== undefined && { uploadQuotaMiB: uploadQuota }),
  }
}
