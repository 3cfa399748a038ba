// One world of a test as it runs in this process: what `natter.ts` promises, done.

import { createEndingClient } from '../client/client.ts'
import type { Client } from '../client/index.ts'
import { attemptAll, runOfTest } from '../client/uncaught.ts'
import { readRule } from '../control/faults.ts'
import { requireUser, waitFor, waitForListener } from '../control/wait.ts'
import { explainMessage } from '../control/why.ts'
import { explainCall } from '../control/why-call.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Spaces } from '../world/spaces.ts'
import type { World } from '../world/world.ts'
import { Bots, longestRegistration } from './bots.ts'
import { addRunning, keepWorld, removeRunning } from './keep.ts'
import {
  type Account,
  buildVariables,
  checkWait,
  checkWhy,
  explainMiss,
  forward,
  keepingAlive,
  milliseconds,
  mostDifferences,
  type Natter,
  type Pattern,
  readListenerWait,
  type SpaceOptions,
  type WaitKind,
  type WaitOptions,
  wantedSpace,
} from './natter.ts'

/** A world that runs, and what it runs in. */
export interface RunningWorld {
  readonly world: World
  /** Where it is reached from this machine. */
  readonly url: string
  readonly spaces: () => Promise<Spaces>
  readonly stop: () => Promise<void>
  /** Of a space: all spaces that `space()` has opened in its daemon and nothing has stopped yet. */
  readonly opened?: Set<Natter>
}

export function createNatter(running: RunningWorld): Natter {
  const { world, url, stop: end, opened = new Set<Natter>() } = running
  // They end with the daemon: a bot of one would poll an address that is gone, and keep the process alive.
  const inside = running.opened ? [] : opened
  const control = world.control!
  const clients = new Map<number, Client>()
  // A stream that goes on would poll an address that is gone.
  const ending = new AbortController()
  let stopping: Promise<void> | undefined

  function account(name: string | number, option?: string): Account {
    const user = requireUser(control, name, option)
    return { userId: user.id, email: user.email, apiKey: control.parts.keys.deriveKey(user) }
  }

  function as(name: string | number, option?: string): Client {
    const { userId, email, apiKey } = account(name, option)
    const known = clients.get(userId)
    if (known?.email === email) return known
    const client = createEndingClient({ site: url, email, apiKey }, ending.signal)
    clients.set(userId, client)
    return client
  }

  async function wait(kind: WaitKind, wanted: Pattern, options: WaitOptions = {}) {
    checkWait(kind, wanted, options)
    const { within = 5, user } = options
    const reader = user === undefined ? undefined : requireUser(control, user).id
    const waited = await keepingAlive(
      waitFor(control, { [kind]: wanted, reader, within: milliseconds('within', within) }),
    )
    if (waited.met) return waited[kind]
    const { why, cause } = bots.explainMiss()
    throw new Error(explainMiss(kind, wanted, waited.near, user) + why, cause && { cause })
  }

  const bots = new Bots(url, name => account(name, 'as'))

  function setBack(work: () => Promise<void>): Promise<void> {
    return bots.setBack(work, async userId => {
      if (control.engine.state.users.has(userId)) await waitForListener(control, userId, longestRegistration)
    })
  }

  function stop(): Promise<void> {
    removeRunning(natter)
    opened.delete(natter)
    ending.abort()
    stopping ??= keepingAlive(bots.stop(end, inside))
    return stopping
  }

  const natter = {
    url,
    owner: as(world.owner.id),
    controlToken: control.parts.keys.controlToken,
    as: name => as(name),
    account: name => account(name),
    env: name => buildVariables(url, account(name)),
    runBot: (handler, options) => bots.run(handler, options),
    clock: {
      now: () => new Date(control.clock.now()),
      freeze: () => control.clock.freeze(),
      resume: () => control.clock.resume(),
      advance: by => keepingAlive(control.moveTo(now => now + milliseconds('by', by))),
      set: to => keepingAlive(control.moveTo(now => forward(now, to.getTime()))),
    },
    waitFor: async (event, options) => (await wait('event', event, options)).event,
    waitForCall: (call, options) => wait('call', call, options),
    async waitForListener(user, options) {
      const { ms, missed } = readListenerWait(user, options)
      if (!(await keepingAlive(waitForListener(control, requireUser(control, user).id, ms)))) throw missed()
    },
    faults: {
      add: rule => control.faults.add(readRule({ ...rule }, name => requireUser(control, name).email)),
      list: () => control.faults.list(),
      remove: id => void control.faults.remove(id),
      clear: () => control.faults.clear(),
    },
    why(of, name) {
      checkWhy(of)
      return typeof of === 'object'
        ? explainCall(control, of.call)
        : explainMessage(control, of, requireUser(control, name))
    },
    requests: () => control.calls.since(),
    findings() {
      if (!control.findings) throw new Error('findings: this daemon does not check calls; start it with strict: true')
      return control.findings.list()
    },
    forgetRequests: () => control.calls.clear(),
    events: () => control.events.since(),
    webhooks: () => control.deliveries.since(),
    waitForWebhook: (delivery, options) => wait('webhook', delivery, options),
    outbox: () => control.outbox.since(),
    reset: () => keepingAlive(setBack(() => control.reset())),
    save: snapshot => void control.snapshots.save(snapshot),
    restore: snapshot => keepingAlive(setBack(() => control.snapshots.restore(snapshot))),
    changed: work => keepingAlive(control.snapshots.changedBy(() => runOfTest(work), mostDifferences)),
    keep: (folder, why) => keepingAlive(keepWorld(control, folder, why)),
    space: options => keepingAlive(openSpace({ ...running, opened }, options)),
    stop,
    [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]: stop,
  } as Natter
  attemptAll(natter, ['clock', 'faults'], refusalToMistake)
  addRunning(natter)
  return natter
}

/** A refusal has fields for the answer of a call, and a test runner would print them. */
function refusalToMistake(error: unknown): unknown {
  return error instanceof Refusal ? new TypeError(error.message) : error
}

async function openSpace({ url, spaces, opened }: Required<RunningWorld>, options?: SpaceOptions): Promise<Natter> {
  const wanted = wantedSpace('space', options)
  const all = await spaces()
  const space = await all.open(wanted)
  const site = `${url.replace(/\/spaces\/[^/]+$/, '')}/spaces/${space.name}`
  const natter = createNatter({ world: space.world, url: site, spaces, opened, stop: () => all.end(space) })
  opened.add(natter)
  return natter
}
