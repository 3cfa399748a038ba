// `natter help --level`: subcommands as they are at a feature level, and what help marks as newer.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { newShell } from '../support/cli.ts'

describe('natter help --level', () => {
  const shell = newShell({ after } as never)

  test('lists what the level has and the default level does not', async () => {
    const { code, stdout } = await shell.run(['help', '--level', '12.0'])
    assert.equal(code, 0)
    assert.match(stdout, /^Feature level 498, version 12\.0\./)
    assert.match(stdout, /^ {2}subscriptions of +since level 440$/m)
    assert.match(stdout, /^ {2}channels edit +--can-create-topic-group, since level 441$/m)
    assert.doesNotMatch(stdout, /since level 5\d\d/)
    assert.match((await shell.run(['help', '--level', '417'])).stdout, /Its subcommands are those of level 417/)
  })

  test('shows a subcommand with the flags of the level, wherever the flag is', async () => {
    const flagsAt = async (...words: string[]) => (await shell.run(['help', ...words])).stdout
    assert.doesNotMatch(await flagsAt('channels', 'edit', '--level', '440'), /--can-create-topic-group/)
    assert.match(
      await flagsAt('--level=441', 'channels', 'edit'),
      /--can-create-topic-group[\s\S]*?\(since level 441\)/,
    )
    assert.match(await flagsAt('channels', 'edit'), /--can-create-topic-group[\s\S]*?\(since level 441\)/)
    assert.match(await flagsAt('subscriptions', 'of', '--level', '440'), /^Route: .*channels \(since level 440\)$/m)
    assert.match(
      await flagsAt('settings', 'edit', '--level', '453'),
      /web home view: inbox, recent_topics,\s+all_messages\n/,
    )
    assert.match(await flagsAt('exec', '--level', '440'), /^Usage: natter exec/)
    assert.match(await flagsAt('narrow', '--level', '440'), /^A narrow is/)
  })

  const refused = [
    [
      ['subscriptions', 'of', '--level', '439'],
      /level 439 does not have natter subscriptions of \(GET .*: since level 440\)/,
    ],
    [['send', '--level', '416'], /--level takes a level from 417 to 509, .* not "416"/],
    [['send', '--level'], /--level takes .* not ""/],
    [['nothing', '--level', '440'], /there is no subcommand "nothing"/],
  ] as const
  for (const [args, says] of refused)
    test(`refuses ${args.join(' ')}`, async () => {
      const { code, stderr } = await shell.run(['help', ...args])
      assert.equal(code, 2)
      assert.match(stderr, says)
    })
})
