// One call of an endpoint: parameters travel as the catalogue says.

import type { Endpoint } from '../api/define.ts'
import { encode } from '../api/wire.ts'
import { type Caller, type Reply, Sender } from './sender.ts'

export class Calls extends Sender {
  async endpoint(
    endpoint: Endpoint,
    params: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
    caller?: Caller,
  ): Promise<Reply> {
    const { path, fields } = encode(endpoint, params)
    return this.send(endpoint.method, path, fields, signal, caller)
  }
}
