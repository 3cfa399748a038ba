// Shapes of the replies, and of the file of an earlier pull, that a seed is made from. Anything else is refused.

import { isRecord } from '../../../../daemon/local/json.ts'
import type { Read } from './build-seed.ts'

/** The place of what is wrong, such as `[3].name`; undefined if all of it is right. */
type Shape = (value: unknown) => string | undefined

function makeShape(isRight: (value: unknown) => boolean): Shape {
  return value => (isRight(value) ? undefined : '')
}

function listOf(item: Shape): Shape {
  return value => (Array.isArray(value) ? firstWrong(value.map((one, at) => [`[${at}]`, one, item])) : '')
}

function recordOf(item: Shape): Shape {
  return value =>
    isRecord(value) ? firstWrong(Object.entries(value).map(([name, one]) => [`.${name}`, one, item])) : ''
}

/** Keys that are not named here are not used. */
function objectOf(keys: Readonly<Record<string, Shape>>): Shape {
  return value =>
    isRecord(value) ? firstWrong(Object.entries(keys).map(([name, shape]) => [`.${name}`, value[name], shape])) : ''
}

function optional(shape: Shape): Shape {
  return value => (value === undefined || value === null ? undefined : shape(value))
}

function firstWrong(parts: readonly (readonly [place: string, value: unknown, shape: Shape])[]): string | undefined {
  for (const [place, value, shape] of parts) {
    const wrong = shape(value)
    if (wrong !== undefined) return `${place}${wrong}`
  }
  return undefined
}

const id = makeShape(Number.isSafeInteger)
const text = makeShape(value => typeof value === 'string')
const flag = makeShape(value => typeof value === 'boolean')
const ids = listOf(id)
const plain = makeShape(value => ['string', 'number', 'boolean'].includes(typeof value))

const shapes: Readonly<Record<keyof Read, Shape>> = {
  organization: objectOf({ name: optional(text), description: optional(text) }),
  settings: recordOf(plain),
  people: listOf(
    objectOf({
      user_id: id,
      email: text,
      delivery_email: optional(text),
      full_name: text,
      is_active: flag,
      is_bot: flag,
    }),
  ),
  groups: listOf(
    objectOf({ id, name: text, description: optional(text), members: ids, direct_subgroup_ids: optional(ids) }),
  ),
  channels: listOf(objectOf({ stream_id: id, name: text, description: optional(text) })),
  subscribers: recordOf(ids),
  messages: recordOf(objectOf({ list: listOf(messageShape()), complete: flag })),
}

function messageShape(): Shape {
  const reactions = listOf(objectOf({ user_id: optional(id), emoji_name: text }))
  const timestamp = makeShape(Number.isFinite)
  return objectOf({ id, sender_id: id, subject: text, content: text, timestamp, reactions })
}

/** Where a part is not what a seed is made of, as `people[3].email`; undefined if it is. */
export function wrongIn(part: keyof Read, value: unknown): string | undefined {
  const wrong = shapes[part](value)
  return wrong === undefined ? undefined : `${part}${wrong}`
}

/** The same for all parts that are there. */
export function wrongInAny(read: Readonly<Partial<Record<keyof Read, unknown>>>): string | undefined {
  return (Object.keys(shapes) as (keyof Read)[])
    .map(part => (read[part] === undefined ? undefined : wrongIn(part, read[part])))
    .find(wrong => wrong !== undefined)
}
