// The law of largest values: whatever values the writing endpoints accept, the rows that come of them pass the checks of a restore.
// Otherwise a member could make every later backup useless with a single call.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { TSchema } from '@sinclair/typebox'
import { defaultBounds } from '../../daemon/api/bounds.ts'
import { problemIn } from '../../daemon/api/checking.ts'
import { type Endpoint, isUpload } from '../../daemon/api/define.ts'
import { events } from '../../daemon/api/events.ts'
import { idempotencyLimits, keyHeader, whyNoKey } from '../../daemon/api/idempotency.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { invitations } from '../../daemon/api/people/invitations.ts'
import { users } from '../../daemon/api/people/users.ts'
import { backupToFile } from '../../daemon/maintenance/backup.ts'
import { checkBackup, checkStore, openBackup, restoreBackup } from '../../daemon/maintenance/index.ts'
import { BotServer, json } from '../support/bot-server.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { CheckedReplay } from '../support/checked-replay.ts'
import { type Caller, newStoreFolder, sharedDaemon, startDaemon, type TestDaemon } from '../support/daemon.ts'
import { aboutPeople } from '../support/event-story/people.ts'
import { aboutOneself } from '../support/event-story/personal.ts'
import { aboutPlaces } from '../support/event-story/places.ts'
import { last, prepareRest, rest } from '../support/event-story/rest.ts'
import { at, people, picture } from '../support/event-story/row.ts'
import { setStage } from '../support/event-story/stage.ts'
import { placesIn, sample } from '../support/shape-places.ts'

let daemon: TestDaemon
const server = new BotServer()
server.answer = json({}, 400)
before(() => server.listen())
after(() => server.close())
sharedDaemon({ flags: ['--durability', 'os', '--no-rate-limit'] }, async started => {
  daemon = started
  await setStage(daemon)
})

type Params = Readonly<Record<string, unknown>>

interface Step {
  readonly by: () => Caller
  readonly endpoint: Endpoint
  /** Of a call that is accepted; the number differs in every call. */
  readonly params: (number: number) => object
  readonly remember?: ((reply: any) => void) | undefined
}

const story: readonly Step[] = [...aboutPeople, ...aboutPlaces, ...aboutOneself].map(
  ({ by, endpoint, params, keep }) => ({
    by: () => people[by],
    endpoint,
    params,
    remember: reply => {
      if (keep) at[keep[0]] = keep[1].split('.').reduce((inner, step) => inner[step], reply)
    },
  }),
)

const more: readonly Step[] = [
  {
    by: () => people.a,
    endpoint: events.register,
    params: () => ({ fetch_event_types: [] }),
    remember: ({ queue_id }) => (queue = queue_id),
  },
  { by: () => people.a, endpoint: events.delete, params: () => ({ queue_id: queue }) },
  { by: () => people.b, endpoint: messages.report, params: () => ({ message_id: at.direct, report_type: 'spam' }) },
  { by: () => daemon.anonymous, endpoint: invitations.accept, params: newcomer },
  ...rest.map(([by, endpoint, params, remember]) => ({ by, endpoint, params, remember })),
]

function newcomer(number: number): object {
  const password = 'correct horse battery'
  return { token: link.split('/').at(-2), email: `new${number}@example.com`, full_name: `New ${number}`, password }
}
let link = ''
let queue = ''

/** From the largest down: a step that can be taken only once is taken with the largest that is accepted. */
const numbers = [
  1e300,
  2 ** 53 - 1,
  8.64e15 + 1,
  1e15,
  2 ** 48 + 1,
  253_402_300_800,
  2 ** 31 - 1,
  0,
  -1,
  1 - 2 ** 53,
  0.5,
]
const texts = [
  '',
  '__proto__',
  'constructor',
  '\u0001\t\u001b\u007f\u0085\u2028\u2029\u202e\ufeff\ufffe',
  '\ud800',
  '\0',
]
const typesOfFiles = [
  '',
  `text/${'x'.repeat(5000)}`,
  'text/\u0001',
  'text/\u0085',
  'text/\u2028',
  '\u{1f600}',
  '__proto__',
]

