// Handlers of `api/control/clock.ts`.

import { clock as api } from '../../api/control/clock.ts'
import { invalid } from '../../domain/refusal.ts'
import type { ControlPlane } from '../control-plane.ts'
import { whatFallsDue } from '../due.ts'
import { readDuration } from './durations.ts'
import { resource } from './handler.ts'

export const clock = resource(api, {
  show: ({ plane }) => clockReply(plane),
  async freeze({ plane, isGone }, { at }) {
    const move = at === undefined ? undefined : forwardTo('at', at)
    // A time in the past is refused before anything has happened.
    move?.(plane.clock.now())
    plane.clock.freeze()
    if (move) await plane.moveTo(move, { parameter: 'at', isGone })
    return clockReply(plane)
  },
  async set({ plane, isGone }, { to }) {
    await plane.moveTo(forwardTo('to', to), { parameter: 'to', isGone })
    return clockReply(plane)
  },
  async advance({ plane, isGone }, { by }) {
    const ms = readDuration('by', by)
    await plane.moveTo(now => now + ms, { parameter: 'by', isGone })
    return clockReply(plane)
  },
  due: ({ plane }, { limit }) => ({ due: whatFallsDue(plane).slice(0, limit), now: plane.clock.now() }),
  resume({ plane }) {
    plane.clock.resume()
    return clockReply(plane)
  },
})

export function clockReply({ clock }: ControlPlane): { now: number; time: string; frozen: boolean } {
  return { now: clock.now(), time: new Date(clock.now()).toISOString(), frozen: clock.frozen }
}

function forwardTo(name: string, given: string | number): (now: number) => number {
  const wanted = typeof given === 'number' ? given * 1000 : Date.parse(given)
  if (Number.isNaN(wanted)) throw invalid(name, 'must be UNIX seconds or an ISO 8601 time')
  return now => {
    if (wanted < now)
      throw invalid(name, `must not be before the daemon's time, ${new Date(now).toISOString()}; only reset goes back`)
    return wanted
  }
}
