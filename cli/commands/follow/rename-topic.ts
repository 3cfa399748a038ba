// `natter topics rename`: the newest message of the topic is moved, and all others with it.

import { messages } from '../../../daemon/api/messages/messages.ts'
import { usage } from '../../base/failure.ts'
import { accountFor } from '../../base/profile.ts'
import type { Invocation } from '../../base/subcommand.ts'
import { callEndpoint } from '../../catalogue/call.ts'
import { sourcesFor } from '../../catalogue/params.ts'
import { demandTopic } from '../../catalogue/topic-messages.ts'
import { placeWord } from '../../input/links.ts'
import { placeIn } from '../../input/shorthand.ts'

export async function renameTopic({ args, flags, globals }: Invocation): Promise<void> {
  const account = accountFor(globals, process.env)
  const place = placeIn(placeWord(args[0]!, account.site))
  if (place?.topic === undefined) throw usage(`<topic>: "${args[0]}" is not a topic such as '#general>lunch'`)
  // Digits after # are a name; a link has the ID.
  const channel = place.channel.startsWith('id:') ? place.channel : `#${place.channel}`
  const sources = sourcesFor(account, globals, globals, false)
  const { newest, count } = await demandTopic({ channel, topic: place.topic }, { account, sources, options: globals })
  const done = `renamed #${place.channel}>${place.topic} to ${args[1] || 'general chat'}, ${count}`
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
