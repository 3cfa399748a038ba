// Handlers of `api/control/snapshots.ts`.

import { snapshots as page } from '../../api/control/snapshots.ts'
import { clockReply } from './clock.ts'
import { resource } from './handler.ts'

export const snapshots = resource(page, {
  async reset({ plane }) {
    await plane.reset()
    return clockReply(plane)
  },
  list: ({ plane }) => ({ snapshots: plane.worlds.list(), kept: plane.parts.kept }),
  save: ({ plane }, { name }) => ({ snapshot: plane.worlds.save(name) }),
  async restore({ plane }, { name }) {
    await plane.worlds.restore(name)
    return clockReply(plane)
  },
  remove({ plane }, { name }) {
    plane.worlds.remove(name)
    return {}
  },
})
