// An endpoint of the control plane.

import { type Definition, endpoint } from './define.ts'

export function controlEndpoint<const E extends Definition>(definition: E) {
  return endpoint({ ...definition, access: 'control' as const })
}
