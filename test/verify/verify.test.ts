// The tool that runs the transcripts of pages: what counts as the same, what it reports, what it updates.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { type Verified, type VerifyOptions, verifyPage } from './page.ts'
import { fits } from './transcript.ts'

function verify(t: TestContext, page: string, options: VerifyOptions = {}): Promise<Verified> {
  const folder = mkdtempSync(join(tmpdir(), 'natter-page-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'page.md')
  writeFileSync(file, page)
  return verifyPage(file, options)
}

const block = (...lines: string[]) => `# A page\n\n\`\`\`console\n${lines.join('\n')}\n\`\`\`\n\nThe end.\n`

describe('fits', () => {
  const cases: [expected: string[], actual: string[], same: boolean][] = [
    [['one'], ['one'], true],
    [['one'], ['one '], true],
    [['one'], ['one', 'two'], false],
    [['one', 'two'], ['one'], false],
    [[], [], true],
    [['id [0-9]+'], ['id 15'], true],
    [['id [0-9]+'], ['id x'], false],
    [['[a-f0-9]+ is [z-a]+'], ['c0ffee is [z-a]+'], true],
    [['at ... by amy'], ['at 12:00 by amy'], true],
    [['a.b'], ['axb'], false],
    [['...'], [], true],
    [['...', 'last'], ['one', 'two', 'last'], true],
    [['first', '...'], ['first'], true],
    [['...', 'x', '...'], ['a', 'b'], false],
    [['[3]'], ['[3]'], true],
    [['[3]'], ['[4]'], false],
  ]
  for (const [expected, actual, same] of cases)
    test(`${JSON.stringify(expected)} and ${JSON.stringify(actual)}: ${same ? 'fits' : 'does not fit'}`, () => {
      assert.equal(fits(expected, actual), same)
    })

  test('many ellipses take linear time', () => {
    assert.equal(fits(Array(1000).fill('...').concat('end'), Array(1000).fill('x')), false)
  })
})

describe('verifyPage', () => {
  const page = block(
    '$ ME=$(natter users me --fields email)',
    '$ echo "I am $ME"',
    'I am amy@example.com',
    '$ natter messages show 99',
    '...',
    '[3]',
    '$ cat <<END',
    '> two',
    '> lines',
    '> END',
    'two',
    'lines',
  )

  test('reports what is different and where, and keeps what fits in the updated page', async t => {
    const { commands, differences, page: shown } = await verify(t, page)
    assert.equal(commands, 4)
    assert.equal(differences.length, 1)
    assert.match(
      differences[0]!,
      /page\.md:5:\n\$ echo "I am \$ME"\n- I am amy@example\.com\n\+ I am owner@example\.com$/,
    )
    assert.equal(shown, page.replace('amy@', 'owner@'))
  })

  test('lets blocks see what those before them did, unless they run apart', async t => {
    const list = ['$ natter snippets list --fields title', 'Note']
    const two = `${block('$ natter snippets create Note x >/dev/null')}${block(...list)}`
    assert.deepEqual((await verify(t, two)).differences, [])
    const apart = await verify(t, two, { apart: true })
    assert.match(apart.differences.join('\n'), /- Note$/)
  })

  test('ends a command that does not end by itself', async t => {
    const endless = verify(t, block('$ echo before', 'before', '$ sleep 600'), { timeout: 1000 })
    await assert.rejects(endless, /a command did not end within 1 s\n {2}\$ sleep 600/)
  })

  test('says which commands were not run because an earlier one ended the shell', async t => {
    const { differences } = await verify(t, block('$ exit 5', '[5]', '$ echo never', 'never'))
    assert.match(differences.join('\n'), /\+ \[not run: the shell had ended\]/)
  })

  test('refuses a page without blocks, and a block that does not begin with a command', async t => {
    await assert.rejects(verify(t, '# Nothing\n'), /page\.md has no console blocks/)
    await assert.rejects(verify(t, block('hello')), /page\.md:4: a console block must begin with a command/)
  })
})
