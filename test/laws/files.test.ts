// Laws on single files: how long they may be, what they are called, how they open, and what their code may not do.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, test } from 'node:test'
import { capabilities } from '../../daemon/api/capabilities.ts'
import { filesUnder, root, sources } from '../support/sources.ts'

const own = sources('daemon', 'cli', 'test', 'docs', 'bin', 'build.ts')

/** Files that write to a file that may exist, each with the reason why it is not a link of a stranger. */
const writers: Readonly<Record<string, string>> = {
  'daemon/io/files.ts': 'to a file that it has made',
  'daemon/journal/segments.ts': 'refuseLinks has looked at the folder',
  'daemon/local/atomic-file.ts': 'to a file that it has made',
  'daemon/journal/store-lock.ts': 'refuseLinks has looked at the folder',
  'daemon/maintenance/restore.ts': 'under a new name',
  'cli/commands/follow/export-markdown.ts': 'whyNotPlain has looked at the folder',
  'cli/commands/follow/export.ts': 'whyNotPlain has looked at the folder',
  'cli/commands/follow/tail/cursor.ts': 'the user names the file',
  'cli/commands/server/daemon/files.ts': 'whyNotPlain has looked at the folder',
  'cli/commands/server/daemon/lifecycle.ts': 'by openPlainSync',
  'cli/commands/test/fixture.ts': 'in a new folder',
  'cli/commands/test/proxy/proxy-recording.ts': 'the user names the file',
  'cli/commands/test/record.ts': 'under a new name',
  'cli/commands/test/replay/against.ts': 'in a new folder',
}

