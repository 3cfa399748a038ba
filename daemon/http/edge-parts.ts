// The parts of the edge of a world.

import type { Dialect } from '../domain/model/rows/queues.ts'
import type { AnyResource, Keys, ServerFacts, Tools } from '../domain/resource.ts'
import type { Engine } from '../engine.ts'
import type { ArrivingFiles, Receiver } from './arriving-files.ts'
import type { Intake } from './body.ts'
import type { Forwarding, RepeatedCall, Watch } from './exchange.ts'
import type { FinishedCall } from './observed-call.ts'
import type { Shares, Turns } from './turns.ts'

/** The part of pino that is used. */
export interface ProcessLog {
  isLevelEnabled(level: 'info'): boolean
  info(fields: object, text: string): void
  /** One line for a call that was answered. */
  call(call: FinishedCall): void
  error(fields: object, text: string): void
}

export interface EdgeParts {
  readonly engine: Engine
  readonly resources: readonly AnyResource[]
  readonly now: () => number
  /** For durations: the clock of the machine can be set. */
  readonly elapsed: () => number
  readonly random: () => string
  readonly keys: Keys
  readonly tools: Tools
  /** Filled in once the port is known. */
  readonly server: ServerFacts
  readonly dialect: 'auto' | Dialect
  readonly rateLimit: boolean
  /** Whether the address of a client is in X-Forwarded-For. */
  readonly trustProxy: boolean
  readonly maxQueuesPerUser: number
  readonly intake: Intake
  readonly turns: Turns
  readonly shares: Pick<Shares, 'get'>
  /** Where large uploads go. */
  readonly files: Receiver
  readonly arriving: ArrivingFiles
  readonly watch?: Watch | undefined
  /** Called for every call that was answered, if metrics are on. */
  readonly countCall?: ((call: FinishedCall) => void) | undefined
  /** In a cluster. */
  readonly forwarding?: Forwarding | undefined
  /** In a cluster: signals and presence are for the clients of other daemons too. */
  readonly onSignals?: ((call: RepeatedCall) => void) | undefined
}
