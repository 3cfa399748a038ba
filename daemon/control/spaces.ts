// The interface between the control plane and spaces. The process has them (`daemon/world/spaces.ts`); a world only knows this much.

import type { spaces as page } from '../api/control/spaces.ts'
import type { ParamsOf, ReplyOf } from '../api/define.ts'

export type WantedSpace = ParamsOf<typeof page.create>
export type ShownSpace = ReplyOf<typeof page.show>

export interface SpacesDoor {
  create(wanted: WantedSpace): Promise<ShownSpace>
  list(): ReplyOf<typeof page.list>
  show(name: string): ShownSpace
  delete(name: string): Promise<void>
}
