// `natter trigger webhook SERVICE [EVENT]`: posts a sample payload of a service to its incoming webhook.

import { bots } from '../../../../daemon/api/bots/bots.ts'
import { webhooks } from '../../../../daemon/api/bots/webhooks.ts'
import { baseOf } from '../../../../daemon/api/define.ts'
import { users } from '../../../../daemon/api/people/users.ts'
import { encode } from '../../../../daemon/api/wire.ts'
import { didYouMean } from '../../../../daemon/local/did-you-mean.ts'
import { usage } from '../../../base/failure.ts'
import type { Reply } from '../../../base/reply.ts'
import type { Stage } from './stage.ts'

const repository = { name: 'beans', full_name: 'garden/beans', html_url: 'https://example.com/garden/beans' }
const sender = { login: 'amy', html_url: 'https://example.com/amy' }
const commit = {
  id: '4f0a9c5b1e7d2a6c8b3e5f1d9a7c4b2e6d8f0a1c',
  message: 'Water the beans',
  timestamp: '2030-01-01T09:00:00Z',
  url: 'https://example.com/garden/beans/commit/4f0a9c5b',
  author: { name: 'Amy', email: 'amy@example.com' },
}
const alert = {
  status: 'firing',
  labels: { alertname: 'DiskFull', instance: 'shed:9100', severity: 'critical' },
  annotations: { summary: 'The disk of shed is almost full' },
  startsAt: '2030-01-01T09:00:00Z',
  endsAt: '0001-01-01T00:00:00Z',
}

/** By service and event; the first event is the usual one. */
export const samples: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  github: {
    push: {
      ref: 'refs/heads/main',
      before: '0'.repeat(40),
      after: commit.id,
      commits: [commit],
      head_commit: commit,
      repository,
      sender,
    },
    issues: {
      action: 'opened',
      issue: { number: 7, title: 'The beans are dry', body: 'Since Monday.' },
      repository,
      sender,
    },
    pull_request: {
      action: 'opened',
      number: 8,
      pull_request: { number: 8, title: 'Water the beans', merged: false },
      repository,
      sender,
    },
    ping: { zen: 'Keep it simple.', hook_id: 1, repository, sender },
  },
  gitlab: {
    'Push Hook': {
      object_kind: 'push',
      ref: 'refs/heads/main',
      user_name: 'Amy',
      project: { name: 'beans' },
      commits: [commit],
    },
  },
  grafana: {
    alert: { receiver: 'natter', status: 'firing', alerts: [alert], title: '[FIRING:1] DiskFull', state: 'alerting' },
  },
  alertmanager: {
    alert: {
      version: '4',
      groupKey: '{}:{alertname="DiskFull"}',
      status: 'firing',
      receiver: 'natter',
      alerts: [alert],
    },
  },
  sentry: { issue: { action: 'created', data: { issue: { id: '1', title: 'TypeError: beans is undefined' } } } },
  uptimerobot: { down: { monitor_friendly_name: 'Web', monitor_url: 'https://example.com', alert_type: '1' } },
  slack_incoming: {
    text: { text: 'Deployed *beans* to <https://example.com|production>' },
    blocks: { blocks: [{ type: 'header', text: { type: 'plain_text', text: 'Deployed' } }, { type: 'divider' }] },
  },
  json: { object: { event: 'deployed', project: 'beans', seconds: 12 } },
}

/** Services that name the event in a header. */
const named = new Set(['github', 'gitlab', 'sentry'])

export async function postSample(
  [service, event, ...more]: readonly string[],
  overrides: ReadonlyMap<string, string>,
  stage: Stage,
) {
  const { payload, name } = findSample(service, event)
  if (more.length > 0)
    throw usage(`unexpected argument "${more[0]}"`, 'natter trigger webhook takes a service and an event.')
  const bot = await botFor(stage)
  const { path, fields } = encode(webhooks.post, {
    integration: service,
    api_key: bot.api_key,
    stream: (await stage.channel()).name,
    payload: JSON.stringify(payload),
    event: named.has(service!) ? name : undefined,
  })
  for (const [field, value] of overrides) fields.set(field, value)
  const reply = await stage.post(`${baseOf(webhooks.post)}${path}`, fields)
  return {
    kind: `webhook ${service} ${name}`,
    call: `POST ${webhooks.post.path.replace('{integration}', service!)}`,
    by: bot.email,
    reply,
  }
}

function findSample(service: string | undefined, event: string | undefined): { payload: object; name: string } {
  if (service === undefined) throw usage('no service given', `There are samples of ${Object.keys(samples).join(', ')}.`)
  const known = Object.hasOwn(samples, service) ? samples[service]! : undefined
  if (!known) {
    const hint = didYouMean(service, Object.keys(samples)) ?? `There are samples of ${Object.keys(samples).join(', ')}.`
    throw usage(`there is no sample of "${service}"`, hint)
  }
  const name = event ?? Object.keys(known)[0]!
  if (!Object.hasOwn(known, name))
    throw usage(
      `there is no sample of the event "${name}"`,
      `Of ${service} there are ${Object.keys(known).join(', ')}.`,
    )
  return { payload: known[name]!, name }
}

/** The account itself if it is an incoming webhook bot, otherwise one of its bots. */
async function botFor(stage: Stage): Promise<{ email: string; api_key: string }> {
  const me = await stage.person('me')
  const { members } = await stage.call('owner', users.list, {})
  const found = (members as Reply[]).filter(({ bot_type, is_active }) => bot_type === 2 && is_active)
  const own =
    found.find(({ user_id }) => user_id === me.user_id) ?? found.find(({ bot_owner_id }) => bot_owner_id === me.user_id)
  if (own) return stage.find(String(own.user_id))
  const name = stage.name('webhook')
  const id = await stage.made('me', bots.create, { full_name: name, short_name: name, bot_type: 2 }, 'user_id')
  return stage.find(String(id))
}
