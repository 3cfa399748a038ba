// The law of the command line: every endpoint has a subcommand that works against a live daemon. It may be refused, but
// then as the help on exit codes says, in words for people.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { exitCodes } from '../../cli/base/failure.ts'
import { flagName, isList, isSwitch } from '../../cli/input/flags.ts'
import type { Endpoint, Param } from '../../daemon/api/define.ts'
import { endpointAt } from '../../daemon/api/levels/endpoint-at.ts'
import { defaultLevel } from '../../daemon/api/levels/releases.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { inProcess } from '../support/cli-in-process.ts'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { pixel } from '../support/images.ts'
import { person } from '../support/world.ts'

type Shape = Param['shape']

/** What takes things away comes last. */
const endpoints = (await catalogueEndpoints())
  .map(({ endpoint }) => endpoint)
  .filter(({ served }) => served !== 'outgoing')
  .sort((a, b) => Number(takesAway(a)) - Number(takesAway(b)))

/** What the daemon and the command line may end with here. Wrong usage is not among them: the lines are well formed. */
const documented: readonly number[] = [exitCodes.done, exitCodes.refused, exitCodes.notFound, exitCodes.denied]

describe('every subcommand of the API', () => {
  const daemon = sharedDaemon({ flags: ['--dev-auth'] })
  /** For endpoints that the default level does not have. */
  const newest = sharedDaemon({ flags: ['--level', 'latest'] })
  const folder = mkdtempSync(join(tmpdir(), 'natter-law-'))
  const picture = join(folder, 'picture.png')
  let amy: Caller
  let queue = ''
  let message = ''
  const done: string[] = []

  before(async () => {
    writeFileSync(picture, pixel.png)
    amy = await person(daemon(), 'amy')
    await natter(['channels', 'create', 'general'])
    await natter(['groups', 'create', 'team', '--description', 'us', '--members', 'me'])
    message = await natter(['send', '#general>lunch', 'Hello'])
    queue = JSON.parse(await natter(['queues', 'register', '--fetch-event-types', 'message', '--json'])).queue_id
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** Ends the account or its key, so it runs as another account. */
  const ownAccount = new Set(['deactivate-own-user', 'regenerate-api-key'])

  for (const endpoint of endpoints)
    test(`natter ${endpoint.cli.name}`, async () => {
      const caller = ownAccount.has(endpoint.id) ? await person(daemon(), endpoint.id) : ownerFor(endpoint)
      const args = lineFor(endpoint)
      const { code, stdout, stderr } = await inProcess(args, { env: envOf(caller) })
      const said = `natter ${args.join(' ')}: ${code} ${stdout}${stderr}`
      assert.ok(documented.includes(code!), said)
      assert.doesNotMatch(stdout + stderr, /^ +at .*:\d+:\d+|UNEXPECTED|\[object Object\]|\bundefined\b/m, said)
      if (code === 0) done.push(endpoint.id)
      else assert.match(stderr, /^natter: [^\n]+\n/, said)
    })

  test('works where a simple world allows it', () => {
    const refused = endpoints.filter(({ id }) => !done.includes(id)).map(({ cli }) => cli.name)
    assert.ok(done.length >= endpoints.length * 0.85, `refused: ${refused.join(', ')}`)
  })

  test('prints JSON when asked to, also of a refusal', async () => {
    for (const endpoint of endpoints.filter(({ method, served }) => method === 'GET' && !served)) {
      const { code, stdout, stderr } = await inProcess([...lineFor(endpoint), '--json'], {
        env: envOf(ownerFor(endpoint)),
      })
      const value = JSON.parse(code === 0 ? stdout : stderr)
      assert.equal(code === 0 ? value.result : value.error.exit, code === 0 ? 'success' : code, endpoint.cli.name)
    }
  })

  function ownerFor(endpoint: Endpoint): Caller {
    return (endpointAt(endpoint, defaultLevel) ? daemon() : newest()).owner
  }

  async function natter(args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await inProcess(args, { env: envOf(daemon().owner) })
    assert.equal(code, 0, stderr)
    return stdout.trim()
  }

  /** A line that says what the endpoint needs, and no more. */
  function lineFor(endpoint: Endpoint): string[] {
    const { cli, params } = endpoint
    const own = special[endpoint.id]?.()
    const confirmed = cli.destroys ? ['--yes'] : []
    if (own) return [...cli.name.split(' '), ...own, ...confirmed]
    const words = (cli.args ?? []).map(name => [name, params[name]!] as const)
    const flags = Object.entries(params).filter(
      ([name, { presence, shape }]) =>
        (presence === 'required' || presence === 'path') && shape.ref !== 'secret' && !cli.args?.includes(name),
    )
    return [
      ...cli.name.split(' '),
      ...words.map(([name, { shape }]) => textFor(name, shape)),
      ...flags.map(([name, { shape }]) => {
        const flag = `--${flagName(endpoint, name)}`
        return isSwitch(shape) ? flag : `${flag}=${textFor(name, shape)}`
      }),
      ...(changes[cli.name] ?? []),
      ...confirmed,
    ]
  }

  /** Where everything can be left out, but not all of it. */
  const changes: Readonly<Record<string, string[]>> = {
    'users edit': ['--full-name', 'Amy'],
    'users edit-by-email': ['--full-name', 'Amy'],
    'settings edit': ['--enter-sends'],
    'settings edit-defaults': ['--enter-sends'],
    'org edit': ['--description', 'ours'],
    'profile-fields edit': ['--hint', 'in a word'],
    'channels edit': ['--description', 'for all'],
    'default-channels groups edit': ['--new-description', 'for a start'],
    'folders edit': ['--description', 'together'],
    'snippets edit': ['--title', 'Hello'],
    'views edit': ['--pinned'],
    'scheduled edit': ['--content', 'Even later'],
  }

  /** Where one param depends on another, or on what is there. */
  const special: Readonly<Record<string, () => string[]>> = {
    'send-message': () => ['#general>lunch', 'Hello again'],
    'get-messages': () => [],
    'create-user': () => ['dan@example.com', 'Dan'],
    'update-user-group': () => ['team', '--description', 'all of us'],
    'deactivate-user-group': () => ['team'],
    'update-user-group-members': () => ['team', '--add', 'amy@example.com'],
    'update-user-group-subgroups': () => ['team', '--add', 'role:moderators'],
    'get-user-presence': () => ['me'],
    'get-user-channels': () => ['me'],
    'mark-onboarding-step-as-read': () => ['intro_resolve_topic'],
    'add-apns-token': () => ['abcd', '--appid', 'com.example.chat'],
    'remove-apns-token': () => ['abcd'],
    'send-invites': () => ['eve@example.com', '--channels', 'general'],
    'update-bot': () => ['echo-bot@example.com', '--full-name', 'Echo'],
    'get-bot-api-key': () => ['echo-bot@example.com'],
    'regenerate-bot-api-key': () => ['echo-bot@example.com'],
    'add-code-playground': () => ['Python', 'python', 'https://example.com/{code}'],
    'create-default-stream-group': () => ['starters', '--description', 'to begin with', '--stream-names', 'random'],
    'update-message': () => [message, '--content', 'Hello, edited'],
    'get-events': () => [queue, '--last-event-id=-1', '--dont-block'],
    'delete-queue': () => [queue],
    'set-typing-status': () => ['start', '--channel', 'general', '--topic', 'lunch'],
    'update-message-flags-for-narrow': () => ['add', 'read', '--anchor=newest', '--before=5', '--after=0'],
    'check-messages-match-narrow': () => [message, '--narrow', 'channel:general'],
    'update-user-topic': () => ['#general>lunch', '--policy', 'followed'],
    'mute-topic': () => ['add', 'lunch', '--channel', 'general'],
    'update-subscription-property': () => ['general', 'pin_to_top', 'true'],
    'update-subscriptions': () => ['--add', '[{"name":"random"}]'],
    'create-scheduled-message': () => ['#general>lunch', 'Later', '--at', '+2h'],
    // Refused: the others still need the organization.
    'deactivate-realm': () => ['--deletion-delay-days', '1'],
    'create-message-reminder': () => [message, '--at', '+2h'],
  }

  function textFor(name: string, shape: Shape): string {
    const arms: Shape[] = shape.anyOf ?? [shape]
    const [arm] = arms
    if (isList(shape)) {
      const value = sampleOf(name, shape) as unknown[]
      return value.every(item => typeof item !== 'object') ? value.join(',') : JSON.stringify(value)
    }
    if (arm!.format === 'binary') return picture
    if (arm!.ref === 'channel') return 'general'
    if (arm!.ref === 'user') return 'amy@example.com'
    if (arm!.ref === 'group') return 'role:members'
    if (arm!.ref === 'time') return '+2h'
    const value = sampleOf(name, shape)
    return typeof value === 'string' ? value : JSON.stringify(value)
  }

  /** The simplest value of a shape; texts fit what the param is called. */
  function sampleOf(name: string, shape: Shape): unknown {
    if (shape.const !== undefined) return shape.const
    if (shape.anyOf) return sampleOf(name, shape.anyOf[0])
    if (shape.ref === 'message') return Number(message)
    if (shape.ref === 'user') return amy.id
    if (shape.ref === 'channel') return 1
    if (shape.type === 'boolean') return true
    if (shape.type === 'array') return [sampleOf(name, shape.items as Shape)]
    if (shape.type === 'object')
      return Object.fromEntries(
        ((shape.required ?? []) as string[]).map(key => [key, sampleOf(key, shape.properties[key])]),
      )
    if (shape.type === 'integer' || shape.type === 'number') return name.includes('message') ? Number(message) : 1
    return texts.find(([pattern]) => pattern.test(name))?.[1] ?? 'hello'
  }

  function envOf({ url, email, key }: Caller): Record<string, string> {
    return { NATTER_SITE: url, NATTER_EMAIL: email!, NATTER_API_KEY: key!, NATTER_PASSWORD: 'amy has a long password' }
  }
})

function takesAway({ cli, method }: Endpoint): boolean {
  return method === 'DELETE' || /delete|deactivate|archive|remove|revoke|unsubscribe/.test(cli.name)
}

const texts: readonly (readonly [RegExp, string])[] = [
  [/email|username/, 'amy@example.com'],
  [/emoji_name/, 'tada'],
  [/^flag$/, 'starred'],
  [/^pattern$/, '#(?P<id>[0-9]+)'],
  [/url_template/, 'https://example.com/{id}'],
  [/domain/, 'example.org'],
  [/fragment/, 'narrow/is/starred'],
  [/short_name/, 'echo'],
  [/stream|channel/, 'general'],
  [/topic/, 'lunch'],
  [/anchor/, 'newest'],
]
