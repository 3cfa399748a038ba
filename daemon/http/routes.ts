// From method and path to endpoint. Fastify gets one route: registering each endpoint with it would make the
// daemon start a tenth slower, and its router can be used by itself.

import Router from 'find-my-way'
import type { Endpoint, Endpoints, Method } from '../api/define.ts'
import { malformed } from '../domain/refusal.ts'
import type { AnyResource } from '../domain/resource.ts'

/** The part of a resource that routing needs. */
interface Routed {
  readonly api: Endpoints
}

export interface Route<R extends Routed = AnyResource> {
  readonly endpoint: Endpoint
  readonly resource: R
  /** Key of the endpoint in its resource. */
  readonly key: string
  /** The path of the endpoint, or one of its older ones. */
  readonly pattern: string
}

export interface Found<R extends Routed = AnyResource> {
  readonly route: Route<R>
  readonly path: Readonly<Record<string, string>>
}

const methods: readonly Method[] = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE']

/** Routes never change, so all worlds share them. */
const shared = new WeakMap<readonly Routed[], Routes<any>>()

export class Routes<R extends Routed = AnyResource> {
  static of<R extends Routed>(resources: readonly R[]): Routes<R> {
    let routes = shared.get(resources)
    if (!routes) {
      routes = new Routes(resources)
      shared.set(resources, routes)
    }
    return routes
  }

  readonly #routes = new Map<string, Route<R>[]>()
  /** Routes without parameters, by method and path. Most calls are to these, and need no router. */
  readonly #plain = new Map<string, Found<R>>()
  readonly #plainPaths = new Set<string>()
  /** Routers by the first word of the path, made at the first use: making all of them would be a tenth of the start. */
  readonly #routers = new Map<string, ReturnType<typeof Router>>()

  constructor(resources: readonly R[]) {
    for (const resource of resources)
      for (const [key, endpoint] of Object.entries(resource.api)) {
        if (endpoint.served === 'outgoing') continue
        for (const path of [endpoint.path, ...(endpoint.also ?? [])]) {
          const word = firstWord(path)
          const routes = this.#routes.get(word)
          const route = { endpoint, resource, key, pattern: path }
          if (routes) routes.push(route)
          else this.#routes.set(word, [route])
          if (path.includes('{')) continue
          this.#plain.set(`${endpoint.method} ${path}`, { route, path: noParams })
          this.#plainPaths.add(path)
        }
      }
  }

  /** The path is relative to the prefix of the routes and still percent-encoded. */
  find(method: string, path: string): Found<R> | undefined {
    const found = this.#plain.get(`${method} ${path}`)
    // A path without parameters is never the value of one: PATCH /users/me does not mean an account named `me`.
    return found || this.#plainPaths.has(path) ? found : this.#search(method, path)
  }

  #search(method: string, path: string): Found<R> | undefined {
    const found = this.#routerFor(path)?.find(method as Method, path)
    if (!found && isDecodable(path)) return undefined
    // The router has a route of its own for paths that cannot be decoded.
    if (!found?.store) throw malformed(`The path has bad percent-encoding: ${path}`)
    const route = found.store as Route<R>
    const { '*': rest, ...params } = found.params
    const restName = rest === undefined ? undefined : /\{(\w+)\.\.\.\}/.exec(route.pattern)?.[1]
    if (restName === undefined) return { route, path: params as Record<string, string> }
    // The router drops a slash at the end of any path; here it is a part of the value.
    const slash = path.endsWith('/') ? '/' : ''
    return { route, path: { ...params, [restName]: `${rest}${slash}` } as Record<string, string> }
  }

  /** The route of an endpoint, by its ID. Searches all routes, so it is for rare calls. */
  byId(id: string): Route<R> | undefined {
    for (const routes of this.#routes.values()) {
      const route = routes.find(({ endpoint }) => endpoint.id === id)
      if (route) return route
    }
    return undefined
  }

  /** Methods that the path has, for 405 and OPTIONS. */
  allowed(path: string, has: (endpoint: Endpoint) => boolean = () => true): string[] {
    const known: string[] = methods.filter(method => {
      const found = this.find(method, path)
      return found !== undefined && has(found.route.endpoint)
    })
    return (known.includes('GET') ? [...known, 'HEAD'] : known).sort()
  }

  #routerFor(path: string) {
    const word = firstWord(path)
    let router = this.#routers.get(word)
    if (!router && this.#routes.has(word)) {
      router = Router({ ignoreTrailingSlash: true, maxParamLength: 2000, onBadUrl: () => {} })
      for (const route of this.#routes.get(word)!)
        router.on(route.endpoint.method, buildExpression(route), () => {}, route)
      this.#routers.set(word, router)
    }
    return router
  }
}

/** The path of a call, composed from its route and the values of its parameters; relative to the prefix of the routes. */
export function buildPath({ route, path }: Found<Routed>): string {
  return route.pattern.replace(/\{(\w+)(\.\.\.)?\}/g, (_match, name: string, rest?: string) => {
    const value = path[name] ?? ''
    return rest ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value)
  })
}

const noParams: Readonly<Record<string, string>> = Object.freeze({})

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

function firstWord(path: string): string {
  const end = path.indexOf('/', 1)
  return end === -1 ? path : path.slice(0, end)
}

/** A path parameter that must be an integer matches nothing else, so anything else is an unknown path. */
function buildExpression({ endpoint, pattern }: Pick<Route, 'endpoint' | 'pattern'>): string {
  return pattern.replace(/\{(\w+)(\.\.\.)?\}/g, (_match, name: string, rest?: string) => {
    if (rest) return '*'
    return endpoint.params[name]?.shape.type === 'integer' ? `:${name}(^\\d+$)` : `:${name}`
  })
}