describe('files of the project', () => {
  test('the domain uses no global that has a state or belongs to Node', () => {
    const impure =
      /\b(Buffer|process|globalThis|console|performance|crypto|setTimeout|setInterval|setImmediate|fetch)\b\s*[.(]|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b/
    assert.match('Buffer.from(text)', impure)
    assert.match('const now = Date.now()', impure)
    assert.doesNotMatch('new Date(seconds * 1000)', impure)
    for (const { path, code } of own)
      if (/^daemon\/domain\//.test(path))
        for (const line of code.split('\n')) assert.doesNotMatch(line, impure, `${path} is not pure: ${line.trim()}`)
  })

  test('a file is written under a new name, or where a link of a stranger cannot lead elsewhere', () => {
    const writing =
      /\b(?:(?:write|append)File(?:Sync)?|createWriteStream|truncateSync)\((?!.*'wx)|\bopen(?:Sync)?\([^()]*(?:\([^()]*\))?[^()]*'(?:r\+|w\+?|a\+?)'|O_(?:CREAT|RDWR|WRONLY)/
    for (const line of ["openSync(join(a, b), 'a+', 0o600)", 'writeFileSync(file, text)', 'createWriteStream(file)'])
      assert.match(line, writing)
    for (const line of ["openSync(file, 'r')", "writeFileSync(file, text, { flag: 'wx' })"])
      assert.doesNotMatch(line, writing)
    const found = own.filter(
      ({ path, code }) => /^(daemon|cli)\//.test(path) && code.split('\n').some(line => writing.test(line)),
    )
    assert.deepEqual(
      found.map(({ path }) => path).filter(path => !Object.hasOwn(writers, path)),
      [],
      'write with daemon/local/atomic-file.ts or plain-files.ts, or say here why no link can be there',
    )
    assert.deepEqual(
      Object.keys(writers).filter(path => found.every(other => other.path !== path)),
      [],
    )
  })

  test('a variable of a module says why all worlds of a process may share it', () => {
    const variable = /^(?:export )?(?:let|var) (\w+)/
    for (const { path, text } of own) {
      if (!path.startsWith('daemon/')) continue
      const lines = text.split('\n')
      for (const [index, line] of lines.entries()) {
        const name = variable.exec(line)?.[1]
        if (name === undefined) continue
        // The comment may stand over several variables that belong together.
        const above = lines.slice(Math.max(0, index - 4), index).join('\n')
        assert.match(
          above,
          /\/\/ Shared by all worlds: /,
          `${path}: ${name} is shared by all worlds; put it in the world`,
        )
      }
    }
  })

  test('no file is longer than 400 lines', () => {
    const long = own.filter(({ text }) => text.split('\n').length > 401).map(({ path }) => path)
    assert.deepEqual(long, [])
  })

  test('a resource has one name in api, domain and test', () => {
    const pages = own
      .map(({ path }) => /^daemon\/api\/((?!shapes\/|control\/|levels\/)\w+\/[\w-]+)\.ts$/.exec(path)?.[1])
      .filter(page => page)
    assert.ok(pages.length > 30, `${pages.length} pages`)
    for (const page of pages) {
      const places = [`daemon/domain/${page}.ts`, `daemon/domain/${page}/index.ts`]
      assert.ok(
        places.some(place => existsSync(join(root, place))),
        `daemon/api/${page}.ts has neither ${places.join(' nor ')}`,
      )
      const tests = `test/domain/${page}.test.ts`
      assert.ok(existsSync(join(root, tests)), `daemon/api/${page}.ts has no ${tests}`)
    }
  })

  test('a page of the control plane and its handlers have one name', () => {
    const named = (folder: string, but: readonly string[] = []) =>
      own
        .map(({ path }) => path)
        .filter(path => path.startsWith(folder))
        .map(path => basename(path))
        .filter(name => !but.includes(name))
    const shared = ['durations.ts', 'entries.ts', 'handler.ts', 'index.ts']
    assert.deepEqual(named('daemon/control/handlers/', shared), named('daemon/api/control/'))
  })

  test('names say what is inside: kebab-case, and no utils, helpers, common or types', () => {
    for (const { path } of own) {
      assert.match(basename(path), /^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.(tsx?|js)$/, path)
      assert.doesNotMatch(path, /(^|\/)(utils?|helpers?|common|types?)(\.|\/)/)
    }
  })

  test('every file of daemon and cli opens by saying what lives in it', () => {
    for (const { path, text } of own)
      if (/^(daemon|cli)\//.test(path)) assert.match(text, /^\/\/ \S/, `${path} opens without a comment`)
  })

  test('the domain knows clients by their form, never by a capability', () => {
    const names = new RegExp(`'(${Object.keys(capabilities).join('|')})'`)
    for (const { path, code } of own)
      if (path.startsWith('daemon/domain/'))
        assert.doesNotMatch(code, names, `${path} names a capability; read a field of Client that events/adapt.ts sets`)
  })

  test('only domain/rules decides by a role', () => {
    for (const { path, code } of own) {
      if (!path.startsWith('daemon/') || /^daemon\/domain\/rules\//.test(path)) continue
      for (const line of code.split('\n')) {
        // Showing a role, giving one and naming a file decide nothing: `role: user.role`, `role: roles.member`.
        const rest = line.replace(/\brole: (\w+\.role|roles\.\w+|roles\[\w+\])| from '.*'$/g, '')
        assert.doesNotMatch(
          rest,
          /\.role\b|\broles[.[]/,
          `${path} reads a role; that is for domain/rules: ${line.trim()}`,
        )
      }
    }
  })

  test('every package has its line among the decisions, under run time or development, and no other', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const page = readFileSync(join(root, 'docs/decisions/0004-dependencies.md'), 'utf8')
    const parts = page.split('\nFor the build and for development.')
    for (const [index, installed] of [dependencies, devDependencies].entries()) {
      const argued = [...parts[index]!.matchAll(/^- (.+?):/gm)].flatMap(([, names]) =>
        [...names!.matchAll(/\*\*(.+?)\*\*/g)].map(([, name]) => name!),
      )
      const own = Object.keys(installed).filter(name => !name.startsWith('@types/'))
      assert.deepEqual(argued.sort(), own.sort())
    }
  })

  test('every path that the docs name exists', () => {
    const pages = [
      ...filesUnder('docs'),
      ...filesUnder('README.md'),
      ...filesUnder('CHANGELOG.md'),
      ...filesUnder('SECURITY.md'),
    ]
    for (const page of pages.filter(file => file.endsWith('.md')))
      for (const [, path] of readFileSync(join(root, page), 'utf8').matchAll(
        /[`(]((?:daemon|cli|bin|data|docs|test)\/[\w./-]+?)[`)#:]/g,
      ))
        if (!/^data\/store\b/.test(path!))
          assert.ok(existsSync(join(root, path!)), `${page} names ${path}, which does not exist`)
  })
})
