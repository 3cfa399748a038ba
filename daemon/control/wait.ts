// Waits, on the server's side, for an event, a call or a poll. What did not come is answered with what came closest.

import { patternIn } from '../api/pattern.ts'
import { call, delivery } from '../api/shapes/control.ts'
import { requireEndpoint } from '../domain/index.ts'
import { userByEmail } from '../domain/model/lookups.ts'
import type { User } from '../domain/model/state.ts'
import { invalid, missing } from '../domain/refusal.ts'
import type { Queue } from '../events/queue.ts'
import { didYouMean } from '../local/did-you-mean.ts'
import type { Call } from './calls.ts'
import type { ControlPlane } from './control-plane.ts'
import { Goal } from './match.ts'
import type { NumberedLog } from './recent.ts'

export interface Wanted {
  /** Fields that the event must have; texts such as `/ok/` are patterns. */
  readonly event?: unknown
  /** Fields that the logged call must have. */
  readonly call?: unknown
  /** Fields that the delivery to the server of a bot must have. */
  readonly webhook?: unknown
  /** User ID of a person who must have received the event. */
  readonly reader?: number | undefined
  /** Only what has a higher number in its log. */
  readonly since?: number
  /** Milliseconds. */
  readonly within: number
}

export type Waited =
  | { readonly met: true; readonly event?: any; readonly call?: any; readonly webhook?: any }
  | { readonly met: false; readonly near: readonly { readonly differs: readonly string[] }[] }

const longest = 600_000

const kinds = ['event', 'call', 'webhook'] as const

export async function waitFor(plane: ControlPlane, sent: Wanted): Promise<Waited> {
  const { reader, since = 0, within } = sent
  if (within > longest) throw invalid('within', 'must be at most 10m')
  const [kind, another] = kinds.filter(name => sent[name] !== undefined)
  if (!kind || another) throw invalid('event', 'give exactly one of event, call or webhook, as an object')
  const wanted = sent[kind]
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) throw invalid(kind, 'must be an object')
  const log: NumberedLog<any> = { event: plane.events, call: plane.calls, webhook: plane.deliveries }[kind]
  const goal = new Goal(
    kind === 'event'
      ? { event: wanted }
      : kind === 'call'
        ? withEndpoint(addAddress(plane, demandFields('call', wanted, call), 'user'))
        : addAddress(plane, demandBot(plane, demandFields('webhook', wanted, delivery)), 'bot'),
    kind,
  )
  const concerns = (item: any) => {
    if (kind === 'event') return reader === undefined || item.to.includes(reader)
    // A call that is not answered yet, an attempt that is not over: nothing can be said about them. A waiting poll has
    // arrived where it belongs, though its answer may be minutes away.
    return kind === 'call' ? item.duration_ms !== null || item.parked : item.attempts > 0
  }
  const wish = {
    size: goal.size,
    characters: goal.characters,
    fits: (item: any) => concerns(item) && goal.isMetBy(item),
    get isTooCostly() {
      return goal.isTooCostly
    },
  }
  const found = await log.wait(wish, since, within)
  if (found) return { met: true, [kind]: found }
  const near = await goal.nearMisses(log.since(since).filter(concerns))
  return {
    met: false,
    near: near.map(({ item, differs }) => ({
      [kind]: item,
      differs: kind === 'webhook' && item.error !== null ? [...differs, `it failed: ${item.error}`] : differs,
    })),
  }
}

/** Resolves to whether the account listens: one of its polls waits for events. */
export async function waitForListener(plane: ControlPlane, userId: number, within: number): Promise<boolean> {
  if (within > longest) throw invalid('within', 'must be at most 10m')
  // The poll may have waited so long that the log of calls no longer has it.
  if (findListening(plane, userId)) return true
  const fits = (call: Call) => call.parked && call.user_id === userId
  return (await plane.calls.wait({ size: 0, characters: 0, isTooCostly: false, fits }, 0, within)) !== undefined
}

