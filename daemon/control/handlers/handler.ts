// A handler of the control plane: a function for each endpoint of a page. The page has checked the parameters.

import type { Endpoint, Endpoints, ParamsOf, ReplyOf } from '../../api/define.ts'
import type { SiteHost } from '../../http/site.ts'
import type { ControlPlane } from '../control-plane.ts'
import type { SpacesControl } from '../spaces.ts'

export interface ControlContext {
  readonly plane: ControlPlane
  /** Loaded when a space is first asked for; undefined in a world that is a space itself. */
  readonly spaces: (() => Promise<SpacesControl>) | undefined
  readonly host: Pick<SiteHost, 'turns' | 'shares'>
}

/** What a handler knows of the call as well. */
interface ControlCall extends ControlContext {
  /** Whether the client has left before it was answered. */
  readonly isGone: () => boolean
}

/** An answer that is a file, sent as it is made. */
export class Streamed {
  readonly type: string
  readonly pieces: AsyncIterable<string | Uint8Array>

  constructor(type: string, pieces: AsyncIterable<string | Uint8Array>) {
    this.type = type
    this.pieces = pieces
  }
}

export type Handler<E extends Endpoint> = (
  call: ControlCall,
  params: ParamsOf<E>,
) => ReplyOf<E> | Streamed | Promise<ReplyOf<E> | Streamed>

export type Handlers<P extends Endpoints> = { readonly [K in keyof P]: Handler<P[K]> }

/** A page and what answers its endpoints. */
export interface ControlResource {
  readonly api: Endpoints
  readonly handlers: Readonly<Record<string, (call: ControlCall, params: never) => object | Promise<object>>>
}

export function resource<const P extends Endpoints>(api: P, handlers: Handlers<P>): ControlResource {
  return { api, handlers: handlers as ControlResource['handlers'] }
}
