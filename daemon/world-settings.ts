// What of the flags belongs to one world, and what follows from it.

import type { Config } from './config.ts'
import type { ServerFacts } from './domain/resource.ts'
import { type Clock, RealClock, SteeredClock } from './io/clock.ts'

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

export function clockOf({ clock, control }: WorldSettings): Clock {
  if (clock === 'real') return control ? new SteeredClock() : new RealClock()
  return new SteeredClock(clock.frozenAt === 'now' ? Date.now() : clock.frozenAt)
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
