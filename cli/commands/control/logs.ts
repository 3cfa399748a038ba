// `natter requests`, `outbox`, `webhooks list|wait`, `accounts` and `queues list|expire`: what a daemon was asked, what it wrote, who is there.

import { Ending, exitCodes } from '../../base/failure.ts'
import { note } from '../../base/note.ts'
import type { ExtraSubcommand, Invocation } from '../../base/subcommand.ts'
import { printReply } from '../../print/output.ts'
import { ask, controlled, numbers, texts } from './call.ts'

const filters = [
  { name: 'endpoint', value: 'NAME', about: 'of this endpoint: send-message' },
  { name: 'of', value: 'EMAIL', about: 'of this account' },
  { name: 'status', value: 'CODE', about: 'answered with this status' },
]

export const requests: readonly ExtraSubcommand[] = [
  controlled({
    name: 'requests list',
    about: 'List the newest calls, with their parameters and what came of them; keys and passwords are hidden',
    flags: [...filters, { name: 'limit', value: 'N', about: 'how many (default 100)' }],
    method: 'GET',
    path: ({ flags }) => `/requests?${new URLSearchParams(wanted(flags) as Record<string, string>)}`,
    shows: 'requests',
    examples: ['natter requests list --endpoint send-message', 'natter requests list --status 429 --json'],
  }),
  {
    ...controlled({
      name: 'requests wait',
      about: 'Wait for a call: exit code 0 when it was made, 8 when it was not',
      flags: [...filters, { name: 'within', value: 'TIME', about: 'how long (default 5s)' }],
      method: 'POST',
      path: () => '/wait',
      examples: [
        'natter requests wait --endpoint send-message --of echo-bot@example.com',
        'natter requests wait --endpoint get-events --status 429 --within 30s',
      ],
    }),
    run: invocation => waitFor(invocation, 'call', wanted(invocation.flags)),
  },
  controlled({
    name: 'requests clear',
    about: 'Forget the calls so far',
    method: 'DELETE',
    path: () => '/requests',
    examples: ['natter requests clear', 'natter requests clear --json'],
  }),
]

export const outbox: readonly ExtraSubcommand[] = [
  controlled({
    name: 'outbox',
    about: 'List the mails that the daemon wrote',
    flags: [{ name: 'to', value: 'EMAIL', about: 'to this address' }],
    method: 'GET',
    path: ({ flags }) => `/outbox?${new URLSearchParams(texts(flags, ['to']) as Record<string, string>)}`,
    shows: 'mails',
    examples: ['natter outbox', 'natter outbox --to amy@example.com --json'],
  }),
]

const ofDeliveries = [
  { name: 'of', value: 'EMAIL', about: 'of this bot' },
  { name: 'status', value: 'STATUS', about: 'waiting, delivered or failed' },
  { name: 'trigger', value: 'TRIGGER', about: 'mention or direct_message' },
]

export const webhooks: readonly ExtraSubcommand[] = [
  controlled({
    name: 'webhooks list',
    about: 'List the deliveries to the servers of all outgoing webhook bots, oldest first, with what was sent',
    flags: [...ofDeliveries, { name: 'limit', value: 'N', about: 'how many (default 100)' }],
    method: 'GET',
    path: ({ flags }) => {
      const { of: bot, ...rest } = texts(flags, ['of', 'status', 'trigger', 'limit']) as Record<string, string>
      return `/webhooks?${new URLSearchParams(bot === undefined ? rest : { bot, ...rest })}`
    },
    shows: 'deliveries',
    examples: ['natter webhooks list', 'natter webhooks list --of echo-bot@example.com --status failed --json'],
  }),
  {
    ...controlled({
      name: 'webhooks wait',
      about: 'Wait for a delivery that was tried: exit code 0 when there is one, 8 when there is none',
      flags: [...ofDeliveries, { name: 'within', value: 'TIME', about: 'how long (default 5s)' }],
      method: 'POST',
      path: () => '/wait',
      examples: [
        'natter webhooks wait --of echo-bot@example.com --status delivered',
        'natter webhooks wait --status failed --within 30s --json',
      ],
    }),
    run: invocation => {
      const { of: bot, ...rest } = texts(invocation.flags, ['of', 'status', 'trigger'])
      return waitFor(invocation, 'webhook', bot === undefined ? rest : { bot, ...rest })
    },
  },
]

export const accounts: readonly ExtraSubcommand[] = [
  controlled({
    name: 'accounts',
    about: 'List everybody with their API keys, or one by name',
    args: [{ name: 'name', about: 'an address, the part of it before the @, or an ID', optional: true }],
    method: 'GET',
    path: ({ args }) => (args[0] === undefined ? '/accounts' : `/accounts/${encodeURIComponent(args[0])}`),
    examples: ['natter accounts', 'natter accounts amy --jq .account.api_key'],
  }),
]

export const queues: readonly ExtraSubcommand[] = [
  controlled({
    name: 'queues list',
    about: 'List the event queues of everybody',
    method: 'GET',
    path: () => '/queues',
    shows: 'queues',
    examples: ['natter queues list', 'natter queues list --json'],
  }),
  controlled({
    name: 'queues expire',
    about: 'Let event queues expire: one, those of an account, or all',
    args: [{ name: 'queue', about: 'which one; all when left out', optional: true }],
    flags: [{ name: 'of', value: 'EMAIL', about: 'those of this account' }],
    method: 'POST',
    path: () => '/queues/expire',
    body: ({ args, flags }) => ({
      ...(args[0] !== undefined && { queue_id: args[0] }),
      ...(flags.of !== undefined && { user: flags.of }),
    }),
    shows: 'expired',
    examples: ['natter queues expire --of amy@example.com', 'natter queues expire'],
  }),
]

const missed = { call: 'no such call was made', webhook: 'no such delivery was tried' }

async function waitFor(invocation: Invocation, kind: keyof typeof missed, fits: object): Promise<void> {
  const { flags, globals } = invocation
  const within = (flags.within as string | undefined) ?? '5s'
  const timeout = globals.timeout ?? 660_000
  const body = { [kind]: fits, within }
  const reply = await ask({ ...invocation, globals: { ...globals, timeout } }, 'POST', '/wait', body)
  if (reply.met) return printReply(reply, { shows: kind }, globals)
  if (globals.json) await printReply(reply, {}, globals)
  note(`${missed[kind]} within ${within}`)
  for (const { differs } of reply.near as { differs: string[] }[]) note(`  near: ${differs.join('; ')}`)
  throw new Ending(exitCodes.unmet)
}

function wanted(flags: Invocation['flags']): Record<string, unknown> {
  return {
    ...texts(flags, ['endpoint']),
    ...(flags.of !== undefined && { user: flags.of }),
    ...numbers(flags, ['status', 'limit']),
  }
}
