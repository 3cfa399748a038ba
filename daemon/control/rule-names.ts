// Rules by name: what explains a refusal names the rule and states its law.

import type { Step } from '../domain/messages/messages/reception.ts'
import type { Law } from '../domain/refusal.ts'
import * as allRules from '../domain/rules/index.ts'

export interface ShownStep {
  readonly step: string
  readonly ok: boolean | null
  readonly says: string
  readonly rule?: string
  readonly law?: string
}

/** Every rule of the permission model with its name. */
export const namedRules: readonly (readonly [name: string, rule: Law])[] = Object.entries(allRules).flatMap(
  ([name, rule]) => (typeof rule === 'object' && 'law' in rule ? [[name, rule] as const] : []),
)

const names = new Map<Law, string>(namedRules.map(([name, rule]) => [rule, name]))

export function presentStep({ step, ok, says, rule }: Step): ShownStep {
  const name = rule && names.get(rule)
  return { step, ok, says, ...(name !== undefined && { rule: name }), ...(rule && { law: rule.law }) }
}
