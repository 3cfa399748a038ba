// Calls in the words of the wire, and tables of cases: what each call must answer.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../support/daemon.ts'
import { formOf, type HttpReply, send } from '../../support/http.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Calls the API as a client does: `ask(amy, 'POST /messages', {…})`. Values that are not texts are sent as JSON. */
export function ask(caller: Caller, line: string, fields: Fields = {}): Promise<HttpReply> {
  const [method, path] = line.split(' ') as [string, string]
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  const texts = given.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const)
  return send(`${caller.url}/api/v1${path}`, { method, auth: caller.auth, ...formOf(method, new Map(texts)) })
}

/** The same, and it must succeed. */
export async function ok(caller: Caller, line: string, fields: Fields = {}): Promise<Record<string, any>> {
  const { body } = await ask(caller, line, fields)
  assert.equal(body.result, 'success', `${line} ${JSON.stringify(fields)} answered ${JSON.stringify(body)}`)
  return body
}

/** What the call is, who makes it, and what the reply must have: `status` and fields of the body. */
export type Case = readonly [
  title: string,
  caller: () => Caller,
  line: string | (() => string),
  fields: Fields | (() => Fields),
  answer: Fields | (() => Fields),
]

/** One test for each case. */
export function cases(rows: readonly Case[]): void {
  for (const [title, caller, line, fields, answer] of rows)
    test(title, async () => {
      const { status, body } = await ask(caller(), now(line), now(fields))
      assertHas({ status, ...body }, { status: 200, ...now(answer) })
    })
}

/** Every field that is expected is there with its value; lists must be as long as expected. A function is asked. */
export function assertHas(actual: unknown, expected: unknown, place = 'the reply'): void {
  if (typeof expected === 'function') assert.ok(expected(actual), `${place} is ${JSON.stringify(actual)}`)
  else if (Array.isArray(expected)) {
    assert.ok(Array.isArray(actual), `${place} is ${JSON.stringify(actual)}`)
    assert.equal(actual.length, expected.length, `${place} has ${JSON.stringify(actual)}`)
    for (const [index, item] of expected.entries()) assertHas(actual[index], item, `${place}[${index}]`)
  } else if (typeof expected === 'object' && expected !== null) {
    assert.ok(typeof actual === 'object' && actual !== null, `${place} is ${JSON.stringify(actual)}`)
    for (const [name, value] of Object.entries(expected))
      assertHas((actual as Fields)[name], value, `${place}.${name} of ${JSON.stringify(actual).slice(0, 500)}`)
  } else assert.equal(actual, expected, place)
}

function now<T>(value: T | (() => T)): T {
  return typeof value === 'function' ? (value as () => T)() : value
}
