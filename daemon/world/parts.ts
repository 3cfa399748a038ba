// The parts that a world is built from: settings, store, server, and what it has of other worlds and other daemons.

import type { ClockSetting } from '../clock.ts'
import type { Sections } from '../control/snapshots.ts'
import type { SpacesDoor } from '../control/spaces.ts'
import type { EngineCluster } from '../engine.ts'
import type { SiteHost, SiteParts } from '../http/site.ts'
import type { Files } from '../io/files.ts'
import type { WorldMetrics } from '../metrics/figures.ts'
import type { Config } from '../start/config.ts'
import type { Store } from '../store.ts'

/** What a world starts with instead of a new organization. */
export interface Beginning {
  /** Shared with others, and never changed. */
  readonly sections: Sections
  readonly clock?: ClockSetting | undefined
  /** The feature level that it had, or that its seed asks for. */
  readonly level?: number | undefined
  readonly files: Files
}

export interface WorldParts {
  readonly settings: Config
  readonly store: Store
  /** For a store without anything in it. */
  readonly beginning?: Beginning
  /** Other worlds of the process; absent in a world that may not know of them. */
  readonly spaces?: () => Promise<SpacesDoor>
  /** The server that its requests come from. */
  readonly host: SiteHost
  /** The store can no longer be written, or a defect ended this world. It must be stopped; another one may be built on the same store. */
  readonly onFailure: (error: Error) => void
  /** What callers are told when a defect has ended it. */
  readonly whenEnded?: string
  /** Before its findings on stderr, where the process has several worlds. */
  readonly prefix?: string
  /** Of the process; absent where they are not wanted, and in worlds beside the main one. */
  readonly metrics?: WorldMetrics | undefined
  /** The other daemons, if this one is not alone. */
  readonly cluster?: WorldCluster | undefined
}

/** What a world in a cluster needs of the other daemons. */
export interface WorldCluster
  extends EngineCluster,
    Required<Pick<SiteParts, 'forwarding' | 'onSignals' | 'clusterStatus'>> {
  /** Idle queues: ends those that no client uses at another daemon either. */
  expire(queueIds: readonly string[]): void
}
