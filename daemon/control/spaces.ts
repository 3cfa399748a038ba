// The interface of spaces for the control plane. `daemon/world/spaces.ts` implements it.

import type { spaces as api } from '../api/control/spaces.ts'
import type { ParamsOf, ReplyOf } from '../api/define.ts'

export type WantedSpace = ParamsOf<typeof api.create>
export type ShownSpace = ReplyOf<typeof api.show>

export interface SpacesControl {
  create(wanted: WantedSpace): Promise<ShownSpace>
  list(): ReplyOf<typeof api.list>
  show(name: string): ShownSpace
  delete(name: string): Promise<void>
}
