// Handlers of `api/control/spaces.ts`.

import { spaces as api } from '../../api/control/spaces.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { SpacesControl } from '../spaces.ts'
import { type ControlContext, resource } from './handler.ts'

export const spaces = resource(api, {
  create: async (context, wanted) => (await requireSpaces(context)).create(wanted),
  list: async context => (await requireSpaces(context)).list(),
  show: async (context, { name }) => (await requireSpaces(context)).show(name),
  async delete(context, { name }) {
    await (await requireSpaces(context)).delete(name)
    return {}
  },
})

/** A space must not see the others, so it has none. */
async function requireSpaces({ spaces }: ControlContext): Promise<SpacesControl> {
  if (spaces) return spaces()
  const msg =
    'A space has no spaces of its own. Use the URL and the control token of the daemon; after `natter spaces use`, run `natter profile use -` first.'
  throw new Refusal(msg, { kind: 'not-found', status: 404 })
}