/** Two units for each character but the first: cut at an even number of them, it ends in half a character. */
function longest(characters: number): string {
  return `x${'\u{1f600}'.repeat(characters - 1)}`
}

/** The largest and the strangest values of a shape. */
function valuesFor(shape: TSchema): unknown[] {
  if (shape.const !== undefined) return []
  if (shape.format === 'binary')
    return [
      ...texts.map(filename => ({ ...picture(), filename })),
      { ...picture(), filename: `${'x'.repeat(5000)}.png` },
      ...typesOfFiles.map(contentType => ({ ...picture(), contentType })),
    ]
  switch (shape.type) {
    case 'string':
      // Longer content is cut, and a longer text of such characters does not fit into a body.
      return [
        ...texts,
        'x'.repeat(shape.ref === 'markdown' ? 20_000 : shape.maxLength),
        longest(Math.min(shape.maxLength, 20_000)),
      ]
    case 'integer':
    case 'number':
      return [...numbers, shape.minimum, shape.maximum].filter(value => value !== undefined)
    case 'array':
      return [Array.from({ length: shape.maxItems }, (_, index) => numbered(shape.items, index))]
    case 'object':
      return objectsOf(shape)
    case undefined:
      return ['x'.repeat(defaultBounds.text), 2 ** 53, ...['[', '{"":'].map(nested), JSON.parse('{"__proto__":1}')]
    default:
      return []
  }
}

function objectsOf({ patternProperties = {}, maxProperties }: TSchema): object[] {
  const values = Object.values<TSchema>(patternProperties)[0]
  if (!values) return []
  const many = Array.from({ length: maxProperties }, (_, index) => `k${index}`)
  return [many, texts, ['k'.repeat(defaultBounds.key)]].map(keys =>
    Object.fromEntries(keys.map((key, index) => [key, numbered(values, index)])),
  )
}

function nested(open: string): unknown {
  return JSON.parse(`${open.repeat(defaultBounds.depth)}1${(open === '[' ? ']' : '}').repeat(defaultBounds.depth)}`)
}

/** A small one that differs from those with other numbers, where the shape allows it. */
function numbered(shape: TSchema, number: number): unknown {
  if (Array.isArray(shape.anyOf)) return numbered(shape.anyOf[0], number)
  if (shape.const !== undefined) return shape.const
  if (shape.type === 'string') return `x${number}`
  if (shape.type === 'integer' || shape.type === 'number') return 1 + number
  return sample(shape)
}

let number = 0

/** The step with texts of its own in each call, if it can be taken only once as it is. */
async function repeatable(step: Step): Promise<Step> {
  const after: Step = { ...step, params: n => renewed(step, text => `${text}${n}`) }
  const before: Step = { ...step, params: n => renewed(step, text => `${n}${text}`) }
  for (const form of [after, before, step]) if (await isAccepted(form, form.params(++number) as Params)) return form
  return step
}

function renewed({ endpoint, params }: Step, change: (text: string) => string): object {
  const entries = Object.entries(params(++number)).map(([name, value]) => {
    const other = changed(value, change)
    // Words that mean something stay.
    return [name, problemIn(name, endpoint.params[name]!.shape, other) === undefined ? other : value]
  })
  return Object.fromEntries(entries)
}

function changed(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map(item => changed(item, change))
  if (value === null || typeof value !== 'object' || isUpload(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, changed(part, change)]))
}

async function isAccepted({ by, endpoint }: Step, params: Params): Promise<boolean> {
  const { keyLength } = idempotencyLimits
  const key = whyNoKey(endpoint) === undefined ? { [keyHeader]: `${++number}`.padEnd(keyLength, '~') } : {}
  const { body } = await by().try(endpoint, params, key)
  return body.result === 'success'
}

/** Which endpoints were tried, and with which words where they take one of several: a message to a channel is not one to a person. */
const tried = new Set<string>()

