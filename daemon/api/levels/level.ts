// A feature level as a world speaks it: which endpoints there are, how replies and events look, how the server behaves. It is
// resolved once; after that, a call pays for the changes of its own reply alone.

import type { Endpoint } from '../define.ts'
import { type Behaviours, behavioursAt } from './behaviours.ts'
import { type Change, type Form, isIn } from './change.ts'
import { changes } from './changes.ts'
import { absentFields, endpointAt } from './endpoint-at.ts'
import { buildTree, prune } from './prune.ts'
import { versionAt } from './releases.ts'

type Step = (built: any) => any

interface Event {
  readonly type: string
}

/** An endpoint at a level, and what turns the reply that was built into that of the level. */
interface Spoken {
  readonly endpoint: Endpoint
  readonly step: Step | undefined
}

export class Level {
  readonly number: number
  readonly version: string
  readonly rules: Behaviours
  readonly #events = new Map<string, Step | undefined>()
  readonly #endpoints = new Map<Endpoint, Spoken | undefined>()

  constructor(number: number) {
    this.number = number
    this.version = `${versionAt(number)}-natter`
    this.rules = behavioursAt(number)
    for (const type of new Set(changes.flatMap(({ events = {} }) => Object.keys(events))))
      this.#events.set(
        type,
        this.#buildStep(({ events }) => events?.[type]),
      )
  }

  /** undefined: this level does not have the endpoint. */
  spoken(endpoint: Endpoint): Spoken | undefined {
    const known = this.#endpoints.get(endpoint)
    if (known || this.#endpoints.has(endpoint)) return known
    const spoken = this.#resolve(endpoint)
    this.#endpoints.set(endpoint, spoken)
    return spoken
  }

  /** Whether there is something of this span: a capability, a setting. */
  has({ since = 0, until = Number.POSITIVE_INFINITY }: { readonly since?: number; readonly until?: number }): boolean {
    return this.number >= since && this.number < until
  }

  /** An event as clients of this level get it; null: they do not. */
  event<E extends Event>(event: E): E | null {
    const step = this.#events.get(event.type)
    return step ? step(event) : event
  }

  /** What the server says of its level and version. */
  get reported() {
    return { svc_feature_level: this.number, svc_version: this.version, svc_merge_base: this.version }
  }

  /** The state in the reply of `register`. */
  readonly state: Step = this.#late(() => this.#buildStep(({ register }) => register))

  #resolve(endpoint: Endpoint): Spoken | undefined {
    const known = endpointAt(endpoint, this.number)
    return (
      known && {
        endpoint: known,
        step: this.#buildStep(({ replies }) => replies?.[endpoint.id], absentFields(endpoint.reply, this.number)),
      }
    )
  }

  /** From the newest change to the oldest; first what needs other fields, then the fields that are left out. */
  #buildStep(formIn: (change: Change) => Form | undefined, absent: readonly string[] = []): Step | undefined {
    const steps: Step[] = []
    const left = [...absent]
    for (const change of [...changes].sort((a, b) => b.level - a.level)) {
      const form = formIn(change)
      if (!form) continue
      const isNewer = isIn(change, this.number)
      const step = isNewer ? form.newer : form.older
      if (step) steps.push(step)
      left.push(...((isNewer ? form.ends : form.begins) ?? []))
    }
    if (left.length > 0) {
      const tree = buildTree(left)
      steps.push(built => prune(built, tree))
    }
    if (steps.length < 2) return steps[0]
    return built => steps.reduce((value, step) => (value === null ? null : step(value)), built)
  }

  /** Most worlds never need it before their first client registers. */
  #late(make: () => Step | undefined): Step {
    let made: Step | undefined
    return built => {
      made ??= make() ?? (value => value)
      return made(built)
    }
  }
}

/** Levels never change, so all worlds share them. */
const shared = new Map<number, Level>()

export function getLevel(number: number): Level {
  let level = shared.get(number)
  if (!level) {
    level = new Level(number)
    shared.set(number, level)
  }
  return level
}
