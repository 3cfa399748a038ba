// Every page is followed as its reader would: each block is run in the order of the page, or says why it is not.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { followPage, pageBlocks } from '../verify/reader.ts'

const root = join(import.meta.dirname, '../..')
const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...readdirSync(join(root, 'docs'))
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
]
/** Their recipes do not depend on each other, and are compared with what the page shows by `cookbook.test.ts`. */
const independent = ['docs/cookbook.md']
const programs = ['sh', 'console', 'js', 'mjs', 'ts', 'python', 'go']

describe('each block', () => {
  for (const page of pages.filter(name => !independent.includes(name)))
    test(`of ${page} is run, or has a reason why not`, () => {
      for (const { language, line, mark } of blocksOf(page)) {
        if (programs.includes(language) && !['sh', 'console'].includes(language))
          assert.ok(mark, `${page}:${line}: say where the reader saves this block, or why it is not run`)
        if (mark?.kind === 'not run') assert.ok(mark.about !== '', `${page}:${line}: say why this block is not run`)
        if (mark?.kind === 'run by') assert.ok(existsSync(join(root, mark.about)), `${page}:${line}: ${mark.about}`)
      }
    })
})

describe('following', { concurrency: 2 }, () => {
  for (const page of pages.filter(name => !independent.includes(name) && blocksOf(name).some(isRun)))
    test(`${page} works in an empty home`, { timeout: 600_000 }, async () => {
      assert.deepEqual(await followPage(join(root, page)), [])
    })
})

describe('a page with a mistake', () => {
  const folder = mkdtempSync(join(tmpdir(), 'natter-pages-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  async function follow(text: string): Promise<string[]> {
    const file = join(folder, 'page.md')
    writeFileSync(file, text)
    return (await followPage(file)).map(found => found.slice(file.length))
  }

  test('is reported with the line of the block and what it printed', async () => {
    assert.deepEqual(await follow('# A\n\n```sh\ntrue\necho oh\nfalse\n```\n\n```sh\ntrue\n```\n'), [
      ':3:\nset -e\ntrue\necho oh\nfalse\nset +e\n+ oh\n+ [1]',
      ':9: not run',
    ])
  })

  test('is found in the output that a page shows', async () => {
    assert.deepEqual(await follow('```console\n$ echo one\none\n$ echo two\nthree\n```\n'), [':4:\necho two\n+ two'])
  })

  test('is found in a command that should keep running', async () => {
    const [found] = await follow('<!-- keeps running -->\n```sh\necho no; exit 3\n```\n')
    assert.match(found!, /\+ no\n\+ \[1\]$/)
  })
})

function blocksOf(page: string) {
  return pageBlocks(readFileSync(join(root, page), 'utf8'))
}

function isRun({ language, mark }: ReturnType<typeof pageBlocks>[number]): boolean {
  return ['sh', 'console'].includes(language) && mark?.kind !== 'not run' && mark?.kind !== 'run by'
}
