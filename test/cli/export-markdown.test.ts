// The document that `natter messages export --format md` writes.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { accountAt, fakeServer, json, newShell } from '../support/cli.ts'

/** CSI in eight bits, an escape sequence, and marks that turn the direction of text. */
const hostile = 'a\u009b31m\u001b]0;title\u0007\u202e\u2066\u200f b'

describe('messages.md of an export', () => {
  test('has nothing of others that steers a terminal, and keeps line breaks, tabs and flags', async t => {
    const england = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'
    const content = `${hostile}\n\n\tcode ä ${england} \u{e0041}`
    const said = { timestamp: 1, sender_full_name: `${hostile} Amy`, subject: `${hostile} lunch`, content }
    const messages = [
      { id: 7, display_recipient: `${hostile} general`, ...said },
      { id: 8, display_recipient: [{ id: 1, full_name: `${hostile} Bob` }], ...said },
    ]
    const url = await fakeServer(t, (_request, response) =>
      json(response, { result: 'success', messages, found_newest: true }),
    )
    const shell = newShell(t, accountAt(url))
    await shell.natter(['messages', 'export', 'copy', '--format', 'md'], { cwd: shell.home })
    const document = readFileSync(join(shell.home, 'copy/messages.md'), 'utf8')
    const escaped = 'a\\x9b31m\\x1b]0;title\\x07\\x202e\\x2066\\x200f b'
    const section = `\n**${escaped} Amy** 1970-01-01 00:00 UTC\n\n${escaped}\n\n\tcode ä ${england} \\xe0041\n`
    const headings = [`## #${escaped} general > ${escaped} lunch\n`, `## @ ${escaped} Bob\n`]
    assert.equal(document, headings.map(heading => heading + section).join('\n'))
    // The other file is for programs.
    const [first] = readFileSync(join(shell.home, 'copy/messages.ndjson'), 'utf8').split('\n')
    assert.equal(JSON.parse(first!).content, content)
  })
})
