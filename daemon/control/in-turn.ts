// Long work of the control plane beside the traffic: one piece of it after the other for all worlds, which take turns. Otherwise the calls
// of others would wait for a piece of each, and the memory would hold the states of all.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { Refusal } from '../domain/refusal.ts'

/** Calls of one world. What they were sent is held meanwhile. */
const mostWaiting = 50

// Shared by all worlds: what it protects, time and memory of the process, is there once too. The world whose turn is next comes first.
const waiting = new Map<object, (() => void)[]>()
let isBusy = false

/** Does the work when everything before it is done. Refuses it if too much of this world waits. */
export async function inTurn<T>(world: object, work: () => T | Promise<T>): Promise<T> {
  if (isBusy) {
    await takePlace(world)
    // After requests that have arrived meanwhile.
    await nextTurn()
  }
  isBusy = true
  try {
    return await work()
  } finally {
    next()
  }
}

function takePlace(world: object): Promise<void> {
  const line = waiting.get(world) ?? []
  if (line.length >= mostWaiting)
    throw new Refusal('Too many of your requests wait. Wait for their answers.', { code: 'SERVER_BUSY' })
  waiting.set(world, line)
  return new Promise(resolve => {
    line.push(resolve)
  })
}

/** `isBusy` stays set until the next one goes on, so that no other gets in between. */
function next(): void {
  const [first] = waiting
  if (!first) {
    isBusy = false
    return
  }
  const [world, line] = first
  const go = line.shift()!
  waiting.delete(world)
  if (line.length > 0) waiting.set(world, line)
  go()
}

/** What is written for one client of a world after the other: each has a whole upload in the memory at a time. */
export class Writing {
  #last: Promise<unknown> = Promise.resolve()

  /** The first piece takes the longest, and is made in turn. */
  async *write<T>(begin: () => AsyncIterable<T>): AsyncGenerator<T> {
    const before = this.#last
    let end = () => {}
    this.#last = new Promise<void>(resolve => {
      end = resolve
    })
    let rest: AsyncIterator<T> | undefined
    const first = () => {
      rest = begin()[Symbol.asyncIterator]()
      return rest.next()
    }
    try {
      await before
      for (let piece = await inTurn(this, first); !piece.done; piece = await rest!.next()) yield piece.value
    } finally {
      end()
      await rest?.return?.()
    }
  }
}
