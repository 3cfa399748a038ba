// The floor plan of the design: who may import whom.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, test } from 'node:test'
import { root, type Source, sources } from '../support/sources.ts'

interface Room {
  /** Files of the room begin like this; the first room that fits is the file's own. */
  readonly at: RegExp
  /** Files of the project it may use, besides its own. */
  readonly uses: readonly RegExp[]
  /** Files of which it may use the types only. */
  readonly types?: readonly RegExp[]
  /** Files it may load by `import()` only. */
  readonly later?: readonly RegExp[]
  readonly packages: readonly string[]
  readonly packagesLater?: readonly string[]
}

const node = 'node:'

/** A row of the table of rooms in docs/architecture.md. */
interface Row {
  readonly names: readonly string[]
  readonly uses: readonly string[]
  readonly types: readonly string[]
  readonly packages: readonly string[]
  readonly packagesLater: readonly string[]
}

const rows = readRows(readFileSync(join(root, 'docs/architecture.md'), 'utf8'))

function readRows(page: string): Row[] {
  const codes = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)
  const [, table] = /\| Room \| Holds .*\n\|[-|]+\n((?:\|.*\n)+)/.exec(page)!
  return table!
    .trim()
    .split('\n')
    .map(line => line.split(' | ').map(cell => cell.replace(/^\| | \|$/g, '')))
    .filter(([names]) => names!.startsWith('`daemon'))
    .map(([names, , uses, packages]) => {
      const [used, types = ''] = uses!.split('; types of ')
      const [now, later = ''] = packages!.split('by `import()`: ')
      return {
        names: codes(names!),
        uses: codes(used!),
        types: codes(types),
        packages: [...codes(now!), ...(/\bnode\b/.test(now!) ? [node] : [])],
        packagesLater: codes(later),
      }
    })
}

/** `daemon/http` is everything in it; `daemon/engine.ts` is that file. */
function pathsIn(name: string): RegExp {
  return new RegExp(`^${name.replaceAll('.', '\\.')}${name.endsWith('.ts') ? '$' : '/'}`)
}

/** The rules by which queues are followed and bots are run; they reach no server themselves. */
const followingRules = /^daemon\/client\/(following|look-back|bot|repeater)\.ts$/
const local = /^daemon\/local\//
/** Loaded when a subcommand or an option asks for it: start-up must not pay for it. */
const lateRooms =
  /^cli\/(commands\/(?!index\.ts$)|catalogue\/(batch|log)\.ts|print\/(table|measure|terminal|progress|message-lines|log-lines)\.ts|transport\/pool\.ts)/

const rooms: readonly Room[] = [
  ...rows.map(({ names, uses, types, packages, packagesLater }) => ({
    at: new RegExp(names.map(name => pathsIn(name).source).join('|')),
    uses: uses.map(pathsIn),
    types: types.map(pathsIn),
    packages,
    packagesLater,
  })),
  {
    at: lateRooms,
    uses: [/^daemon\/api\//, followingRules, local, /^cli\//],
    later: [/^daemon\/((maintenance|client|mcp)\/index|maintenance\/backup|cluster\/restore)\.ts$/],
    packages: ['commander', 'string-width', 'wrap-ansi', 'sucrase', node],
    packagesLater: ['chalk', 'undici', 'yaml'],
  },
  {
    at: /^cli\//,
    uses: [/^daemon\/api\//, local],
    later: [lateRooms],
    packages: ['commander', node],
    packagesLater: ['chalk', 'undici', 'jq-wasm'],
  },
]

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
    const allowed = form === 'later' ? [...room.packages, ...(room.packagesLater ?? [])] : room.packages
    if (allowed.some(name => target === name || target.startsWith(name === node ? node : `${name}/`))) return undefined
    if (form === 'type' && room.packagesLater?.includes(target)) return undefined
    return room.packagesLater?.includes(target)
      ? `${path} may use ${target} by import() only`
      : `${path} may not use ${target}`
  }
  const file = posix.join(posix.dirname(path), target)
  if (!existsSync(join(root, file))) return `${path} uses ${file}, which does not exist`
  const matches = (patterns: readonly RegExp[] = []) => patterns.some(pattern => pattern.test(file))
  if (matches(room.later)) return form === 'value' ? `${path} may use ${file} by import() only` : undefined
  if (room.at.test(file) && roomOf(file) === room) return undefined
  if (matches(room.uses)) return undefined
  if (matches(room.types)) return form === 'type' ? undefined : `${path} may use the types of ${file} only`
  return `${path} may not use ${file}`
}

