// `natter trigger KIND`: makes an event of any kind happen by real calls of the API, and shows what the client receives.

import { webhooks } from '../../../../daemon/api/bots/webhooks.ts'
import { capabilities } from '../../../../daemon/api/capabilities.ts'
import { events } from '../../../../daemon/api/events.ts'
import { encode } from '../../../../daemon/api/wire.ts'
import { didYouMean } from '../../../../daemon/local/did-you-mean.ts'
import { exitCodes, Failure, usage } from '../../../base/failure.ts'
import { formatFlags, type Globals } from '../../../base/globals.ts'
import { accountFor, noServer } from '../../../base/profile.ts'
import type { Reply } from '../../../base/reply.ts'
import type { ExtraSubcommand } from '../../../base/subcommand.ts'
import { print } from '../../../base/writer.ts'
import { printFormatted } from '../../../print/output.ts'
import { callControlPlane, findAccount } from '../../../transport/control.ts'
import { aboutMessages } from './messages.ts'
import { aboutOrganization } from './organization.ts'
import { aboutPeople } from './people.ts'
import { Stage } from './stage.ts'
import type { Trigger, Triggers } from './trigger.ts'

export const triggers: Triggers = { ...aboutMessages, ...aboutPeople, ...aboutOrganization }

interface Happened {
  readonly kind: string
  readonly call: string
  readonly by: string
  readonly to: string
  readonly event: Reply
}

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'trigger',
    about: 'Make an event of any kind happen, by real calls, to see how your client takes it',
    args: [{ name: 'kind', about: 'a type with its op, such as reaction/add; see --list', optional: true, many: true }],
    flags: [
      { name: 'list', about: 'list the kinds' },
      { name: 'for', value: 'ACCOUNT', about: 'the account that hears of it; yours if you omit it' },
      {
        name: 'override',
        value: 'FIELD=VALUE',
        about: 'send this value as a parameter of the call that makes the event happen',
        repeatable: true,
      },
    ],
    globals: [...formatFlags, 'quiet', 'site', 'profile', 'ready-file', 'control-token', 'user', 'timeout'],
    more: `The calls are made with the keys of several accounts, which the control plane knows: a colleague reacts, the owner subscribes
you. What a call needs is found or created first (a shared channel, a message, a new account), so other events can come before
the one you ask for, and the organization keeps what was created. Use it with --preset dev or in a space.
natter trigger webhook SERVICE [EVENT] posts a sample payload of a service to its incoming webhook, with the key of a webhook bot of
yours; --override stream=alerts chooses the channel.
A few kinds are for owners or newcomers only; the answer says who received it. heartbeat is not a kind: it comes by itself.`,
    examples: [
      'natter trigger webhook github push',
      'natter trigger mention --for echo-bot',
      'natter trigger reaction/add --override emoji_name=heart',
      'natter trigger --list',
    ],
    async run({ args, flags, globals }) {
      if (flags.list) return listKinds(globals)
      if (args.length === 0) throw usage('no kind given', 'natter trigger --list shows them.')
      const overrides = readOverrides((flags.override ?? []) as readonly string[])
      const receiver = flags.for as string | undefined
      if (args[0] === 'webhook') return postWebhook(args.slice(1), overrides, receiver, globals)
      const kinds = args.map(kind => [kind, findTrigger(kind)] as const)
      for (const [kind, { endpoint }] of kinds) checkOverrides(kind, overrides, Object.keys(endpoint.params))
      const stage = await stageFor(receiver, globals)
      const happened: Happened[] = []
      for (const [kind, item] of kinds) happened.push(await makeHappen(kind, item, overrides, stage))
      if (await printFormatted(happened, globals)) return
      for (const { kind, call, by, to, event } of happened)
        print(`${kind}: ${call} by ${by}; ${to} was sent ${JSON.stringify(event)}\n`)
    },
  },
]

async function postWebhook(
  words: readonly string[],
  overrides: ReadonlyMap<string, string>,
  receiver: string | undefined,
  globals: Globals,
): Promise<void> {
  checkOverrides('webhook', overrides, Object.keys(webhooks.post.params))
  const { postSample } = await import('./webhooks.ts')
  const done = await postSample(words, overrides, await stageFor(receiver, globals))
  if (await printFormatted(done, globals)) return
  print(`${done.kind}: ${done.call} by ${done.by}\n`)
}

