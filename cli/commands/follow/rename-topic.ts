// `natter topics rename`: the newest message of the topic is moved, and all others with it.

import { messages } from '../../../daemon/api/messages/messages.ts'
import { didYouMean } from '../../../daemon/local/did-you-mean.ts'
import { exitCodes, Failure, usage } from '../../base/failure.ts'
import { accountFor } from '../../base/profile.ts'
import type { Reply } from '../../base/reply.ts'
import type { Invocation } from '../../base/subcommand.ts'
import { callEndpoint } from '../../catalogue/call.ts'
import { encodeRequest } from '../../catalogue/forms.ts'
import { readParams, sourcesFor } from '../../catalogue/params.ts'
import { placeWord } from '../../input/links.ts'
import { placeIn } from '../../input/shorthand.ts'
import { call } from '../../transport/client.ts'
import { countText } from './export.ts'

/** How many messages are fetched to count those that are moved: a reply has their whole content. */
const most = 1000

export async function renameTopic({ args, flags, globals }: Invocation): Promise<void> {
  const account = accountFor(globals, process.env)
  const place = placeIn(placeWord(args[0]!, account.site))
  if (place?.topic === undefined) throw usage(`<topic>: "${args[0]}" is not a topic such as '#general>lunch'`)
  // Digits after # are a name; a link has the ID.
  const channel = place.channel.startsWith('id:') ? place.channel : `#${place.channel}`
  const wanted = new Map([
    ['@channel', channel],
    ['@topic', place.topic],
    ['@lines', String(most)],
  ])
  const sources = sourcesFor(account, globals, globals, false)
  const params = await readParams(messages.list, wanted, sources)
  const { path, fields } = encodeRequest(messages.list, params)
  const page = await call(account, { method: 'GET', path: `/api/v1${path}`, fields }, globals)
  const found = page.messages as Reply[]
  const newest = found.at(-1)
  if (!newest) {
    const id = await sources.names.find('channel', channel)
    const { topics } = await call(account, { method: 'GET', path: `/api/v1/users/me/${id}/topics`, fields: new Map() })
    throw new Failure(exitCodes.notFound, `there is no topic "${place.topic}" in #${place.channel}`, {
      hint: didYouMean(
        place.topic,
        (topics as Reply[]).map(({ name }) => String(name)),
      ),
    })
  }
  const moved = page.found_oldest ? countText(found.length, 'message') : `${most} messages or more`
  const done = `renamed #${place.channel}>${place.topic} to ${args[1]}, ${moved}`
  const move = { ...messages.update, cli: { ...messages.update.cli, name: 'topics rename', done } }
  const notices = [
    ...(flags['notify-old'] === true ? [['send_notification_to_old_thread', true] as const] : []),
    ...(flags.silent === true ? [['send_notification_to_new_thread', false] as const] : []),
  ]
  const given = [
    ['message_id', String(newest.id)],
    ['topic', args[1]!],
    ['propagate_mode', 'change_all'],
  ] as const
  await callEndpoint(move, new Map<string, string | boolean>([...given, ...notices]), globals)
}
