// Answers why a call was refused: which step said no, the rule that decided, and what the answer does not tell the caller.

import type { Step } from '../domain/messages/messages/reception.ts'
import { channelByName } from '../domain/model/lookups.ts'
import type { State } from '../domain/model/state.ts'
import { type Law, missingOwn, type Refusal } from '../domain/refusal.ts'
import { type Asker, accessUser, type Rule, seeContent, seeMessage, seeMetadata } from '../domain/rules/index.ts'
import type { Call, Refused } from './calls.ts'
import type { ControlPlane } from './control-plane.ts'
import { presentStep } from './rule-names.ts'

export function explainCall(plane: ControlPlane, id: number) {
  const { calls, history } = plane
  const call = calls.since(id - 1)[0]
  if (call?.id !== id) throw missingOwn('call', 'call', id)
  history.catchUp()
  const refused = calls.refusalOf(call)
  const complete = refused === undefined || refused.position >= history.rows.reach
  const steps = [...begun(call, refused?.refusal), ...(refused ? refusedSteps(plane, call, refused) : [])]
  const stopped = steps.find(({ ok }) => ok === false)
  return {
    summary: stopped ? `Call ${id} was refused: ${stopped.says}` : describeOutcome(call),
    complete,
    steps: steps.map(presentStep),
    call,
  }
}

function describeOutcome({ id, status, parked, lost, fault }: Call): string {
  if (lost) return `Call ${id} was never answered: the connection was closed first.`
  if (parked) return `Call ${id} is a poll that waits for events.`
  if (status === null) return `Call ${id} has not been answered yet.`
  if (fault) return `Call ${id} was hit by the fault ${fault} and answered with status ${status}.`
  return `Call ${id} was answered with status ${status}.`
}

/** What is known before anything is decided. */
function begun({ method, path, endpoint, user, fault }: Call, refusal: Refusal | undefined): Step[] {
  const unread =
    refusal?.kind === 'unauthenticated' ? 'was refused before it was read' : 'was not matched to an endpoint'
  const route: Step =
    endpoint === null
      ? { step: 'endpoint', ok: null, says: `${method} ${path} ${unread}.` }
      : { step: 'endpoint', ok: true, says: `${method} ${path} is ${endpoint}.` }
  const account: Step[] = user === null ? [] : [{ step: 'account', ok: true, says: `The caller is ${user}.` }]
  const faults: Step[] = fault === null ? [] : [{ step: 'fault', ok: null, says: `A fault got in its way: ${fault}.` }]
  return [route, ...account, ...faults]
}

function refusedSteps(plane: ControlPlane, call: Call, { refusal, position }: Refused): Step[] {
  const { rule, absent } = refusal
  const hidden = absent && call.user_id !== null ? hiddenBy(plane, call.user_id, absent, position) : undefined
  const found: Step[] = hidden ? [{ step: 'exists', ok: null, says: hidden.says }] : []
  if (refusal.hidden !== undefined) found.push({ step: 'reason', ok: null, says: refusal.hidden })
  const law: Law | undefined = rule ?? hidden?.rule
  return [...found, { step: stepOf(refusal), ok: false, says: refusal.message, ...(law && { rule: law }) }]
}

const stepOfKind: Readonly<Record<string, string>> = {
  invalid: 'parameters',
  conflict: 'state',
  'not-found': 'found',
  forbidden: 'rule',
  unauthenticated: 'account',
  'rate-limited': 'rate limit',
}

function stepOf({ rule, kind }: Refusal): string {
  return rule ? 'rule' : (stepOfKind[kind] ?? 'daemon')
}

/** What the caller may not know looks absent to them; here the rule that hides it is named. */
function hiddenBy(
  { history, engine }: ControlPlane,
  userId: number,
  { what, id }: NonNullable<Refusal['absent']>,
  position: number,
): { readonly says: string; readonly rule: Law } | undefined {
  const state = position >= history.rows.reach ? history.rows.stateAt(position) : engine.state
  const actor = state.users.get(userId)
  if (!actor || id === undefined) return undefined
  const rule = denying({ state, actor }, what, id)
  return rule && { says: `The ${what} ${JSON.stringify(id)} exists, but the rules hide it from the caller.`, rule }
}

function denying(asker: Asker, what: string, id: number | string): Law | undefined {
  if (/channel/.test(what)) return firstDenying(asker, channelOf(asker.state, id), [seeMetadata, seeContent])
  if (/message/.test(what) && typeof id === 'number' && asker.state.messages.has(id))
    return firstDenying(asker, id, [seeMessage])
  if (/user$/.test(what) && typeof id === 'number') return firstDenying(asker, asker.state.users.get(id), [accessUser])
  return undefined
}

function firstDenying<Thing>(asker: Asker, thing: Thing | undefined, rules: readonly Rule<Thing>[]): Law | undefined {
  return thing === undefined ? undefined : rules.find(rule => !rule.allows(asker, thing))
}

function channelOf(state: State, id: number | string) {
  return typeof id === 'number' ? state.channels.get(id) : channelByName(state, id)
}
