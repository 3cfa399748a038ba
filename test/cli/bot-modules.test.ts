// The modules of a handler under `natter bot run`: what they may be written in, when they are loaded again, and where an error was.

import assert from 'node:assert/strict'
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { botSuite } from '../support/bots.ts'
import type { Watched } from '../support/cli.ts'
import { until } from '../support/until.ts'

describe('the modules of a handler', () => {
  const { shellOf, write, say, run, answersTo } = botSuite()

  const lines = (bot: Watched) => bot.lines.map(line => JSON.parse(line))
  const replies = (bot: Watched) => lines(bot).flatMap(({ sent }) => sent?.params.content ?? [])
  const reasons = (bot: Watched) => lines(bot).flatMap(({ error }) => error?.reason ?? [])

  for (const [where, type] of [
    ['without a package.json', undefined],
    ['of modules', 'module'],
    ['of CommonJS', 'commonjs'],
  ])
    test(`may await at the top level and use import.meta, in a folder ${where}`, async t => {
      const at = type ?? 'plain'
      if (type) write(`${at}/package.json`, JSON.stringify({ type }))
      write(`${at}/word.mts`, `export const word: string = await Promise.resolve('awaited')`)
      write(`${at}/short.ts`, `export const short = 'short' as const`)
      write(`${at}/data.json`, '{ "inJson": "json" }')
      write(`${at}/old.cts`, `import { basename } from 'node:path'\nexport const old: string = basename('a/old')`)
      const file = write(
        `${at}/bot.ts`,
        `import { word } from './word.mts'
         import { short } from './short'
         import data, { inJson } from './data.json'
         import { old } from './old.cjs'
         import type { Nothing } from './nothing.ts'
         const own: string = await Promise.resolve('own')
         export default (message: Nothing) => [own, word, short, data.inJson, inJson, old, import.meta.${'url'}, __dirname].join()`,
      )
      const lines = await answersTo(t, file, ['go'], '--dry-run')
      const expected = [
        'own,awaited,short,json,json,old',
        pathToFileURL(realpathSync(file)).href,
        realpathSync(dirname(file)),
      ]
      assert.deepEqual(lines.at(-1).sent?.params.content, expected.join(), JSON.stringify(lines))
    })

  test('may await at the top level in JavaScript', async t => {
    const file = write('await.mjs', `const own = await Promise.resolve('own')\nexport default () => own`)
    const lines = await answersTo(t, file, ['go'], '--dry-run')
    assert.equal(lines.at(-1).sent?.params.content, 'own', JSON.stringify(lines))
  })

  test('are refused with a sentence when they await and are required', async t => {
    write('late.ts', 'export const late = await Promise.resolve(1)')
    const file = write('requires.cjs', `const { late } = require('./late.ts')\nmodule.exports = () => late`)
    const { code, stderr } = await shellOf(t).run(['bot', 'run', file, '--as', 'echo-bot'])
    assert.equal(code, 2)
    assert.match(
      stderr,
      /late\.ts uses import\.meta, or await outside of functions: load it with import, not with requi/,
    )
  })

  test('are refused where a name that one imports is exported nowhere, with the name and the file', async t => {
    write('greets.mts', 'export const hi = (text: string) => text')
    write('greets.cjs', 'module.exports = { hi: () => 1 }')
    write('greets.cts', 'module.exports = { hi: () => 1 }')
    for (const [name, text] of [
      ['wrong.mts', `import { hello } from './greets.mts'\nexport default () => hello('a')`],
      ['wrong.ts', `import {\n  hello,\n} from './greets.mts'\nexport default () => hello('a')`],
      ['wrong-of-cjs.ts', `import { hello } from './greets.cjs'\nexport default () => hello('a')`],
      ['wrong-of-cts.ts', `import { hello } from './greets.cts'\nexport default () => hello('a')`],
    ] as const) {
      const { code, stderr } = await shellOf(t).run(['bot', 'run', write(name, text), '--as', 'echo-bot'])
      assert.equal(code, 2, stderr)
      assert.match(stderr, new RegExp(`${name} cannot be loaded: .*'hello'[^]*${name}:\\d`), name)
      assert.match(stderr, /\.\/greets\.[cm]/)
    }
  })

  test('that cannot be parsed are refused with the file and the line that node --check names', async t => {
    const wrong = 'export const a = 1\n\nexport default m => {\n  return m.text +\n}\n'
    write('wrong-deep.mjs', wrong)
    write('wrong-deep.cjs', 'module.exports = {\n  a: 1 +\n}\n')
    for (const [name, text, place] of [
      ['parse.mjs', wrong, 'parse.mjs:5'],
      ['parse.js', wrong, 'parse.js:5'],
      ['parse.cjs', 'module.exports = m => {\n  return m.text +\n}\n', 'parse.cjs:3'],
      ['parse-link.mjs', `import {\n  a b,\n} from './greets.mjs'\nexport default () => a`, 'parse-link.mjs:2'],
      ['parse-twice.ts', `const a: number = 1\nconst a = 2\nexport default () => a`, 'parse-twice.ts:2'],
      ['parse-mjs.mjs', `import a from './wrong-deep.mjs'\nexport default () => a`, 'wrong-deep.mjs:5'],
      ['parse-cjs.mjs', `import a from './wrong-deep.cjs'\nexport default () => a`, 'wrong-deep.cjs:3'],
      ['parse-cjs.cjs', `const a = require('./wrong-deep.cjs')\nmodule.exports = () => a`, 'wrong-deep.cjs:3'],
      ['parse-ts.ts', `import a from './wrong-deep.mjs'\nexport default () => a`, 'wrong-deep.mjs:5'],
    ] as const) {
      const { code, stderr } = await shellOf(t).run(['bot', 'run', write(name, text), '--as', 'echo-bot'])
      assert.equal(code, 2, stderr)
      assert.match(stderr, new RegExp(`${name} cannot be loaded: .+ \\(at .*[/\\\\]${place}\\)$`, 'm'), name)
      assert.doesNotMatch(stderr, /Node\.js/)
    }
  })

  test('are refused where a namespace has code, which would be removed with the types', async t => {
    const namespace = 'export namespace Fmt {\n  export const up = (s: string): string => s.toUpperCase()\n}\n'
    for (const [name, text, place, called] of [
      ['ns.mts', `\n${namespace}export default m => Fmt.up(m.text)`, 'line 2', 'Fmt'],
      ['ns.ts', `module Old.Fmt\n{ function up() {} }\nexport default m => Old.Fmt.up()`, 'line 2', 'Old.Fmt'],
      ['ns.cts', `namespace A { namespace B { class C {} } }\nexport = m => new A.B.C()`, 'line 1', 'A'],
    ] as const) {
      const { code, stderr } = await shellOf(t).run(['bot', 'run', write(name, text), '--as', 'echo-bot'])
      assert.equal(code, 2, stderr)
      assert.match(
        stderr,
        new RegExp(`${name} cannot be loaded: (.*[/\\\\])?${place}: the code in the namespace ${called} would be`),
      )
      assert.match(stderr, /Write an object, such as const (Fmt|Old|A) = \{ … \}, or a module of its own/)
    }
  })

  test('may have namespaces of types, and the word in other places', async t => {
    const file = write(
      'ns-types.mts',
      `declare global { namespace NodeJS { const x: number; interface ProcessEnv { A: string } } }
       declare module 'x' { namespace Y { function f(): void } }
       export declare namespace Q { let y: 1 }
       export namespace T {
         export interface A { const: 1; module: { a: 1 } }
         export type F = <const T>(x: T) => T
         namespace U { type Z = 1 }
       }
       // namespace X { let y = 1 }
       const namespace = 'namespace X { let y = 1 }'
       const module = \`\${namespace} module Y { let y = 1 }\`
       export default (): T.A | string => module`,
    )
    const lines = await answersTo(t, file, ['go'], '--dry-run')
    const expected = 'namespace X { let y = 1 } module Y { let y = 1 }'
    assert.equal(lines.at(-1).sent?.params.content, expected, JSON.stringify(lines))
  })

  test('name the line that cannot be parsed when they are loaded again', async t => {
    const file = write('reparsed.mjs', `export default () => 'fine'`)
    const bot = await run(t, file, '--json', '--dry-run')
    write('reparsed.mjs', 'export default m => {\n  return m.text +\n}\n')
    await bot.said(
      /reparsed\.mjs cannot be loaded: Unexpected token '}' \(at .*reparsed\.mjs:3\); the previous version keeps/,
    )
  })

  test('may pass types on, and import what Node does not see of a module in CommonJS', async t => {
    write('types.ts', 'export type Word = string\nexport const word = 1')
    write('index.ts', `export {\n  Word,\n  word,\n} from './types.ts'`)
    write('made.cjs', `const names = ['made']\nfor (const name of names) module.exports[name] = 2`)
    const file = write(
      'passed.ts',
      `import { type Word, word } from './index.ts'\nimport { made } from './made.cjs'\nexport default (): Word => [word, made].join()`,
    )
    const lines = await answersTo(t, file, ['go'], '--dry-run')
    assert.equal(lines.at(-1).sent?.params.content, '1,2', JSON.stringify(lines))
  })

  test('are all loaded again when one is saved', async t => {
    const parts: Readonly<Record<string, (word: string) => string>> = {
      'part.ts': word => `export const ts: string = '${word}'`,
      'part.mjs': word => `import { deep } from './deep.mjs'\nexport const mjs = '${word}' + deep`,
      'deep.mjs': word => `export const deep = '${word}'`,
      'part.cjs': word => `module.exports = { cjs: '${word}' }`,
      'part.json': word => `{ "json": "${word}" }`,
    }
    for (const [name, text] of Object.entries(parts)) write(name, text('a'))
    const file = write(
      'saved.ts',
      `import { ts } from './part.ts'\nimport { mjs } from './part.mjs'\nimport { cjs } from './part.cjs'\nimport { json } from './part.json'
       export default () => [ts, mjs, cjs, json].join()`,
    )
    const bot = await run(t, file, '--json', '--dry-run')
    let loads = 0
    for (const [name, text] of Object.entries(parts)) {
      write(name, text('saved'))
      loads++
      await until(() => bot.stderr.match(/loaded .*saved\.ts again/g)?.length === loads)
    }
    await say('which')
    await until(() => replies(bot).at(-1) === 'saved,savedsaved,saved,saved')
  })

  test('that cannot be loaded leave no version that runs if the previous one was ended', async t => {
    const file = write('spins.ts', `export default () => {\n  for (;;);\n}`)
    const bot = await run(t, file, '--json', '--dry-run', '--within', '1s')
    await say('spin')
    await until(() => reasons(bot).length === 1)
    write('spins.ts', 'export default (')
    await bot.said(/spins\.ts cannot be loaded: Unexpected.*; no message gets a reply until it can/)
    await say('again')
    await until(() => reasons(bot).length === 2)
    assert.match(reasons(bot)[1], /spins\.ts cannot be loaded: Unexpected/)
    write('spins.ts', `export default () => 'fine'`)
    await bot.said(/loaded .*spins\.ts again/)
  })

  test('are named by an error that one of them throws, with the innermost place', async t => {
    for (const ending of ['ts', 'mjs']) {
      write(
        `deep.${ending}`,
        `export const deep = () => {\n  throw new Error('deep')\n}\nexport const later = () => setTimeout(() => {\n  throw new Error('later')\n}, 10)`,
      )
      const file = write(
        `calls.${ending}`,
        `import { deep, later } from './deep.${ending}'\nexport default ({ text }) => text === 'later' ? void later() : deep()`,
      )
      const bot = await run(t, file, '--json', '--dry-run')
      for (const text of ['deep', 'later']) await say(text)
      await until(() => reasons(bot).length === 2)
      assert.match(reasons(bot)[0], new RegExp(`^deep \\(at .*[/\\\\]deep\\.${ending}:2:\\d+\\)+$`))
      assert.match(reasons(bot)[1], new RegExp(`^later \\(at .*[/\\\\]deep\\.${ending}:5:\\d+\\)+$`))
    }
    write('broken.ts', `const from: number = 1\nthrow new Error('at load')\nexport const x = from`)
    const file = write('loads.ts', `import { x } from './broken.ts'\nexport default () => x`)
    const { stderr } = await shellOf(t).run(['bot', 'run', file, '--as', 'echo-bot'])
    assert.match(stderr, /cannot be loaded: at load \(at .*broken\.ts:2:/)
  })
})
