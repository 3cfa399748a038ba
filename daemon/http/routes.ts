// From method and path to endpoint. Fastify gets one route: registering each endpoint with it would make the
// daemon start a tenth slower, and its router can be used by itself.

import Router from 'find-my-way'
import type { Endpoint, Method } from '../api/define.ts'
import type { AnyResource } from '../domain/resource.ts'

export interface Route {
  readonly endpoint: Endpoint
  readonly resource: AnyResource
  /** Key of the endpoint in its resource. */
  readonly key: string
}

export interface Found {
  readonly route: Route
  readonly path: Readonly<Record<string, string>>
}

const methods: readonly Method[] = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE']

export class Routes {
  readonly #router = Router({ ignoreTrailingSlash: true, maxParamLength: 2000 })

  constructor(resources: readonly AnyResource[]) {
    for (const resource of resources)
      for (const [key, endpoint] of Object.entries(resource.api))
        if (endpoint.served !== 'outgoing')
          this.#router.on(endpoint.method, pattern(endpoint), () => {}, { endpoint, resource, key } satisfies Route)
  }

  /** The path is relative to /api/v1 and still percent-encoded. */
  find(method: string, path: string): Found | undefined {
    const found = this.#router.find(method as Method, path)
    if (!found) return undefined
    const route = found.store as Route
    const { '*': rest, ...params } = found.params
    const restName = rest === undefined ? undefined : /\{(\w+)\.\.\.\}/.exec(route.endpoint.path)?.[1]
    return { route, path: (restName ? { ...params, [restName]: rest } : params) as Record<string, string> }
  }

  /** Methods the path knows, for 405 and OPTIONS. */
  allowed(path: string): string[] {
    const known = methods.filter(method => this.#router.find(method, path))
    return known.includes('GET')
      ? ['GET', 'HEAD', ...known.slice(1), 'OPTIONS']
      : known.length > 0
        ? [...known, 'OPTIONS']
        : []
  }
}

/** A path parameter that must be an integer matches nothing else, so anything else is an unknown path. */
function pattern(endpoint: Endpoint): string {
  return endpoint.path.replace(/\{(\w+)(\.\.\.)?\}/g, (_match, name: string, rest?: string) => {
    if (rest) return '*'
    return endpoint.params[name]?.shape.type === 'integer' ? `:${name}(^\\d{1,15}$)` : `:${name}`
  })
}
