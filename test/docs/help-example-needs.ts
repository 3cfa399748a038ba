// Needs of the examples of `natter … --help`, besides an organization of the preset dev. Keys are the first words of a line, after `natter`.

import { formOf, send } from '../support/http.ts'
import { pixel } from '../support/images.ts'
import type { TestSpace } from '../support/spaces.ts'

type Needs<T> = Readonly<Record<string, T>>

const untilCtrlC = 'runs until Ctrl-C'
const token = 'the token is in a mail'
const organization = 'needs an organization on another server'
const daemon = 'starts or stops a daemon, or reads its folder'

/** Lines that are not run, and why. */
export const notRun: Needs<string> = {
  'settings confirm-email TOKEN': token,
  'invites accept TOKEN': token,
  'users deactivate-me': 'the last owner cannot leave',
  'calls create': 'needs a server for calls',
  'webhooks redeliver': 'needs a delivery of an outgoing webhook',
  'webhooks wait': 'needs a bot with an outgoing webhook',
  'queues wait': 'needs a client that polls',
  'wait --listening': 'needs a client that polls',
  'wait --integration': 'needs a call of a webhook',
  'requests list --follow': untilCtrlC,
  'events list --follow': untilCtrlC,
  'requests wait --endpoint get-events': 'needs a client that polls too often',
  live: untilCtrlC,
  'recording print': untilCtrlC,
  tail: untilCtrlC,
  'record talk.ndjson': untilCtrlC,
  proxy: organization,
  replay: 'needs a recording',
  'exports delete': 'needs an export that is complete',
  'seed pull': organization,
  'login chat.example.com': organization,
  cluster: 'needs a cluster',
  exec: daemon,
  eval: daemon,
  daemon,
  backup: daemon,
  restore: daemon,
  store: daemon,
  'bot run': untilCtrlC,
  open: 'opens a browser',
}

const linkifiers = ['natter linkifiers add "#(?P<id>[0-9]+)" "https://issues.example.com/{id}"']
const fields = [
  'natter profile-fields create "Favourite editor" --type 1',
  'natter profile-fields create Mentors --type 6',
]
const folders = ['natter folders create Teams', 'natter folders create Sales']
const views = ['natter views add inbox --no-pinned', 'natter views add narrow/is/alerted --name Alerts --pinned']
const upload = ['natter uploads create report.pdf']
const password = ['natter users create zoe@example.com "Zoe Zimmer" --password "correct horse"']
const newcomers = [
  'natter default-channels groups create newcomers --description "For new colleagues" --stream-names random',
]
const invitation = ['natter invites send eve@example.com --channels general']
const scheduled = ['natter scheduled create Lunch --channel general --topic lunch --at +2h']
const domain = ['natter org add-domain example.com']
const saved = ['natter snapshot save before', 'natter snapshot save after', 'natter snapshot export before.json before']
const profile = ['natter profile add work', 'natter profile add agent']
const lunch = ["natter send '#general>lunch' 'Pizza or soup?'"]
const notifier = ['natter bots create notifier "Notifier" --type incoming']

/** What the reader has done before. */
export const before: Needs<readonly string[]> = {
  'users key': password,
  'users reactivate': ['natter users deactivate amy@example.com'],
  'send --channel general --topic commits': [
    'git init -q',
    'git -c user.name=Amy -c user.email=amy@example.com commit -q --allow-empty -m Hello',
  ],
  'messages edit 12': lunch,
  'messages receipts': ['natter org edit --enable-read-receipts'],
  'messages report': ['natter org edit --moderation-request-channel-id 4'],
  'messages typing': ['natter send amy@example.com Hi'],
  'messages submessage': ["natter send '#general>lunch' '/poll Lunch?'"],
  'reactions remove': ['natter reactions add 3 tada'],
  'groups edit-subgroups backend': ['natter groups create design --description Designers --members cat@example.com'],
  'seen show': ['natter presence active --as amy'],
  'mutes remove': ['natter mutes add bob@example.com'],
  'push remove-apple': ['natter push add-apple 0a1b2c --appid org.example.chat'],
  'push remove-android': ['natter push add-android TOKEN'],
  'push test': ['natter push add-android TOKEN'],
  'linkifiers edit': linkifiers,
  'linkifiers remove': linkifiers,
  'linkifiers reorder': [
    ...linkifiers,
    'natter linkifiers add "docs/(?P<page>[a-z]+)" "https://docs.example.com/{page}"',
  ],
  'playgrounds remove': ['natter playgrounds add Rust rust "https://play.example.com/{?code}"'],
  'org edit-domain': domain,
  'org remove-domain': domain,
  'emoji deactivate': ['natter emoji upload shipit squirrel.png'],
  'invites revoke': invitation,
  'invites resend': invitation,
  'invites revoke-link': ['natter invites link'],
  'bot-storage get last-build': ['natter bot-storage put \'{"last-build": "117"}\''],
  'bot-storage remove last-build': ['natter bot-storage put \'{"last-build": "117"}\''],
  'profile-fields edit': fields,
  'profile-fields reorder': fields,
  'profile-fields delete': fields,
  'profile-fields edit-own': fields,
  'profile-fields clear': fields,
  'default-channels groups edit': newcomers,
  'default-channels groups channels': newcomers,
  'default-channels groups delete': newcomers,
  'folders edit': folders,
  'folders reorder': folders,
  'snippets edit': ['natter snippets create Greeting Hi'],
  'snippets delete': ['natter snippets create Greeting Hi'],
  'views edit': views,
  'views remove': views,
  'drafts edit': ['natter drafts create Pizza'],
  'drafts delete': ['natter drafts create Pizza'],
  'scheduled edit': scheduled,
  'scheduled delete': scheduled,
  'reminders delete': ['natter reminders create --note Plants --at +2h'],
  'uploads delete': upload,
  'uploads download': ['rm report.pdf'],
  'snapshot import': saved,
  'snapshot export before.json': saved,
  'snapshot print before': saved,
  'snapshot diff before': saved,
  'snapshot restore': saved,
  'snapshot remove': saved,
  'seed dump before.json': saved,
  'spaces create copy': ['natter spaces create worker-1'],
  'spaces show': ['natter spaces create worker-1'],
  'spaces delete': ['natter spaces create worker-1'],
  'spaces use': ['natter spaces create worker-1'],
  'faults remove 1': ['natter faults add rate-limit --endpoint send-message'],
  'requests show': ['natter users me'],
  'why --call': ['natter users me'],
  'profile use -': [...profile, 'natter profile use agent', 'natter profile use work'],
  'profile use': profile,
  'profile set': profile,
  'profile remove': profile,
  'profile export': profile,
  'config explain --profile': profile,
  'doctor --profile': profile,
  logout: profile,
  'login http://127.0.0.1:9991': password,
  'org export move.tar.gz': ['natter settings edit --allow-private-data-export'],
  'mcp --toolsets read,write --profile': ['natter profile add bot'],
  'api DELETE /saved_snippets/1': ['natter snippets create Greeting Hi'],
  'topics rename': lunch,
  'messages export lunch': lunch,
  'webhooks url': notifier,
}

