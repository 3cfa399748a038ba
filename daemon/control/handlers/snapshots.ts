// Handlers of `api/control/snapshots.ts`.

import { snapshots as api } from '../../api/control/snapshots.ts'
import { clockReply } from './clock.ts'
import { resource, Streamed } from './handler.ts'

export const snapshots = resource(api, {
  async reset({ plane }) {
    await plane.reset()
    return clockReply(plane)
  },
  list: ({ plane }) => ({ snapshots: plane.snapshots.list(), kept: plane.parts.kept }),
  save: ({ plane }, { name }) => ({ snapshot: plane.snapshots.save(name) }),
  export: ({ plane }, { name }) => new Streamed('application/json', plane.snapshots.write(name)),
  seed: ({ plane }, { name }) => new Streamed('application/json', plane.snapshots.dumpSeed(name)),
  import: async ({ plane }, { name, document }) => ({ snapshot: await plane.snapshots.import(name, document) }),
  async diff({ plane }, { from, to, limit }) {
    const { total, resources } = await plane.snapshots.compare(from, to, limit)
    // The shapes of a reply are not readonly, but these are never changed.
    return { from, to, total, resources: resources as never }
  },
  async restore({ plane }, { name }) {
    await plane.snapshots.restore(name)
    return clockReply(plane)
  },
  remove({ plane }, { name }) {
    plane.snapshots.remove(name)
    return {}
  },
})
