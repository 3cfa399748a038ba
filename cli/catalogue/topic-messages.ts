// The messages of a topic before they are moved or deleted: how many there are, and that the topic exists.

import { messages } from '../../daemon/api/messages/messages.ts'
import { didYouMean } from '../../daemon/local/did-you-mean.ts'
import { exitCodes, Failure } from '../base/failure.ts'
import type { Account } from '../base/profile.ts'
import type { Reply } from '../base/reply.ts'
import { countText } from '../base/text-layout.ts'
import type { Given, Sources } from '../input/flags.ts'
import { type CallOptions, call } from '../transport/client.ts'
import { encodeRequest } from './forms.ts'
import { readParams } from './params.ts'

/** How many messages are fetched to count them: a reply has their whole content. */
const most = 1000

interface Server {
  readonly account: Account
  readonly sources: Sources
  readonly options: CallOptions
}

interface Topic {
  /** A name, or `id:5`. */
  readonly channel: string
  readonly topic: string
}

/** The newest message, and how many there are, in words. Fails, with suggestions, if there is none. */
export async function demandTopic(
  { channel, topic }: Topic,
  server: Server,
): Promise<{ readonly newest: Reply; readonly count: string }> {
  const { found, count } = await listTopic({ channel, topic }, server)
  const newest = found.at(-1)
  if (newest) return { newest, count }
  const id = await server.sources.names.find('channel', channel)
  const { topics } = await get(`/api/v1/users/me/${id}/topics`, server)
  const names = (topics as Reply[]).map(({ name }) => String(name))
  throw new Failure(exitCodes.notFound, `there is no topic "${topic}" in ${await nameChannel(channel, server)}`, {
    hint: didYouMean(topic, names),
  })
}

/** How many messages of its topic move with a message, in words, by the values of the parameter `propagate_mode`. */
export async function countMoved(id: number, mode: unknown, server: Server): Promise<string> {
  if (mode !== 'change_all' && mode !== 'change_later') return `message ${id}`
  const { message } = await get(`/api/v1/messages/${id}?allow_empty_topic_name=true`, server)
  const { stream_id, subject } = message as Reply
  // Direct messages have no topic: the call itself is refused.
  if (stream_id === undefined) return `message ${id}`
  const place = { channel: `id:${stream_id}`, topic: String(subject) }
  return (await listTopic(place, server, mode === 'change_later' ? id : undefined)).count
}

/** From one message on, or all of them; the oldest first. */
async function listTopic(
  { channel, topic }: Topic,
  { account, sources, options }: Server,
  from?: number,
): Promise<{ readonly found: readonly Reply[]; readonly count: string }> {
  const range =
    from === undefined
      ? ([['@lines', String(most)]] as const)
      : ([
          ['anchor', String(from)],
          ['num_before', '0'],
          ['num_after', String(most)],
        ] as const)
  const given = new Map<string, Given>([['@channel', channel], ['@topic', topic], ...range])
  const { path, fields } = encodeRequest(messages.list, await readParams(messages.list, given, sources))
  const page = await call(account, { method: 'GET', path: `/api/v1${path}`, fields }, options)
  const found = page.messages as Reply[]
  const whole = from === undefined ? page.found_oldest : page.found_newest
  return { found, count: `${countText(found.length, 'message')}${whole === true ? '' : ' or more'}` }
}

function get(path: string, { account, options }: Server): Promise<Reply> {
  return call(account, { method: 'GET', path, fields: new Map() }, options)
}

/** People know a channel by its name. */
async function nameChannel(channel: string, { sources }: Server): Promise<string> {
  const name = channel.startsWith('id:') ? await sources.names.channelName(channel) : channel.replace(/^#/, '')
  return `#${name}`
}
