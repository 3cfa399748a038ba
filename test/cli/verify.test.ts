// natter verify: what counts as the same, what is reported, what is updated, and pages that cannot be run.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { fits } from '../../cli/commands/test/verify/transcript.ts'
import { newShell } from '../support/cli.ts'
import type { Outcome } from '../support/natter-bundle.ts'

interface Verified extends Outcome {
  readonly page: string
}

async function verify(t: TestContext, page: string, ...flags: string[]): Promise<Verified> {
  const shell = newShell(t)
  const file = join(shell.home, 'page.md')
  writeFileSync(file, page)
  const outcome = await shell.natter(['verify', file, ...flags])
  return { ...outcome, page: readFileSync(file, 'utf8') }
}

const block = (...lines: string[]) => `# A page\n\n\`\`\`console\n${lines.join('\n')}\n\`\`\`\n\nThe end.\n`

describe('what a transcript accepts', () => {
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
    test(`${JSON.stringify(expected)} and ${JSON.stringify(actual)}: ${same ? 'the same' : 'different'}`, () => {
      assert.equal(fits(expected, actual), same)
    })

  test('many ellipses take no more than linear time for each', () => {
    assert.equal(fits(Array(2000).fill('...').concat('end'), Array(2000).fill('x')), false)
  })
})

describe('natter verify', () => {
  const page = block(
    '$ ME=$(natter users me --fields email)',
    '$ echo "I am $ME"',
    'I am somebody@example.com',
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
  test('reports what is different, where, and leaves the page as it is', async t => {
    const different = await verify(t, page)
    assert.equal(different.code, 1)
    assert.match(
      different.stdout,
      /page\.md:5:\n\$ echo "I am \$ME"\n- I am somebody@example\.com\n\+ I am owner@example\.com\n$/m,
    )
    assert.equal(different.stdout.match(/page\.md:/g)!.length, 1)
    assert.match(different.stderr, /4 commands, 1 block different/)
    assert.equal(different.page, page)
  })

  test('--update writes what is printed, and keeps patterns that fit', async t => {
    const updated = await verify(t, page, '--update')
    assert.equal(updated.code, 0, updated.stdout)
    assert.equal(updated.page, page.replace('somebody@', 'owner@'))
  })

  test('blocks see what those before them did; with --apart they do not', async t => {
    const list = ['$ natter snippets list --fields title', 'Note']
    const two = `${block('$ natter snippets create Note x >/dev/null')}${block(...list)}`
    assert.equal((await verify(t, two)).code, 0)
    const apart = await verify(t, two, '--apart')
    assert.equal(apart.code, 1)
    assert.match(apart.stdout, /- Note\n\n/)
  })

  test('takes a preset, and runs with an empty home', async t => {
    const { code, stdout } = await verify(
      t,
      block('$ natter users show amy@example.com --fields full_name; ls -A', '...Amy...'),
      '--preset',
      'dev',
    )
    assert.equal(code, 0, stdout)
  })
})

describe('a page that cannot be verified', () => {
  test('a command that does not end is ended, with a sentence', async t => {
    const { code, stderr } = await verify(t, block('$ echo before', 'before', '$ sleep 600'), '--timeout', '1s')
    assert.equal(code, 1)
    assert.match(stderr, /a command did not end within 1 s\n {2}\$ sleep 600/)
  })

  test('a command that ends the shell', async t => {
    const { code, stdout } = await verify(t, block('$ exit 5', '[5]', '$ echo never', 'never'))
    assert.equal(code, 1)
    assert.match(stdout, /\+ \[not run: the shell had ended\]/)
  })

  const mistakes: [what: string, page: string, sentence: RegExp][] = [
    ['no blocks', '# Nothing\n', /page\.md has no console blocks\n.*```console/],
    ['output without a command', block('hello'), /page\.md:4: a console block must begin with a command/],
    ['a page that is too long', 'x'.repeat(1_000_001), /at most 1000000 bytes/],
  ]
  for (const [what, page, sentence] of mistakes)
    test(`${what}: exit code 2`, async t => {
      const { code, stderr } = await verify(t, page)
      assert.equal(code, 2)
      assert.match(stderr, sentence)
    })

  test('no such file: exit code 2', async t => {
    const { code, stderr } = await newShell(t).natter(['verify', 'nowhere.md'])
    assert.equal(code, 2)
    assert.match(stderr, /cannot read nowhere\.md: ENOENT/)
  })
})
