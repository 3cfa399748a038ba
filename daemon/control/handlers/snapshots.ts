// Handlers of `api/control/snapshots.ts`.

import { snapshots as page } from '../../api/control/snapshots.ts'
import { clockReply } from './clock.ts'
import { resource, Streamed } from './handler.ts'

export const snapshots = resource(page, {
  async reset({ plane }) {
    await plane.reset()
    return clockReply(plane)
  },
  list: ({ plane }) => ({ snapshots: plane.savedStates.list(), kept: plane.parts.kept }),
  save: ({ plane }, { name }) => ({ snapshot: plane.savedStates.save(name) }),
  export: ({ plane }, { name }) => new Streamed('application/json', plane.savedStates.write(name)),
  seed: ({ plane }, { name }) => new Streamed('application/json', plane.savedStates.dumpSeed(name)),
  import: async ({ plane }, { name, document }) => ({ snapshot: await plane.savedStates.take(name, document) }),
  async diff({ plane }, { from, to, limit }) {
    const { total, resources } = await plane.savedStates.compare(from, to, limit)
    // The shapes of a reply are not readonly, but these are never changed.
    return { from, to, total, resources: resources as never }
  },
  async restore({ plane }, { name }) {
    await plane.savedStates.restore(name)
    return clockReply(plane)
  },
  remove({ plane }, { name }) {
    plane.savedStates.remove(name)
    return {}
  },
})