function formOf({ id, params }: Endpoint, given: Params): string {
  const words = Object.keys(given).filter(name => typeof params[name]!.shape.anyOf?.[0].const === 'string')
  return `${id} ${words.map(name => given[name])}`
}

/** Takes the step, then again and again with one value changed. */
async function tryValues(step: Step): Promise<void> {
  const { by, endpoint, params, remember } = step
  remember?.(await by().call(endpoint, params(++number) as never))
  const form = formOf(endpoint, params(number) as Params)
  if (tried.has(form)) return
  tried.add(form)
  const again = await repeatable(step)
  for (const [name, value] of variations(endpoint, params(number) as Params))
    await isAccepted(again, { ...again.params(++number), [name]: value })
  // As it was, for the steps that follow.
  await isAccepted(step, params(number) as Params)
}

/** Each strange value of each part of each parameter, in the whole parameter. */
function* variations(endpoint: Endpoint, base: Params): Generator<[name: string, value: unknown]> {
  const seen = new Set<TSchema>()
  const params = Object.entries(endpoint.params).filter(([, { presence }]) => presence !== 'path')
  // Rows of messages and queues keep it; it is no parameter of any endpoint.
  yield ['client', longest(defaultBounds.text)]
  for (const [name, { shape }] of params)
    for (const place of placesIn(name, shape, base[name])) {
      // Settings have parts in common, and permissions are all alike.
      if ((place.path !== name || name.startsWith('can_')) && seen.has(place.shape)) continue
      seen.add(place.shape)
      for (const value of valuesFor(place.shape)) {
        const whole = place.around(value)
        // What does not fit the shape is refused before anything looks at it.
        if (problemIn(name, shape, whole) === undefined) yield [name, whole]
      }
    }
}

const perCheck = 60
const replay = new CheckedReplay()

describe('the largest and the strangest values', () => {
  tryAll('the story', story)

  test('what the rest of the story needs is there', async () => {
    await prepareRest(daemon, server.url)
    link = (await people.o.call(invitations.createLink, {})).invite_link
  })

  tryAll('the rest', more)

  test('every endpoint that writes and returns no key was tried', async () => {
    for (const [by, endpoint] of last) {
      const step = { by, endpoint, params: () => ({}) }
      for (const [name, value] of variations(endpoint, {})) if (await isAccepted(step, { [name]: value })) break
      tried.add(formOf(endpoint, {}))
    }
    const all = (await catalogueEndpoints()).map(({ endpoint }) => endpoint)
    const writing = all.filter(endpoint => endpoint.method !== 'GET' && whyNoKey(endpoint) === undefined)
    const ids = new Set([...tried].map(form => form.split(' ')[0]))
    assert.deepEqual(
      writing.filter(({ id }) => !ids.has(id)).map(({ id }) => id),
      [],
    )
  })

  test('a backup is good, and a daemon starts on what is restored from it', async t => {
    const folder = newStoreFolder()
    const [file, data] = [join(folder, 'backup.tar'), join(folder, 'restored')]
    await backupToFile(file, { folder: daemon.data, withoutSecret: false, now: new Date() })
    assert.deepEqual((await checkBackup(openBackup(file))).missing, [])
    await restoreBackup(openBackup(file), { folder: data, replace: false, now: new Date() })
    const restored = await startDaemon(t, { data, flags: ['--reactivate'] })
    const { email } = await restored.owner.call(users.me, {})
    assert.equal(email, daemon.owner.email)
  })
})

function tryAll(name: string, steps: readonly Step[]): void {
  for (let first = 0; first < steps.length; first += perCheck) {
    const some = steps.slice(first, first + perCheck)
    test(`in steps ${first + 1} to ${first + some.length} of ${name} leave rows that pass the checks of a restore`, async () => {
      for (const step of some) await tryValues(step)
      replay.takeNew(daemon.data)
      assert.deepEqual((await checkStore(daemon.data)).problems, [])
    })
  }
}
