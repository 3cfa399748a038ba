// Short names for one use of an endpoint that can do more: `messages move` edits a message, but only its place.

import type { Shortcut } from '../../daemon/api/cli-form.ts'
import type { Endpoint, Param } from '../../daemon/api/define.ts'
import { usage } from '../base/failure.ts'
import type { Given } from '../input/flags.ts'

/** For help and parsing: only the params that can be given. Some levels do not have all of them. */
export function buildShortcut(shortcut: Shortcut, endpoint: Endpoint): Endpoint {
  const params = shortcut.params.flatMap((name): [string, Param][] => {
    const param = endpoint.params[name]
    return param ? [[name, param]] : []
  })
  return { ...endpoint, summary: shortcut.summary, params: Object.fromEntries(params), cli: shortcut.cli }
}

/** For the call: the whole endpoint under this name. */
export function buildTarget(shortcut: Shortcut, endpoint: Endpoint): Endpoint {
  return { ...endpoint, cli: shortcut.cli }
}

/** The given params, and those that the name and its switches set. */
export function saidBy(shortcut: Shortcut, given: ReadonlyMap<string, Given>): Map<string, Given> {
  const said = new Map([...Object.entries(shortcut.sets ?? {}), ...given])
  const used = (shortcut.switches ?? []).filter(({ name }) => said.delete(`@${name}`))
  if (used.length > 1) throw usage(`${used.map(({ name }) => `--${name}`).join(' and ')} cannot be combined`)
  for (const { sets } of used) for (const [name, value] of Object.entries(sets)) said.set(name, value)
  return said
}
