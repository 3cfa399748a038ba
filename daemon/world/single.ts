// The world of a daemon that is not in a cluster, and its spaces.

import type { Store } from '../store.ts'
import type { HostedWorld, HostedWorldParts } from './hosted.ts'
import { writeSnapshot } from './snapshot-file.ts'
import type { Spaces } from './spaces.ts'
import { World } from './world.ts'

export function singleWorld({ config, folder, port, metrics, onFailure }: HostedWorldParts): HostedWorld {
  const { server } = port
  let store: Store | undefined
  let world: World | undefined
  let spaces: Promise<Spaces> | undefined
  /** Loaded when they are first asked for: most daemons have none. */
  const openSpaces = () => {
    spaces ??= import('./spaces.ts').then(({ Spaces }) => new Spaces({ config, server, main: world! }))
    return spaces
  }
  /** Thrown when the store is closed: a snapshot that cannot be written must not keep it open. */
  let unsaved: Error | undefined
  const saveSnapshot = async () => {
    const { snapshotOnExit: file } = config
    if (file === undefined || !world || !store || world.engine.state.users.size === 0) return
    await writeSnapshot(file, world.engine, world.clock, store.files).catch(error => {
      unsaved = new Error(`the snapshot ${file} could not be written: ${error.message}`)
    })
  }
  return {
    get world() {
      return world!
    },
    journalSize: () => store!.journalSize(),
    spaces: openSpaces,
    async open() {
      store = await folder.open()
      world = new World({ settings: config, store, host: server, spaces: openSpaces, onFailure, metrics })
      server.mount('', world.site)
    },
    start: localUrl => world!.start(config.url ?? localUrl),
    async stop() {
      let closed: Promise<void> | undefined
      const close = () => {
        closed ??= server.close()
        return closed
      }
      const closeMain = async () => {
        await close()
        await saveSnapshot()
      }
      await Promise.all([world?.stop(closeMain), spaces?.then(opened => opened.stop(close))])
      if (unsaved) throw unsaved
    },
  }
}
