// Endpoints by name, over all resources.

import { resources } from './domain/index.ts'

/** By operation ID, or by method and path. */
export function knowsEndpoint(name: string): boolean {
  return resources.some(({ api }) =>
    Object.values(api).some(({ id, method, path }) => name === id || name === `${method} ${path}`),
  )
}
