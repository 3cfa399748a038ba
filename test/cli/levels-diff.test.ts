// `natter levels diff`: what changed, and what of it concerns a bot whose calls were recorded.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { environmentOf, newShell } from '../support/cli.ts'
import { sharedDaemon } from '../support/daemon.ts'

/** Reacts to its own message and reads the event of it; changes a setting that newer levels call otherwise. */
const bot = `
const { NATTER_SITE, NATTER_EMAIL, NATTER_API_KEY } = process.env
const Authorization = 'Basic ' + Buffer.from(NATTER_EMAIL + ':' + NATTER_API_KEY).toString('base64')
const call = async (method, path, fields = {}) => {
  const form = new URLSearchParams(fields).toString()
  const inPath = method === 'GET' ? '?' + form : ''
  const body = method === 'GET' ? undefined : new URLSearchParams(fields)
  const answer = await fetch(NATTER_SITE + '/api/v1' + path + inPath, { method, headers: { Authorization }, body })
  if (answer.status !== 200) throw new Error(await answer.text())
  return answer.json()
}
const { queue_id } = await call('POST', '/register', { event_types: '["reaction"]' })
const { id } = await call('POST', '/messages', { type: 'direct', to: '[2]', content: 'hi' })
await call('POST', '/messages/' + id + '/reactions', { emoji_name: 'tada' })
await call('PATCH', '/realm', { giphy_rating: '2' })
const { events } = await call('GET', '/events', { queue_id, last_event_id: '-1' })
if (events[0].user.user_id !== 2) throw new Error('no user')
`

describe('natter levels diff', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })
  const shell = newShell({ after } as never)
  const recording = 'bot.ndjson'
  let used = ''

  before(async () => {
    writeFileSync(join(shell.home, 'bot.mjs'), bot)
    const at = shell.with(environmentOf(daemon()))
    const recorded = await at.run(['record', recording, '--', process.execPath, 'bot.mjs'])
    assert.equal(recorded.code, 0, recorded.stderr)
    const { code, stdout, stderr } = await at.run(['levels', 'diff', '417', '498', '--used', '--json'])
    assert.equal(code, 0, stderr)
    used = stdout
  })

  test('says what a recorded bot has to change, with the fields that it got', async () => {
    const { code, stdout, stderr } = await shell.run(['levels', 'diff', '417', '498', recording])
    assert.equal(code, 0, stderr)
    const [toChange] = stdout.split('\nNew:\n') as [string]
    assert.match(toChange, /^To change:\n/)
    assert.match(toChange, /^ {2}484 {2}Events of type reaction have no user; use user_id\.$/m)
    assert.match(toChange, /^ {7}Your client gets reaction\.user, which is gone since 484\.$/m)
    assert.match(toChange, /^ {2}453 {2}PATCH \/realm does not take giphy_rating any more\.$/m)
  })

  test('leaves out what the bot never used', async () => {
    const { stdout } = await shell.run(['levels', 'diff', '417', 'latest', recording, '--json'])
    const abouts = JSON.parse(stdout)
      .changes.filter(({ breaks }: { breaks: boolean }) => breaks)
      .map(({ about }: { about: string }) => about)
      .join('\n')
    for (const other of ['realm_bot', 'attachment', 'giphy_rating_options', 'export', 'presence', 'zephyr'])
      assert.ok(!abouts.toLowerCase().includes(other), `${other} in ${abouts}`)
  })

  test('takes the logs of the daemon in place of a recording', () => {
    const changes = JSON.parse(used).changes as { level: number; gone: string[]; about: string }[]
    assert.deepEqual(changes.find(({ level }) => level === 484)?.gone, ['reaction.user'])
    assert.ok(!changes.some(({ about }) => about.includes('Events of type realm_bot')))
  })

  test('lists everything without a recording, and nothing between equal levels', async () => {
    const { stdout } = await shell.run(['levels', 'diff', '11.0', '12.0'])
    assert.match(stdout, /^ {2}484 {2}Events of type reaction have no user; use user_id\.$/m)
    assert.match(stdout, /^New:$/m)
    assert.doesNotMatch(stdout, /^ {2}418 /m)
    assert.equal((await shell.run(['levels', 'diff', '498', '12.0'])).stdout, 'Nothing changed.\n')
  })

  const refused = [
    [['417', '510'], /<to> takes a level from 417 to 509, a release \(11\.0, 12\.0, 12\.1\) or latest, not "510"/],
    [['9.0', '12.0'], /<from> takes a level .* not "9\.0"/],
    [['12.0', '11.0'], /<from> is newer than <to>\n {2}natter levels diff 11\.0 12\.0/],
    [['417', '498', 'none.ndjson'], /cannot read none\.ndjson: ENOENT/],
    [['417', '498', 'bot.mjs'], /bot\.mjs is not a recording of natter record/],
    [['417', '498', recording, '--used'], /a recording and --used cannot be combined/],
    [['417'], /missing required argument 'to'/],
  ] as const
  for (const [args, says] of refused)
    test(`refuses ${args.join(' ')}`, async () => {
      const { code, stderr } = await shell.run(['levels', 'diff', ...args])
      assert.equal(code, 2, stderr)
      assert.match(stderr, says)
    })
})
