// The parts that a world is built from: settings, store, server, and the interfaces to other worlds and other daemons.

import type { ClockSetting } from '../clock.ts'
import type { Sections } from '../control/snapshots.ts'
import type { SpacesControl } from '../control/spaces.ts'
import type { Findings } from '../control/strict.ts'
import type { EngineCluster } from '../engine.ts'
import type { SiteHost, SiteParts } from '../http/site.ts'
import type { Files } from '../io/files.ts'
import type { WorldMetrics } from '../metrics/figures.ts'
import type { Config } from '../start/config.ts'
import type { Store } from '../store.ts'

/** What a world starts with instead of a new organization. */
export interface Beginning {
  /** Shared with other worlds, so it must not be changed. */
  readonly sections: Sections
  readonly clock?: ClockSetting | undefined
  /** The feature level that it had, or that its seed asks for. */
  readonly level?: number | undefined
  readonly files: Files
}

export interface WorldParts {
  readonly settings: Config
  readonly store: Store
  /** For an empty store. */
  readonly beginning?: Beginning
  /** Absent in a space, which must not see the others. */
  readonly spaces?: () => Promise<SpacesControl>
  /** The server that its requests come from. */
  readonly host: SiteHost
  /** The store can no longer be written, or a defect ended this world. It must be stopped; another one may be built on the same store. */
  readonly onFailure: (error: Error) => void
  /** The message of refusals after a defect has ended it. */
  readonly whenEnded?: string
  /** Precedes its findings on stderr, where the process has several worlds. */
  readonly prefix?: string
  /** Of a space: with --strict, the findings that the daemon lists too. */
  readonly findings?: Findings | undefined
  /** Absent without --metrics, and in spaces. */
  readonly metrics?: WorldMetrics | undefined
  readonly cluster?: WorldCluster | undefined
}

/** What a world in a cluster needs of the other daemons. */
export interface WorldCluster
  extends EngineCluster,
    Required<Pick<SiteParts, 'forwarding' | 'onSignals' | 'clusterStatus'>> {
  /** Ends those of these idle queues that no client uses at another daemon either. */
  expire(queueIds: readonly string[]): void
}
