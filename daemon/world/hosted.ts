// The interface between a daemon and its main world, alone (`single.ts`) or in a cluster (`cluster/member.ts`).

import type { Certificate } from '../http/certificate.ts'
import type { WorldMetrics } from '../metrics/figures.ts'
import type { Config } from '../start/config.ts'
import type { Port, ProcessResources } from '../start/port.ts'
import type { StoreFolder } from '../store.ts'
import type { Spaces } from './spaces.ts'
import type { World } from './world.ts'

export interface HostedWorld {
  /** In a cluster there is a new one each time the daemon loses the lead. */
  readonly world: World
  journalSize(): number | null
  /** Opens the store. Requests are refused with a reason from then on. */
  open(): Promise<void>
  /** Answers requests from now on. `localUrl` is where the daemon listens. */
  start(localUrl: string): Promise<void>
  /** Answers waiting polls, writes everything to disk, and closes the port. Works before `start`, too. */
  stop(): Promise<void>
  spaces(): Promise<Spaces>
  /** Its place in the cluster; absent where it is alone. */
  readonly cluster?: {
    place(): { readonly role: string; readonly lag: number }
    replaceCertificate(certificate: Certificate): void
    unref(): void
    /** Closes the address for the other daemons, and cuts their connections. */
    disconnect(): void
  }
}

export interface HostedWorldParts {
  readonly config: Config
  readonly resources: ProcessResources
  readonly folder: StoreFolder
  readonly port: Port
  readonly metrics: WorldMetrics | undefined
  readonly onFailure: (error: Error) => void
}
