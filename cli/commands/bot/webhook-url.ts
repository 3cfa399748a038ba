// `natter webhooks url BOT`: the address that another service posts to.

import { bots } from '../../../daemon/api/bots/bots.ts'
import { webhooks } from '../../../daemon/api/bots/webhooks.ts'
import { baseOf } from '../../../daemon/api/define.ts'
import { encode } from '../../../daemon/api/wire.ts'
import { usage } from '../../base/failure.ts'
import { accountFor, demandKey } from '../../base/profile.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { createNames } from '../../input/names.ts'
import { readPerson } from '../../input/people.ts'
import { printReply } from '../../print/output.ts'
import { addressFor, call, requireSite } from '../../transport/client.ts'
import { postedRequest } from '../../transport/posted-request.ts'

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'webhooks url',
    about: 'Print the address that another service posts to, with the key of a bot of yours',
    args: [{ name: 'bot', about: 'an incoming webhook bot: its name, email address or ID' }],
    flags: [
      {
        name: 'integration',
        value: 'NAME',
        about: 'the service: slack_incoming, json, github, grafana or any other name',
      },
      { name: 'channel', value: 'CHANNEL', about: 'where messages go; without it, the owner of the bot gets them' },
      { name: 'topic', value: 'TOPIC', about: 'the topic, in place of the one that the integration chooses' },
      {
        name: 'only-events',
        value: 'PATTERNS',
        about: 'comma-separated patterns of the events to post, such as pull_*,push',
      },
      { name: 'exclude-events', value: 'PATTERNS', about: 'comma-separated patterns of the events to leave out' },
    ],
    more: 'The address holds the API key of the bot: anyone who has it can post as the bot.',
    examples: [
      'natter webhooks url notifier-bot --integration slack_incoming --channel general',
      'natter webhooks url notifier-bot --integration github --channel engineering --only-events push,pull_request',
    ],
    async run({ args: [bot], flags, globals }) {
      const { integration, channel, topic, ...filters } = flags as Record<string, string | undefined>
      if (integration === undefined) throw usage('no integration given', 'Example: --integration slack_incoming')
      const account = accountFor(globals, process.env)
      demandKey(account)
      const names = createNames(account, globals)
      // An ID: in the address, digits are always an ID, also of a channel whose name is a number.
      const stream = channel === undefined ? undefined : String(await names.find('channel', channel))
      const asked = encode(bots.key, { bot_id: await readPerson(bot!, names) })
      const path = `${baseOf(bots.key)}${asked.path}`
      const { api_key } = await call(account, { method: 'GET', path, fields: asked.fields }, globals)
      const posted = encode(webhooks.post, {
        integration,
        api_key,
        stream,
        topic,
        only_events: filters['only-events']?.split(','),
        exclude_events: filters['exclude-events']?.split(','),
      })
      const { path: target } = postedRequest(`${baseOf(webhooks.post)}${posted.path}`, posted.fields)
      const url = addressFor(requireSite(account), target).href
      await printReply({ url }, { shows: 'url' }, globals)
    },
  },
]
