// Takes incoming events: filters them, prints them, passes them to commands, and records the position.

import type { Place } from '../../../base/chat-event.ts'
import type { Action } from './actions.ts'
import type { Criterion } from './criteria.ts'
import type { Position } from './cursor.ts'
import type { Batch, Item } from './follow.ts'
import type { Places } from './places.ts'
import type { Output, Printer } from './printer.ts'
import type { Stops } from './stops.ts'
import type { Workers } from './workers.ts'

interface Parts {
  readonly criteria: readonly Criterion[]
  /** Undefined for all types. */
  readonly types: readonly string[] | undefined
  readonly print: Printer
  /** Otherwise events only go to the actions. */
  readonly prints: boolean
  readonly places: Places
  readonly actions: readonly Action[]
  readonly output: Output<Position>
  readonly workers: Workers
  readonly stops: Stops
  readonly stop: AbortSignal
}

/** Returns a function that takes batches as they arrive; it returns false if one of the events was the last. */
export function takerFor(parts: Parts): (batches: AsyncIterable<Batch>) => Promise<boolean> {
  const { criteria, types, print, prints, places, actions, output, workers, stops, stop } = parts
  const needsPlace = criteria.length > 0 || !print.raw || actions.length > 0
  // Only other events need the place of a message.
  const remembers = types === undefined || types.some(type => type !== 'message')

  /** False if it was the last. A promise only if there is something to wait for: there can be very many events. */
  const take = (item: Item): boolean | Promise<boolean> => {
    if (remembers && item.event.message) places.remember(item.event.message)
    return needsPlace ? after(places.of(item.event), place => tell(item, place)) : tell(item, undefined)
  }

  const tell = (item: Item, place: Place | undefined): boolean | Promise<boolean> => {
    if (!criteria.every(criterion => criterion.meets(item.event, place) === true)) return true
    const text = prints ? print.renderItem(item, place) : ''
    const pending = typeof text === 'string' ? output.add(text) : text.then(line => output.add(line))
    return pending ? pending.then(() => finish(item, place)) : finish(item, place)
  }

  const finish = (item: Item, place: Place | undefined): boolean | Promise<boolean> => {
    if (actions.length === 0) {
      output.reached(item)
      return !stops.after(item)
    }
    const act = async () => {
      for (const action of actions) await action.act(item.event, place)
    }
    const room = after(output.flush(), () => workers.add(item.position, act))
    return after(room, () => !stops.after(item))
  }

  /** A gap is always printed. */
  const tellGap = async (gap: Item): Promise<void> => {
    await output.add(await print.renderItem(gap, undefined))
    await output.flush()
    await workers.add(gap.position, nothing)
  }

  return async batches => {
    for await (const { items, position } of batches) {
      let going = true
      if (prints && items.length > 0) await print.prepare?.(items)
      for (const item of items) {
        if (item.text === undefined && item.event.type === '_gap') await tellGap(item)
        else {
          const taken = take(item)
          going = typeof taken === 'boolean' ? taken : await taken
        }
        if (!going || stop.aborted) break
      }
      const complete = going && !stop.aborted
      if (complete && position && actions.length === 0) output.reached({ position })
      await output.flush()
      if (complete && position && actions.length > 0) await workers.add(position, nothing)
      if (!going) return false
    }
    return true
  }
}

/** Immediate if the value is not a promise. */
function after<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}

async function nothing(): Promise<void> {}