/** At a later level than usual. */
export const later: Needs<{ readonly level: number }> = {
  'subscriptions of': { level: 509 },
  'uploads thumbnail': { level: 509 },
}

/** What the reader types when asked. */
export const typed: Needs<string> = {
  'users create zoe@example.com': 'correct horse battery\n',
  'users key zoe@example.com': 'correct horse\n',
  'login http://127.0.0.1:9991': 'correct horse\n',
}

/** What happens while natter waits. */
export const meanwhile: Needs<(space: TestSpace) => Promise<unknown>> = {
  'requests wait --endpoint send-message': space => say(space, 'done'),
  'queues events': space => say(space, 'Hello'),
  'events wait': space => say(space, 'done'),
  'wait --sender echo-bot': space => say(space, 'ok'),
  'wait --dm': space => say(space, 'Hello'),
  'wait --type reaction': react,
}

/** A message to a channel, and one to the reader. */
async function say(space: TestSpace, content: string): Promise<void> {
  const bot = space.as('echo-bot')
  await post(space, '/messages', { type: 'stream', to: 'general', topic: 'deploys', content }, bot)
  await post(space, '/messages', { type: 'direct', to: `[${space.owner.id}]`, content }, bot)
}

async function react(space: TestSpace): Promise<void> {
  const { id } = await post(space, '/messages', { type: 'stream', to: 'general', topic: 'lunch', content: 'Pizza' })
  await post(space, `/messages/${id}/reactions`, { emoji_name: 'tada' })
}

async function post(space: TestSpace, path: string, fields: Record<string, string>, by = space.owner) {
  const form = formOf('POST', new Map(Object.entries(fields)))
  return (await send(`${space.url}/api/v1${path}`, { method: 'POST', auth: by.auth, ...form })).body
}

/** Texts that stand for something that every reader has another of. */
export const placeholders: Needs<(space: TestSpace, home: string) => Promise<string> | string> = {
  'http://127.0.0.1:9991': ({ url }) => url,
  '~/': (_, home) => `${home}/`,
  $RUNNER_TEMP: (_, home) => home,
  QUEUE_ID: async space => (await post(space, '/register', {})).queue_id,
  $KEY: async space => (await post(space, '/bots', { short_name: 'ci', full_name: 'CI' })).api_key,
  '4f/0a9c5b1e/report.pdf': uploaded,
  '4f/0a9c5b1e/photo.jpg': uploaded,
}

/** The address of a new file, below the number of the organization. */
async function uploaded({ url, owner }: TestSpace): Promise<string> {
  const form = formOf(
    'POST',
    new Map([['file', { filename: 'report.pdf', contentType: 'image/jpeg', bytes: pixel.jpeg }]]),
  )
  const { body } = await send(`${url}/api/v1/user_uploads`, { method: 'POST', auth: owner.auth, ...form })
  return body.url.replace('/user_uploads/1/', '')
}

/** Files of the reader. */
export const files: Needs<string | Buffer> = {
  'may.pdf': 'May',
  'report.pdf': 'Report',
  'report.md': 'All is well.',
  'notes.md': '# Notes',
  'squirrel.png': pixel.png,
  'parrot.gif': pixel.gif,
  'me.png': pixel.png,
  'me.jpg': pixel.jpeg,
  'photo.jpg': pixel.jpeg,
  'acme.png': pixel.png,
  'acme-wide.png': pixel.png,
  'acme-dark.png': pixel.png,
  'world.yaml': 'users:\n  - name: zoe\n',
  '.config/fish/completions/git.fish': '',
  'bot.ndjson': '{"natter_recording":1}\n{"end":true}\n',
  'calls.ndjson': '{"method":"GET","path":"/users/me"}\n',
}