type Layers = readonly (readonly [name: string, at: RegExp])[]

/** The domain from bottom to top. A file imports from its own layer and from those below. */
const domainLayers: Layers = [
  ['refusals and limits', /^daemon\/domain\/(refusal|limits|written)\.ts$/],
  ['single values', /^daemon\/domain\/values\//],
  ['the model', /^daemon\/domain\/model\//],
  ['facts and resources', /^daemon\/domain\/(facts|resource)\.ts$/],
  ['the rules', /^daemon\/domain\/rules\//],
  ['narrow and markdown', /^daemon\/domain\/(narrow|markdown)\//],
  ['the subjects', /^daemon\/domain\/(messages|channels|people|bots|organization|files|events)\//],
  ['the table of contents, and what goes over all subjects', /^daemon\/domain\/(index\.ts$|difference\/|row-checks\/)/],
]

/** The same for the command line. */
const cliLayers: Layers = [
  ['base', /^cli\/base\//],
  ['transport', /^cli\/transport\//],
  ['input and print', /^cli\/(input|print)\//],
  ['catalogue', /^cli\/catalogue\//],
  ['subcommands', /^cli\/commands\/(?!index\.ts$)/],
  ['the table of subcommands', /^cli\/commands\/index\.ts$/],
  ['the program', /^cli\/(program|main)\.ts$/],
]

function upwardImports(source: Source, layers: Layers): string[] {
  const layerOf = (path: string) => layers.findIndex(([, at]) => at.test(path))
  const layer = layerOf(source.path)
  if (layer < 0) return [`${source.path} is in no layer`]
  return importsOf(source).flatMap(({ target }) => {
    if (!target.startsWith('.')) return []
    const file = posix.join(posix.dirname(source.path), target)
    const above = layerOf(file)
    return above > layer
      ? [`${source.path} may not use ${file}: ${layers[layer]![0]} may not use ${layers[above]![0]}`]
      : []
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
  return rooms.find(({ at }) => at.test(path))
}

const own = sources('daemon', 'cli', 'test', 'docs', 'bin', 'build.ts')

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

  test('the table of rooms names every folder and loose file of daemon, and each room once', () => {
    const names = rows.flatMap(row => row.names)
    assert.deepEqual(
      names.toSorted(),
      readdirSync(join(root, 'daemon'))
        .map(entry => `daemon/${entry}`)
        .toSorted(),
    )
    const loose = names.filter(name => name.endsWith('.ts'))
    assert.ok(loose.length <= 8, `${loose.length} loose files in daemon: ${loose.join(', ')}`)
  })

  test('a room may import only rooms above it in the table', () => {
    const above = new Set(['data', 'daemon'])
    for (const { names, uses, types } of rows) {
      for (const used of [...uses, ...types]) assert.ok(above.has(used), `${names.join(', ')} may not use ${used}`)
      for (const name of names) above.add(name)
    }
  })

  test('what is pure, or runs in a browser, reaches nothing of Node', () => {
    const byPath = new Map(own.map(source => [source.path, source]))
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

  test('the domain and the command line import downward only', () => {
    const upward = (folder: string, layers: Layers) =>
      own.filter(({ path }) => path.startsWith(folder)).flatMap(source => upwardImports(source, layers))
    assert.deepEqual(upward('daemon/domain/', domainLayers), [])
    assert.deepEqual(upward('cli/', cliLayers), [])
    const code = "import type { State } from '../model/state.ts'\nimport type { Reader } from '../messages/reader.ts'"
    assert.deepEqual(upwardImports({ path: 'daemon/domain/rules/messages.ts', text: code, code }, domainLayers), [
      'daemon/domain/rules/messages.ts may not use daemon/domain/messages/reader.ts: the rules may not use the subjects',
    ])
    assert.deepEqual(upwardImports({ path: 'daemon/domain/new/file.ts', text: '', code: '' }, domainLayers), [
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
    assert.deepEqual(sample('cli/main.ts', "import chalk from 'chalk'"), ['cli/main.ts may use chalk by import() only'])
    assert.deepEqual(sample('cli/main.ts', "export * from '../daemon/engine.ts'"), [
      'cli/main.ts may not use daemon/engine.ts',
    ])
  })
})
