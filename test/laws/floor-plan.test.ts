// The floor plan: every import is one that the tables of docs/architecture.md allow.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, test } from 'node:test'
import { root, type Source, sources } from '../support/sources.ts'

const node = 'node:'

/** A row of the table of rooms in docs/architecture.md. */
interface Room {
  /** Folders and files that it consists of. */
  readonly names: readonly string[]
  readonly isLate: boolean
  /** Rooms that it may use. */
  readonly uses: readonly string[]
  /** Rooms that it may load by `import()` only. */
  readonly later: readonly string[]
  /** Rooms of which it may use the types only. */
  readonly types: readonly string[]
  readonly packages: readonly string[]
  readonly packagesLater: readonly string[]
}

const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
const rooms: readonly Room[] = readTable('| Room | Holds ')
  .filter(([names]) => /^`(?:daemon|cli)\b/.test(names!))
  .map(([names, holds, uses, packages]) => {
    const parts = uses!.split('; ')
    const part = (start: string) => codesIn(parts.find(text => text.startsWith(start))?.slice(start.length) ?? '')
    const [now, later = ''] = packages!.split('by `import()`: ')
    return {
      names: codesIn(names!),
      isLate: holds!.includes('loaded late'),
      uses: codesIn(parts[0]!.startsWith('types of ') ? '' : parts[0]!),
      later: part('by `import()`: '),
      types: part('types of '),
      packages: [...codesIn(now!), ...(/\bnode\b/.test(now!) ? [node] : [])],
      packagesLater: codesIn(later),
    }
  })

/** Layers of the domain, from bottom to top. A file imports from its own layer and from those below. */
const layers: readonly (readonly string[])[] = readTable('| Layer | Holds ')
  .map(([names]) => codesIn(names!).map(name => (name.startsWith('daemon/') ? name : `daemon/domain/${name}`)))
  .toReversed()

/** The cells of the table with this head. */
function readTable(head: string): string[][] {
  const lines = page.slice(page.indexOf(head)).split('\n')
  const end = lines.findIndex(line => !line.startsWith('|'))
  return lines.slice(2, end).map(line => line.split(' | ').map(cell => cell.replace(/^\| | \|$/g, '')))
}

function codesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)
}

/** `daemon/http` is everything in it; `daemon/engine.ts` is that file. */
function isIn(file: string, names: readonly string[]): boolean {
  return names.some(name => file === name || file.startsWith(`${name}/`))
}

interface Import {
  readonly target: string
  readonly form: 'value' | 'type' | 'later'
}

const statement = /^(?:import|export)\s+(type\s)?([^;'"]*?\bfrom\s+)?'([^']+)'/gm
const call = /\bimport\(\s*'([^']+)'\s*\)/g

function importsOf({ code }: Source): Import[] {
  const found: Import[] = []
  for (const [, type, names = '', target] of code.matchAll(statement))
    found.push({ target: target!, form: type || onlyTypes(names) ? 'type' : 'value' })
  for (const [, target] of code.matchAll(call)) found.push({ target: target!, form: 'later' })
  return found
}

/** `{ type A, type B } from`: nothing is left of it at run time. */
function onlyTypes(names: string): boolean {
  const inside = /^\{([^}]*)\}\s*from/.exec(names)?.[1]
  return inside?.split(',').every(name => /^\s*(type\s|$)/.test(name)) ?? false
}

function problem(source: Source, room: Room, { target, form }: Import): string | undefined {
  const { path } = source
  if (!target.startsWith('.')) {
    const allowed = form === 'later' ? [...room.packages, ...room.packagesLater] : room.packages
    if (allowed.some(name => target === name || target.startsWith(name === node ? node : `${name}/`))) return undefined
    if (form === 'type' && room.packagesLater.includes(target)) return undefined
    return room.packagesLater.includes(target)
      ? `${path} may use ${target} by import() only`
      : `${path} may not use ${target}`
  }
  const file = posix.join(posix.dirname(path), target)
  if (!existsSync(join(root, file))) return `${path} uses ${file}, which does not exist`
  if (isIn(file, room.names) || isIn(file, room.uses)) return undefined
  if (isIn(file, room.later)) return form === 'value' ? `${path} may use ${file} by import() only` : undefined
  if (isIn(file, room.types)) return form === 'type' ? undefined : `${path} may use the types of ${file} only`
  return `${path} may not use ${file}`
}

function upwardImports(source: Source): string[] {
  const layerOf = (path: string) => layers.findIndex(names => isIn(path, names))
  const layer = layerOf(source.path)
  if (layer < 0) return [`${source.path} is in no layer`]
  return importsOf(source).flatMap(({ target }) => {
    if (!target.startsWith('.')) return []
    const file = posix.join(posix.dirname(source.path), target)
    return layerOf(file) > layer ? [`${source.path} may not use ${file}, which is in a layer above`] : []
  })
}

/** Circles of imports, those of types included, each once. */
function circles(files: readonly Source[]): string[] {
  const imports = new Map(files.map(source => [source.path, importsOf(source)]))
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, way: readonly string[]): void => {
    if (!imports.has(path)) return
    if (way.includes(path)) found.push([...way.slice(way.indexOf(path)), path].join(' -> '))
    if (way.includes(path) || done.has(path)) return
    for (const { target } of imports.get(path)!)
      if (target.startsWith('.')) visit(posix.join(posix.dirname(path), target), [...way, path])
    done.add(path)
  }
  for (const path of imports.keys()) visit(path, [])
  return found
}

function roomOf(path: string): Room | undefined {
  return rooms.find(({ names }) => isIn(path, names))
}

const own = sources('daemon', 'cli', 'test', 'docs', 'bin', 'build.ts')
const byPath = new Map(own.map(source => [source.path, source]))

describe('the floor plan', () => {
  test('every import stays within what its room may use', () => {
    const problems = own.flatMap(source => {
      const room = roomOf(source.path)
      if (!room && /^(daemon|cli)\//.test(source.path)) return [`${source.path} is in no room`]
      return room
        ? importsOf(source)
            .map(found => problem(source, room, found))
            .filter(Boolean)
        : []
    })
    assert.deepEqual(problems, [])
  })

  test('the table of rooms names every folder and loose file of daemon and cli, and each once', () => {
    const names = rooms.flatMap(room => room.names)
    const entries = ['daemon', 'cli'].flatMap(folder =>
      readdirSync(join(root, folder)).map(entry => `${folder}/${entry}`),
    )
    assert.deepEqual(names.toSorted(), entries.toSorted())
    const loose = names.filter(name => /^daemon\/.*\.ts$/.test(name))
    assert.ok(loose.length <= 8, `${loose.length} loose files in daemon: ${loose.join(', ')}`)
  })

  test('a room may import only rooms above it in the table', () => {
    const above = new Set(['data', 'daemon', 'cli'])
    for (const { names, uses, later, types } of rooms) {
      for (const used of [...uses, ...later, ...types])
        assert.ok(above.has(used), `${names.join(', ')} may not use ${used}`)
      for (const name of names) above.add(name)
    }
  })

  test('what is pure, or runs in a browser, reaches nothing of Node', () => {
    const reached = new Set<string>()
    const visit = (path: string, from: string): void => {
      const source = byPath.get(path)
      if (!source || reached.has(path)) return
      reached.add(path)
      for (const { target, form } of importsOf(source)) {
        assert.ok(form === 'type' || !target.startsWith(node), `${from} reaches ${target} through ${path}`)
        if (form !== 'type' && target.startsWith('.')) visit(posix.join(posix.dirname(path), target), from)
      }
    }
    for (const { path } of own) if (/^daemon\/(api|domain|events|client|inspector)\//.test(path)) visit(path, path)
    assert.ok(reached.size > 300, `${reached.size} files`)
  })

  test('the start and a call of the command line reach nothing that is loaded late', () => {
    const late = rooms.filter(room => room.isLate).flatMap(room => room.names)
    assert.ok(late.includes('cli/commands'))
    const reached = new Set<string>()
    const visit = (path: string, from: string): void => {
      assert.ok(!isIn(path, late), `${from} may use ${path} by import() only: every call would load it`)
      const source = byPath.get(path)
      if (!source || reached.has(path)) return
      reached.add(path)
      for (const { target, form } of importsOf(source))
        if (form === 'value' && target.startsWith('.')) visit(posix.join(posix.dirname(path), target), path)
    }
    for (const path of ['cli/main.ts', 'cli/catalogue/call.ts']) visit(path, path)
    assert.ok(reached.size > 30, `${reached.size} files`)
  })

  test('the domain imports downward only', () => {
    const upward = own.filter(({ path }) => path.startsWith('daemon/domain/')).flatMap(source => upwardImports(source))
    assert.deepEqual(upward, [])
    const code = "import type { State } from '../model/state.ts'\nimport type { Reader } from '../messages/reader.ts'"
    assert.deepEqual(upwardImports({ path: 'daemon/domain/rules/messages.ts', text: code, code }), [
      'daemon/domain/rules/messages.ts may not use daemon/domain/messages/reader.ts, which is in a layer above',
    ])
    assert.deepEqual(upwardImports({ path: 'daemon/domain/new/file.ts', text: '', code: '' }), [
      'daemon/domain/new/file.ts is in no layer',
    ])
  })

  test('no imports run in a circle, those of types included', () => {
    assert.deepEqual(circles(own), [])
    const file = (path: string, code: string) => ({ path, text: code, code })
    const a = file('daemon/a.ts', "import { b } from './b.ts'")
    for (const back of [
      "import { a } from './a.ts'",
      "import type { A } from './a.ts'",
      "export { a } from './a.ts'",
      "await import('./a.ts')",
    ])
      assert.deepEqual(circles([a, file('daemon/b.ts', back)]), ['daemon/a.ts -> daemon/b.ts -> daemon/a.ts'])
    const far = [file('daemon/b.ts', "import './c.ts'"), file('daemon/c.ts', "import {\n  type A,\n} from './a.ts'")]
    assert.deepEqual(circles([a, ...far]), ['daemon/a.ts -> daemon/b.ts -> daemon/c.ts -> daemon/a.ts'])
    assert.deepEqual(circles([a, file('daemon/b.ts', "import type { C } from './c.ts'")]), [])
  })

  test('the law sees what it looks for', () => {
    const sample = (path: string, code: string) =>
      importsOf({ path, text: code, code }).map(found => problem({ path, text: code, code }, roomOf(path)!, found))
    assert.deepEqual(sample('daemon/domain/messages/typing.ts', "import { x } from 'node:fs'"), [
      'daemon/domain/messages/typing.ts may not use node:fs',
    ])
    assert.deepEqual(sample('daemon/api/x.ts', "const a = await import('../engine.ts')"), [
      'daemon/api/x.ts may not use daemon/engine.ts',
    ])
    assert.deepEqual(sample('daemon/events/x.ts', "import { type A, b } from '../domain/model/state.ts'"), [
      'daemon/events/x.ts may use the types of daemon/domain/model/state.ts only',
    ])
    assert.deepEqual(sample('daemon/events/x.ts', "import {\n  type A,\n} from '../domain/model/state.ts'"), [
      undefined,
    ])
    assert.deepEqual(sample('cli/terminal/x.ts', "import chalk from 'chalk'"), [
      'cli/terminal/x.ts may use chalk by import() only',
    ])
    assert.deepEqual(sample('cli/main.ts', "export * from '../daemon/engine.ts'"), [
      'cli/main.ts may not use daemon/engine.ts',
    ])
  })
})
