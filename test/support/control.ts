// Speaks to the control plane of a test's daemon.

import assert from 'node:assert/strict'
import { controlResources } from '../../daemon/control/handlers/index.ts'
import { Routes } from '../../daemon/http/routes.ts'
import { type HttpReply, send } from './http.ts'
import { replyProblem } from './reply-shape.ts'
import { until } from './until.ts'

const routes = new Routes(controlResources)

/** A daemon, or one of its spaces. */
export interface Controlled {
  readonly url: string
  readonly ready: { readonly control_token?: string }
}

export class Control {
  readonly #daemon: Controlled

  constructor(daemon: Controlled) {
    this.#daemon = daemon
  }

  /** Expects success, and a reply of the shape that its page describes. */
  async call(method: string, path: string, body?: object): Promise<Record<string, any>> {
    const reply = await this.try(method, path, body)
    assert.equal(reply.body.result, 'success', `${method} ${path}: ${reply.text}`)
    const found = routes.find(method, path.split('?', 1)[0]!)
    assert.ok(found, `no page describes ${method} ${path}`)
    const problem = replyProblem(found.route.endpoint, reply)
    assert.equal(problem, undefined, `${method} ${path} answered ${reply.text}: ${problem}`)
    return reply.body
  }

  /** Until a poll waits on each of these queues; on any, when none is named. */
  async waiting(...queueIds: readonly string[]): Promise<void> {
    await until(async () => {
      const { queues } = await this.call('GET', '/queues')
      const found = queues.filter(({ waiting }: { waiting: boolean }) => waiting).map(({ queue_id }: any) => queue_id)
      return found.length > 0 && queueIds.every(id => found.includes(id))
    })
  }

  async advance(by: string): Promise<void> {
    await this.call('POST', '/clock/advance', { by })
  }

  try(method: string, path: string, body?: object, token = this.#daemon.ready.control_token): Promise<HttpReply> {
    return send(`${this.#daemon.url}/control/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}` },
      ...(body && { body: JSON.stringify(body), headers: jsonHeaders(token) }),
    })
  }
}

function jsonHeaders(token: string | undefined): Record<string, string> {
  return { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
}
