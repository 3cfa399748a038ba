// The daemon live: one long poll of the control plane feeds the lists of events and calls, the clock and
// the figures of health.

import { effect, signal } from '@preact/signals'
import type { ReadonlyOf } from '../api/define.ts'
import type { call, health, loggedEvent } from '../api/shapes/control.ts'
import { laterPause } from '../client/following.ts'
import { control, phase, reloadAccounts, token } from './session.ts'

/** Unique in this page, over restarts of the daemon, which counts from 1 again. */
interface Keyed {
  readonly key: number
}

export type LoggedEvent = Keyed & ReadonlyOf<typeof loggedEvent> & { readonly event: Readonly<Record<string, any>> }

export type LoggedCall = Keyed & ReadonlyOf<typeof call>

export type Health = ReadonlyOf<typeof health>

export interface Sample extends Health {
  /** Seconds, by the browser's clock. */
  readonly at: number
  /** Milliseconds of the calls that ended since the last sample; polls, which wait on purpose, are left out. */
  readonly durations: readonly number[]
}

/** What the page keeps; older entries go. */
const keptEntries = 20_000
const keptSamples = 600

export const events = signal<readonly LoggedEvent[]>([])
export const calls = signal<readonly LoggedCall[]>([])
/** Entries that came faster than the page could read them. */
export const skipped = signal({ events: 0, calls: 0 })
export const samples = signal<readonly Sample[]>([])
export const clock = signal<{ now: number; frozen: boolean; read: number } | undefined>(undefined)
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting')
/** Counts answers: views that show other parts of the control plane read them again. */
export const pulse = signal(0)
/** Whether a view shows figures and wants one a second. */
export const closely = signal(false)

/** How far the page has read. A daemon with a smaller uptime is another run, whose numbers start at 1 again. */
const progress = { events: 0, requests: 0, uptime: 0, run: 0, durations: [] as number[] }

export function watchLive(): void {
  effect(() => {
    if (phase.value !== 'open' || !token.value) return
    const abort = new AbortController()
    void follow(abort.signal)
    return () => abort.abort()
  })
}

export function clearEvents(): void {
  events.value = []
  skipped.value = { ...skipped.value, events: 0 }
}

export function clearCalls(): void {
  calls.value = []
  skipped.value = { ...skipped.value, calls: 0 }
}

/** For a session without control plane: the events of its own queue. */
export function addOwnEvent(event: Readonly<Record<string, any>>, userId: number, queue: string): void {
  if (token.value) return
  const id = (events.value.at(-1)?.id ?? 0) + 1
  append([{ key: id, id, time: Date.now(), to: [userId], position: 0, queues: [queue], event }])
}

/** Milliseconds between two answers: a burst comes in few pieces. */
const breath = 80

async function follow(abort: AbortSignal): Promise<void> {
  let pause = 0
  let first = true
  while (!abort.aborted) {
    const within = first ? 0 : closely.peek() ? 1 : 5
    const poll = new AbortController()
    // A view that begins to want figures does not wait for the end of a long poll.
    const ignore = closely.subscribe(wanted => {
      if (wanted && within > 1) poll.abort()
    })
    try {
      const seen = { events: progress.events, requests: progress.requests }
      const reply = await control('GET', '/live', { ...seen, within }, AbortSignal.any([abort, poll.signal]))
      if (abort.aborted) return
      take(reply)
      first = false
      pause = 0
      if (connection.value === 'lost') await reloadAccounts().catch(() => {})
      connection.value = 'live'
      await sleep(breath)
    } catch {
      if (abort.aborted) return
      if (poll.signal.aborted) continue
      connection.value = 'lost'
      pause = Math.min(2000, laterPause(pause))
      await sleep(pause)
    } finally {
      ignore()
    }
  }
}

function take(reply: any): void {
  const health: Health = reply.health
  // Its numbers start again, and so does the page.
  if (health.uptime_ms < progress.uptime) Object.assign(progress, { events: 0, requests: 0, run: progress.run + 1 })
  progress.uptime = health.uptime_ms
  const fresh: LoggedEvent[] = reply.events.map(withKey)
  const missed = progress.events > 0 && fresh.length > 0 ? fresh[0]!.id - progress.events - 1 : 0
  if (missed > 0) skipped.value = { ...skipped.value, events: skipped.value.events + missed }
  append(fresh)
  takeCalls(reply.requests.map(withKey))
  clock.value = { now: reply.clock.now, frozen: reply.clock.frozen, read: Date.now() }
  sample(health, reply.requests)
  progress.events = reply.events_cursor
  progress.requests = reply.requests_cursor
  pulse.value++
}

const keysPerRun = 1e9

function withKey<T extends { readonly id: number }>(item: T): T & { readonly key: number } {
  return { ...item, key: progress.run * keysPerRun + item.id }
}

function append(fresh: readonly LoggedEvent[]): void {
  if (fresh.length > 0) events.value = [...events.value, ...fresh].slice(-keptEntries)
}

function takeCalls(changed: readonly LoggedCall[]): void {
  if (changed.length === 0) return
  const newest = calls.value.at(-1)?.key ?? 0
  const known = new Map(changed.filter(({ key }) => key <= newest).map(item => [item.key, item]))
  const kept = known.size > 0 ? calls.value.map(item => known.get(item.key) ?? item) : calls.value
  const fresh = changed.filter(({ key }) => key > newest)
  const missed = newest > 0 && fresh.length > 0 && fresh[0]!.id > 1 ? fresh[0]!.key - newest - 1 : 0
  if (missed > 0 && missed < keysPerRun / 2) skipped.value = { ...skipped.value, calls: skipped.value.calls + missed }
  calls.value = [...kept, ...fresh].slice(-keptEntries)
}

/** One a second at most, so that the plots have even steps. */
function sample(health: Health, changed: readonly LoggedCall[]): void {
  for (const one of changed) if (one.duration_ms !== null && !isPoll(one)) progress.durations.push(one.duration_ms)
  const at = Date.now() / 1000
  if (at - (samples.value.at(-1)?.at ?? 0) < 0.95) return
  samples.value = [...samples.value, { ...health, at, durations: progress.durations }].slice(-keptSamples)
  progress.durations = []
}

/** A poll waits on purpose. */
export function isPoll({ method, path }: LoggedCall): boolean {
  return method === 'GET' && path.endsWith('/events')
}

function sleep(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
