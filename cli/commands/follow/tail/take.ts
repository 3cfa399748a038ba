// Takes incoming events: filters them, prints them, passes them to commands, and records the position.

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

  /** False if it was the last. */
  const take = async (item: Item): Promise<boolean> => {
    const { event, position } = item
    if (remembers && event.message) places.remember(event.message, item.text?.length)
    const place = needsPlace ? await places.of(event) : undefined
    if (!criteria.every(criterion => criterion.meets(event, place) === true)) return true
    if (prints) {
      // Awaited only where needed: for thousands of events, it takes as long as printing them.
      const text = print.renderItem(item, place)
      const written = output.add(typeof text === 'string' ? text : await text)
      if (written) await written
    }
    if (actions.length === 0) output.reached(item)
    else {
      await output.flush()
      await workers.add(position, async () => {
        for (const action of actions) await action(event, place)
      })
    }
    return !stops.after(item)
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
        else going = await take(item)
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

async function nothing(): Promise<void> {}
