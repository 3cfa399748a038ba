// Short names for one use of an endpoint that can do more: `messages move` edits a message, but only its place.

import type { CliForm, Endpoint, Param } from '../../daemon/api/define.ts'
import { usage } from '../base/failure.ts'
import type { ExtraFlag } from '../base/subcommand.ts'
import type { Given } from '../input/flags.ts'

export interface Shortcut {
  /** Name of the endpoint. */
  readonly id: string
  readonly summary: string
  /** The params that can be given. */
  readonly params: readonly string[]
  readonly cli: CliForm
  /** Params it sets by itself. */
  readonly sets?: Readonly<Record<string, string>>
  /** Switches that set other values. */
  readonly switches?: readonly (ExtraFlag & { readonly sets: Readonly<Record<string, string>> })[]
}

const topicForm = { args: ['topic'], flags: { stream_id: 'channel' } }

export const shortcuts: readonly Shortcut[] = [
  {
    id: 'update-message',
    summary: 'Move a message to another topic or channel, alone or with other messages of its topic',
    params: ['message_id', 'topic', 'stream_id', 'send_notification_to_old_thread', 'send_notification_to_new_thread'],
    cli: {
      name: 'messages move',
      args: ['message_id', '@place'],
      flags: {
        stream_id: 'channel',
        send_notification_to_old_thread: 'notify-old',
        send_notification_to_new_thread: 'notify-new',
      },
      examples: [
        'natter messages move 12 --topic dinner',
        "natter messages move 12 '#random>dinner' --later",
        'natter messages move 12 --channel random --topic dinner --all --no-notify-new',
      ],
    },
    switches: [
      { name: 'all', about: 'move all messages of its topic', sets: { propagate_mode: 'change_all' } },
      { name: 'later', about: 'also move the later messages of its topic', sets: { propagate_mode: 'change_later' } },
    ],
  },
  ...(
    [
      ['follow', '3', 'Follow a topic, to be notified of its messages'],
      ['mute', '1', 'Mute a topic'],
      ['unmute', '2', 'Unmute a topic in a muted channel'],
      ['reset', '0', 'Reset a topic, so that it is no longer followed, muted or unmuted'],
    ] as const
  ).map(
    ([verb, policy, summary]): Shortcut => ({
      id: 'update-user-topic',
      summary,
      params: ['stream_id', 'topic'],
      sets: { visibility_policy: policy },
      cli: {
        ...topicForm,
        name: `topics ${verb}`,
        examples: [`natter topics ${verb} lunch --channel general`, `natter topics ${verb} '#general>lunch'`],
      },
    }),
  ),
]

/** For help and parsing: only the params that can be given. */
export function formOf(shortcut: Shortcut, endpoint: Endpoint): Endpoint {
  const params: [string, Param][] = shortcut.params.map(name => [name, endpoint.params[name]!])
  return { ...endpoint, summary: shortcut.summary, params: Object.fromEntries(params), cli: shortcut.cli }
}

/** For the call: the whole endpoint under this name. */
export function targetOf(shortcut: Shortcut, endpoint: Endpoint): Endpoint {
  return { ...endpoint, cli: shortcut.cli }
}

/** The given params, and those that the name and its switches set. */
export function saidBy(shortcut: Shortcut, given: ReadonlyMap<string, Given>): Map<string, Given> {
  const said = new Map([...Object.entries(shortcut.sets ?? {}), ...given])
  const used = (shortcut.switches ?? []).filter(({ name }) => said.delete(`@${name}`))
  if (used.length > 1) throw usage(`${used.map(({ name }) => `--${name}`).join(' and ')} cannot be combined`)
  for (const { sets } of used) for (const [name, value] of Object.entries(sets)) said.set(name, value)
  return said
}
