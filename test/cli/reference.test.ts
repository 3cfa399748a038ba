// The names that scripts rely on: each is there, and the everyday ones do what they say.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { allWords } from '../../cli/catalogue/words.ts'
import { subcommandTable } from '../../cli/command-table.ts'
import { inProcess } from '../support/cli-in-process.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'

const names = `subscribe unsubscribe send tail wait exec api login completion doctor commands
  typing:start|stop flags:add|remove|narrow presence:active|idle scheduled:create|edit|list|delete
  channels:create|edit|list|show|archive|members topics:list|mute|unmute|follow|delete folders:create|edit|list
  messages:list|show|edit|move|delete|history reactions:add|remove
  users:create|edit|show|list|me|deactivate|reactivate groups:create|edit|list|members
  views:add|edit|list|remove snippets:create|edit|list|delete reminders:create|list|delete
  drafts:list|create|edit|delete linkifiers:add|list|edit|remove bots:create|list|edit|deactivate
  webhooks:deliveries|redeliver settings:show|edit server:settings queues:register|events|delete
  daemon:run|start|stop|restart|status|logs profile:add|use|list|remove|export`

const all = names.split(/\s+/).flatMap(entry => {
  const [word, verbs = ''] = entry.split(':')
  return verbs.split('|').map(verb => [word!, ...(verb ? [verb] : [])])
})

describe('the help of a subcommand that scripts rely on', () => {
  for (const words of all) {
    const skip = allWords(subcommandTable).includes(words[0]!) ? false : 'its endpoints are not in the catalogue'
    test(`natter ${words.join(' ')} has usage and two examples`, { skip }, async () => {
      const { code, stdout, stderr } = await inProcess([...words, '--help'])
      assert.equal(code, 0, stderr)
      assert.match(stdout, new RegExp(`^Usage: natter ${words[0]} `))
      // A verb that were unknown would end in the help of its group.
      assert.doesNotMatch(stdout, /^Usage: natter \w+ <verb>/)
      assert.match(stdout, /\nExamples:\n( {2}.*natter .*\n){2}/)
    })
  }
})

describe('everyday lines', () => {
  const daemon = sharedDaemon()
  let env: Record<string, string>
  before(async () => {
    const { email, api_key } = daemon().ready.owner
    env = { NATTER_SITE: daemon().url, NATTER_EMAIL: email, NATTER_API_KEY: api_key }
    for (const name of ['amy', 'bob']) await person(daemon(), name)
    for (const name of ['general', 'random']) await natter('channels', 'create', name)
  })

  async function natter(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await inProcess(args, { env })
    assert.equal(code, 0, `natter ${args.join(' ')}: ${stderr}`)
    return stdout.trim()
  }

  async function shown(id: string): Promise<string> {
    const reply = JSON.parse(await natter('messages', 'show', id, '--json'))
    const { display_recipient: to, subject, content } = reply.message
    return `${typeof to === 'string' ? to : to.length} > ${subject}: ${content}`
  }

  test('send takes the place as a word, by flags, and the text from stdin', async () => {
    assert.equal(await shown(await natter('send', '#general>lunch', 'a')), 'general > lunch: a')
    assert.equal(await shown(await natter('send', '#general > lunch', 'b')), 'general > lunch: b')
    assert.equal(
      await shown(await natter('send', '--channel', 'general', '--topic', 'lunch', 'c')),
      'general > lunch: c',
    )
    assert.equal(await shown(await natter('send', '--to', 'amy@example.com', 'd')), '2 > : d')
    assert.equal(
      await shown(await natter('send', '--to', 'amy@example.com', '--to', 'bob@example.com', 'e')),
      '3 > : e',
    )
    assert.equal(await shown(await natter('send', 'amy@example.com,bob@example.com', 'f')), '3 > : f')
    for (const args of [['#general>lunch'], ['--channel', 'general', '--topic', 'lunch'], ['#general>lunch', '-']]) {
      const { code, stdout } = await inProcess(['send', ...args], { env, input: 'from a pipe\n' })
      assert.equal(code, 0)
      assert.equal(await shown(stdout.trim()), 'general > lunch: from a pipe')
    }
  })

  test('messages move moves one, the later ones, or all', async () => {
    const ids: string[] = []
    for (const text of ['1', '2', '3']) ids.push(await natter('send', '#general>move', text))
    const places = () => Promise.all(ids.map(async id => (await shown(id)).split(':')[0]))
    await natter('messages', 'move', ids[0]!, '--topic', 'alone', '--no-notify-new')
    assert.deepEqual(await places(), ['general > alone', 'general > move', 'general > move'])
    await natter('messages', 'move', ids[1]!, '#random>later', '--later')
    assert.deepEqual(await places(), ['general > alone', 'random > later', 'random > later'])
    await natter('messages', 'move', ids[2]!, '--channel', 'general', '--topic', 'all', '--all')
    assert.deepEqual(await places(), ['general > alone', 'general > all', 'general > all'])
  })

  test('topics are followed, muted, unmuted and reset by their names', async () => {
    const policies = { follow: 3, mute: 1, unmute: 2, reset: 0 }
    for (const [verb, policy] of Object.entries(policies)) {
      const line = await natter('topics', verb, 'lunch', '--channel', 'general', '--dry-run')
      assert.match(line, new RegExp(`visibility_policy=${policy}$`, 'm'))
      await natter('topics', verb, 'lunch', '--channel', 'general')
      await natter('topics', verb, '#general>lunch')
    }
    assert.equal(await natter('topics', 'list', '--channel', 'general'), await natter('topics', 'list', 'general'))
  })

  test('reactions, flags, presence and other everyday subcommands work', async () => {
    const id = await natter('send', '#general>day', 'morning')
    await natter('subscribe', 'random', '--to', 'amy@example.com')
    await natter('unsubscribe', 'random', '--to', 'amy@example.com')
    await natter('typing', 'start', '--channel', 'general', '--topic', 'day')
    await natter('typing', 'stop', '--to', 'amy@example.com')
    await natter('flags', 'add', 'starred', id)
    await natter('flags', 'remove', 'starred', id)
    await natter('flags', 'narrow', 'add', 'read', '--anchor', 'newest', '--before', '10', '--after', '0')
    await natter('presence', 'active')
    await natter('presence', 'idle')
    await natter('reactions', 'add', id, 'tada')
    await natter('reactions', 'remove', id, 'tada')
    await natter('messages', 'edit', id, '--content', 'evening')
    assert.match(await natter('messages', 'history', id), /evening/)
    assert.match(await natter('channels', 'members', 'general'), /^\d+ {2}\S/m)
    await natter('channels', 'edit', 'random', '--description', 'the rest')
    assert.match(await natter('channels', 'show', 'random'), /the rest/)
    await natter('views', 'add', 'narrow/is/starred')
    await natter('views', 'edit', 'narrow/is/starred', '--pinned')
    await natter('views', 'remove', 'narrow/is/starred')
    assert.match(await natter('server', 'settings'), /feature_level/)
    await natter('messages', 'delete', id)
  })
})
