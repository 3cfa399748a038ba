// Whether a case was solved: each expectation of the case against what the world looks like afterwards.

import { compilePattern, patternIn } from '../../../../daemon/api/pattern.ts'
import { usage } from '../../../base/failure.ts'
import type { Case, MessagePattern } from './case-file.ts'

/** A message as the difference of two snapshots names it. */
export interface SeenMessage {
  readonly channel?: string
  readonly topic?: string
  readonly direct_with?: readonly string[]
  readonly sender: string
  readonly content: string
  readonly reactions: readonly string[]
}

export interface Difference {
  readonly [resource: string]: {
    readonly added: readonly Thing[]
    readonly changed: readonly Thing[]
    readonly removed: readonly Thing[]
  }
}

export interface Thing {
  readonly name: string
  readonly fields?: Readonly<Record<string, unknown>>
  readonly changes?: Readonly<Record<string, { readonly to: unknown }>>
}

/** The state after a run. */
export interface Aftermath {
  readonly exitCode: number
  readonly timedOut: boolean
  readonly seconds: number
  /** Messages that are there now and were not there before. */
  readonly messages: readonly SeenMessage[]
  readonly difference: Difference
  /** Endpoints that the agent called, in order. */
  readonly calls: readonly string[]
}

export interface Check {
  readonly text: string
  readonly passed: boolean
}

export function runChecks({ expect, budget }: Case, after: Aftermath): Check[] {
  const checks: Check[] = [
    { text: 'the command ends with 0', passed: after.exitCode === 0 && !after.timedOut },
    ...(expect.messages ?? []).map(one => messageCheck(one, after.messages, true)),
    ...(expect.no_messages ?? []).map(one => messageCheck(one, after.messages, false)),
    ...(expect.changes ?? []).map(one => changeCheck(one, after.difference)),
    ...(expect.no_calls ?? []).map(name => ({
      text: `${name} is not called`,
      passed: !after.calls.some(call => isNamed(name, call)),
    })),
  ]
  if (expect.only_changes) {
    const others = Object.keys(after.difference).filter(name => !expect.only_changes!.includes(name))
    checks.push({ text: `nothing but ${expect.only_changes.join(', ')} changes`, passed: others.length === 0 })
  }
  if (budget?.calls !== undefined)
    checks.push({
      text: `at most ${budget.calls} calls (${after.calls.length})`,
      passed: after.calls.length <= budget.calls,
    })
  if (budget?.seconds !== undefined)
    checks.push({ text: `at most ${budget.seconds} s`, passed: !after.timedOut && after.seconds <= budget.seconds })
  return checks
}

function messageCheck(wanted: MessagePattern, messages: readonly SeenMessage[], exists: boolean): Check {
  const found = messages.filter(message => fits(wanted, message)).length
  const text = `${exists ? 'a message' : 'no message'} with ${JSON.stringify(wanted)}`
  if (!exists) return { text, passed: found === 0 }
  return { text: `${text} (${found})`, passed: wanted.count === undefined ? found > 0 : found === wanted.count }
}

function fits(wanted: MessagePattern, message: SeenMessage): boolean {
  return (
    matches(wanted.channel, message.channel) &&
    matches(wanted.topic, message.topic) &&
    matches(wanted.sender, message.sender) &&
    matches(wanted.content, message.content) &&
    (wanted.reaction === undefined || message.reactions.includes(wanted.reaction)) &&
    (wanted.direct_with === undefined || sameNames(wanted.direct_with, message.direct_with))
  )
}

function sameNames(wanted: readonly string[], found: readonly string[] | undefined): boolean {
  return found !== undefined && [...wanted].sort().join() === [...found].sort().join()
}

function changeCheck(
  { resource, kind, with: fields = {} }: NonNullable<Case['expect']['changes']>[number],
  difference: Difference,
): Check {
  const of = difference[resource]
  const kinds = kind === undefined ? (['added', 'changed', 'removed'] as const) : [kind]
  const things = of ? kinds.flatMap(name => of[name]) : []
  const passed = things.some(thing =>
    Object.entries(fields).every(([name, value]) =>
      matchesValue(value, name === 'name' ? thing.name : newValueOf(thing, name)),
    ),
  )
  return { text: `${resource}${kind === undefined ? '' : ` ${kind}`} with ${JSON.stringify(fields)}`, passed }
}

export function newValueOf({ fields, changes }: Thing, name: string): unknown {
  return fields?.[name] ?? changes?.[name]?.to
}

function matchesValue(wanted: unknown, found: unknown): boolean {
  if (typeof wanted === 'string') return matches(wanted, typeof found === 'string' ? found : JSON.stringify(found))
  return JSON.stringify(wanted) === JSON.stringify(found)
}

function matches(wanted: string | undefined, found: string | undefined): boolean {
  if (wanted === undefined) return true
  if (found === undefined) return false
  const pattern = patternIn(wanted)
  if (!pattern) return wanted === found
  const compiled = compilePattern(pattern.source, pattern.flags)
  if ('problem' in compiled) throw usage(`${wanted} ${compiled.problem}`)
  return compiled.test(found)
}

/** `delete-*` matches every endpoint that begins like this. Not a regular expression: one with many stars could take hours. */
function isNamed(name: string, call: string): boolean {
  const [first = '', ...rest] = name.split('*')
  const last = rest.pop()
  if (last === undefined) return name === call
  if (!call.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = call.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return call.length - last.length >= at && call.endsWith(last)
}

/** The rate of successes with the bounds of a 95 % confidence interval (Wilson). */
export function estimateRate(
  passed: number,
  runs: number,
): { readonly rate: number; readonly low: number; readonly high: number } {
  const z = 1.96
  const rate = passed / runs
  const middle = (rate + z ** 2 / (2 * runs)) / (1 + z ** 2 / runs)
  const reach = (z / (1 + z ** 2 / runs)) * Math.sqrt((rate * (1 - rate)) / runs + z ** 2 / (4 * runs ** 2))
  return { rate, low: Math.max(0, middle - reach), high: Math.min(1, middle + reach) }
}