/** A queue of the account with a poll that waits. */
export function findListening({ engine }: ControlPlane, owner: number): Queue | undefined {
  return [...engine.queues.values()].find(({ userId, waiter }) => userId === owner && waiter)
}

/** A field that no entry has would never fit. */
function demandFields(kind: string, wanted: object, { properties }: { readonly properties: object }): object {
  const known = Object.keys(properties)
  for (const name of Object.keys(wanted))
    if (!known.includes(name))
      throw invalid(kind, `has no field "${name}". ${didYouMean(name, known) ?? `The fields are ${known.join(', ')}.`}`)
  return wanted
}

/** A bot that is made later can be given as an address. A misspelled name would never come. */
function demandBot(plane: ControlPlane, wanted: object): object {
  const { bot } = wanted as { readonly bot?: unknown }
  const isName = typeof bot === 'number' || (typeof bot === 'string' && !bot.includes('@') && !patternIn(bot))
  if (isName) requireUser(plane, bot, 'bot')
  return wanted
}

/** With the address of who is called by name or ID; patterns, and people to come, stay as they are. */
function addAddress(plane: ControlPlane, wanted: object, field: 'user' | 'bot'): object {
  const given = (wanted as Record<string, unknown>)[field]
  const found = given === undefined ? [] : find(plane, given)
  return found.length === 1 ? { ...wanted, [field]: found[0]!.email } : wanted
}

/** With the ID of the endpoint. A call with a misspelled name would never come; a pattern stays as it is. */
function withEndpoint(wanted: object): object {
  const { endpoint } = wanted as { readonly endpoint?: unknown }
  if (typeof endpoint !== 'string' || patternIn(endpoint)) return wanted
  return { ...wanted, endpoint: requireEndpoint(endpoint, 'call') }
}

/** By address, by the part of it before the @, by full or first name, or by ID. */
export function requireUser(plane: ControlPlane, given: unknown, parameter = 'user'): User {
  const [found, ...others] = find(plane, given)
  if (!found)
    throw missing(parameter, 'account', String(given), { status: 404, hint: suggestAccount(plane, String(given)) })
  if (others.length > 0) {
    const few = [found, ...others].slice(0, 10).map(({ email }) => email)
    throw invalid(parameter, `matches ${others.length + 1} accounts; give an email address, such as ${few.join(', ')}`)
  }
  return found
}

/** The account that was probably meant, or all of them if they are few. Comparing a name with very many takes too long. */
function suggestAccount({ engine: { state } }: ControlPlane, given: string): string | undefined {
  if (state.users.size > mostCompared) return undefined
  const listed = [...state.users.values()].filter(({ active, bot }) => active && !bot?.system)
  const names = listed.map(({ email }) => email.split('@', 1)[0]!)
  return didYouMean(given, names) ?? (names.length > mostListed ? undefined : `The accounts are ${names.join(', ')}.`)
}

const mostCompared = 200
const mostListed = 12

/** All whom the name may mean. Goes over all accounts, which only a test does, and not often. */
function find({ engine: { state } }: ControlPlane, given: unknown): User[] {
  const name = String(given)
  const exact = /^\d+$/.test(name) ? state.users.get(Number(name)) : userByEmail(state, name)
  if (exact || /^\d+$/.test(name)) return exact ? [exact] : []
  const wanted = name.toLowerCase()
  const users = [...state.users.values()]
  const ways: ((user: User) => string)[] = [
    ({ email }) => email.split('@', 1)[0]!,
    ({ fullName }) => fullName,
    ({ fullName }) => fullName.split(' ', 1)[0]!,
  ]
  for (const way of ways) {
    const found = users.filter(user => way(user).toLowerCase() === wanted)
    const active = found.filter(user => user.active)
    if (found.length > 0) return active.length > 0 ? active : found
  }
  return []
}