/** Makes one event happen. `receiver` is the account that gets it, if it is not the caller's. */
export async function triggerEvent(
  kind: string,
  overrides: ReadonlyMap<string, string>,
  receiver: string | undefined,
  globals: Globals,
): Promise<Happened> {
  const found = findTrigger(kind)
  checkOverrides(kind, overrides, Object.keys(found.endpoint.params))
  return makeHappen(kind, found, overrides, await stageFor(receiver, globals))
}

async function listKinds(globals: Globals): Promise<void> {
  const list = Object.entries(triggers).map(([kind, { about, endpoint, event = kind }]) => ({
    kind,
    about,
    event,
    call: `${endpoint.method} ${endpoint.path}`,
    fields: Object.keys(endpoint.params),
  }))
  if (await printFormatted(list, globals)) return
  const width = Math.max(...list.map(({ kind }) => kind.length))
  for (const { kind, about } of list) print(`${kind.padEnd(width)}  ${about}\n`)
}

function findTrigger(kind: string): Trigger {
  if (Object.hasOwn(triggers, kind)) return triggers[kind]!
  const hint = didYouMean(kind, Object.keys(triggers)) ?? 'natter trigger --list shows all kinds.'
  throw usage(`there is no kind of event "${kind}"`, hint)
}

function readOverrides(given: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    given.map(item => {
      const at = item.indexOf('=')
      if (at < 1) throw usage(`--override: "${item}" is not FIELD=VALUE`, 'Example: --override content=hello')
      return [item.slice(0, at), item.slice(at + 1)]
    }),
  )
}

function checkOverrides(kind: string, overrides: ReadonlyMap<string, string>, known: readonly string[]): void {
  for (const name of overrides.keys())
    if (!known.includes(name))
      throw usage(`--override: ${kind} has no field "${name}"`, `It has ${known.join(', ') || 'none'}.`)
}

async function stageFor(name: string | undefined, globals: Globals): Promise<Stage> {
  const { site, email } = accountFor(globals, process.env)
  const wanted = name ?? globals.as ?? email
  if (site === undefined) throw noServer()
  if (wanted === undefined) throw usage('no account is configured', 'Give --for ACCOUNT.')
  const me = await findAccount(globals, wanted)
  const options = { timeout: globals.timeout }
  const { last_id } = await callControlPlane(globals, { method: 'GET', path: '/control/v1/events?limit=1' }, options)
  const find = (account: string) => findAccount(globals, account)
  return new Stage({ site, me, find, options, count: Number(last_id) })
}

async function makeHappen(
  kind: string,
  { by, endpoint, params, event = kind, to = 'me', older, after }: Trigger,
  overrides: ReadonlyMap<string, string>,
  stage: Stage,
): Promise<Happened> {
  const ready: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(params))
    ready[name] = overrides.has(name) ? overrides.get(name) : typeof value === 'function' ? await value(stage) : value
  for (const [name, text] of overrides) ready[name] = text
  const request = encode(endpoint, ready)
  // As the text that travels, so that any value can be sent.
  for (const [name, text] of overrides) if (endpoint.params[name]!.presence !== 'path') request.fields.set(name, text)
  const [type] = event.split('/')
  const all = Object.fromEntries(Object.keys(capabilities).map(name => [name, true]))
  const { queue_id } = await stage.call(to, events.register, {
    event_types: [type],
    fetch_event_types: [],
    ...(!older && { client_capabilities: all }),
  })
  try {
    await stage.send(by, endpoint, request)
    const reply = await stage.call(to, events.get, { queue_id, last_event_id: -1, dont_block: true })
    const [actor, hearer] = [(await stage.person(by)).email, (await stage.person(to)).email]
    const called = `${endpoint.method} ${request.path}`
    const heard = (reply.events as Reply[]).find(item => nameOf(item) === event)
    if (!heard)
      throw new Failure(exitCodes.refused, `${kind}: ${called} succeeded, but ${hearer} did not receive the event`, {
        hint: 'With these values the call changes nothing, or nothing that this account can see, or the feature level of the server has no such event.',
      })
    return { kind, call: called, by: actor, to: hearer, event: heard }
  } finally {
    await stage.call(to, events.delete, { queue_id })
    await after?.(stage)
  }
}

function nameOf({ type, op }: Reply): string {
  return op === undefined ? String(type) : `${type}/${op}`
}
