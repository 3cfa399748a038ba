// Checks docs/wording.md as far as a machine can: the form of every refusal, help texts, and the banned phrases everywhere.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { controlPages } from '../../daemon/api/control.ts'
import type { Endpoint } from '../../daemon/api/define.ts'
import * as rules from '../../daemon/domain/rules/index.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { filesUnder, readSource, root, type Source, sources } from '../support/sources.ts'

const page = readFileSync(join(root, 'docs/wording.md'), 'utf8')

/** The first column of the table under this heading. */
const banned = [...page.slice(page.indexOf('## Banned phrases')).matchAll(/^\| ([a-z][^|]*) \| /gm)].map(
  ([, phrase]) => phrase!,
)
const bannedWords = new RegExp(`\\b(?:${banned.join('|')})\\b`, 'i')

/** The longest sentence that a person reads to its end. */
const longest = 160

const endpoints = [
  ...(await catalogueEndpoints()).map(({ endpoint }) => endpoint),
  ...(
    await Promise.all(Object.values(controlPages).map(async page => Object.values<Endpoint>(await page.load())))
  ).flat(),
]

describe('refusals', () => {
  const calls = sources('daemon').flatMap(({ path, code }) =>
    path === 'daemon/domain/refusal.ts' ? [] : refusalsIn(code).map(call => ({ path, ...call })),
  )

  test('are found by this test', () => {
    assert.ok(calls.length > 250, `${calls.length} refusals`)
    const args = ["'to'", '`must be (this)`', '{ y }']
    assert.deepEqual(refusalsIn(`throw invalid(${args.join(', ')})`), [{ name: 'invalid', args }])
  })

  test('about a parameter name one that the catalogue has', () => {
    const known = new Set(endpoints.flatMap(({ params }) => Object.keys(params)))
    for (const { path, name, args } of calls) {
      if (!aboutParameter.has(name)) continue
      const parameter = /^['`](\w+)/.exec(args[0]!)?.[1]
      // Other names are passed in.
      if (parameter !== undefined)
        assert.ok(known.has(parameter), `${path}: ${name}(${args[0]}) is not about a parameter of any endpoint`)
    }
  })

  test('about a parameter go on without a capital and end without a full stop', () => {
    for (const { path, name, args } of calls)
      for (const text of aboutParameter.has(name) ? textsIn(args[1] ?? '') : []) {
        assert.match(text, /^[^A-Z]/, `${path}: ${text}`)
        assert.doesNotMatch(text, /\.$/, `${path}: ${text}`)
      }
  })

  test('about anything else are sentences', () => {
    for (const { path, name, args } of calls)
      for (const text of aboutRequest.has(name) ? textsIn(args[name === 'unauthenticated' ? 1 : 0]!) : [])
        if (!fixed.some(words => text.startsWith(words))) assert.match(text, /^[A-Z].*\.$/s, `${path}: ${text}`)
  })

  test('are short and in plain words', () => {
    for (const { path, args } of calls) for (const text of args.flatMap(textsIn)) checkText(text, path)
  })

  test('of rules speak to the caller, are short and in plain words', () => {
    for (const [name, rule] of Object.entries(rules))
      if (typeof rule === 'object' && 'refusal' in rule) {
        const texts = typeof rule.refusal === 'string' ? [rule.refusal] : textsIn(String(rule.refusal))
        for (const text of texts) checkText(text, name)
        assert.doesNotMatch(rule.law, bannedWords, name)
      }
  })
})

describe('help', () => {
  test('of every endpoint and parameter is short and in plain words', () => {
    for (const { id, summary, params } of endpoints) {
      checkText(summary, id)
      for (const [name, { about }] of Object.entries(params)) assert.doesNotMatch(about, bannedWords, `${id} ${name}`)
    }
  })
})

describe('subcommands', () => {
  test('that change what exists are called edit', () => {
    const names = endpoints.flatMap(({ cli }) => [
      cli.name,
      ...(cli.shortcuts ?? []).map(shortcut => shortcut.cli.name),
    ])
    assert.ok(names.filter(name => / edit\b/.test(name)).length > 15)
    // A clock is set; nothing of it is edited.
    const others = names.filter(name => / (?:update|set|change|modify)\b/.test(name) && name !== 'clock set')
    assert.deepEqual(others, [])
  })
})

describe('the banned phrases', () => {
  test('are read from the page', () => {
    assert.ok(banned.includes('whoever') && banned.length > 10, banned.join(', '))
    assert.match('Whoever reads this', bannedWords)
  })

  test('are in no source, comment, test or page', () => {
    const places = ['bin', 'daemon', 'cli', 'docs', 'test', 'README.md', 'CONTRIBUTING.md']
    const files = places.flatMap(filesUnder).filter(isWritten)
    const found = files.flatMap(file =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .flatMap((line, index) => (bannedWords.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
    )
    assert.deepEqual(found, [])
  })
})

describe('the code of daemon and command line', () => {
  const code = sources('daemon', 'cli')
  const vague = /\b(?:nobody|somebody|anybody|everybody|those who)\b/i
  // Words of the API: a system group, and a value of email_address_visibility.
  const ofApi = /role:nobody|allow_nobody_group|\.nobody\b|\bnobody: |'nobody'|4 nobody|'Nobody'/g

  test('names people instead of saying nobody, somebody, anybody, everybody or those who', () => {
    assert.match('Those who manage a group', vague)
    assert.doesNotMatch("'role:nobody': 6, nobody: true".replaceAll(ofApi, ''), vague)
    assert.deepEqual(
      linesWith(code, line => vague.test(line.replaceAll(ofApi, ''))),
      [],
    )
  })

  test('is tested and documented in the same way: comments and pages name people', () => {
    const pages = ['docs', 'README.md', 'CONTRIBUTING.md', 'SECURITY.md'].flatMap(filesUnder)
    const texts = [...sources('test', 'docs', 'build.ts'), ...pages.filter(isWritten).map(readSource)]
    const isVague = (line: string) => vague.test(line.replaceAll(ofApi, ''))
    const ofCode = (line: string) => /^ *(?:\/\/|\/?\*)/.test(line)
    const found = texts
      .filter(({ path }) => path !== 'docs/wording.md')
      .map(text => linesWith([text], line => (text.path.endsWith('.md') || ofCode(line)) && isVague(line)))
    assert.deepEqual(found.flat(), [])
  })

  test('is tested under titles that say what happens', () => {
    const title = /^\s*(?:test|describe)\(\s*['"`](.*)['"`],/
    const riddle = /\b(?:is|are) none\b|^(?:it )?says so\b|\band not otherwise\b|\bwhoever\b/i
    assert.match('removing what is none is a success', riddle)
    const riddles = linesWith(sources('test'), line => {
      const words = title.exec(line)?.[1]?.replaceAll(ofApi, '') ?? ''
      return riddle.test(words) || (vague.test(words) && !words.startsWith('names people instead of'))
    })
    assert.deepEqual(riddles, [])
  })

  test('begins each file with a statement, not with a question', () => {
    const question = /^\/\/ (?:What|Who|Whom|Whose|Which|How|Why|Where|When)\b/
    assert.deepEqual(
      [...code, ...sources('test')].flatMap(({ path, text }) => (question.test(text) ? [path] : [])),
      [],
    )
  })

  test('has functions whose names begin with a verb, not participles', () => {
    const [vocabulary, refusals] = [
      /^daemon\/(?:api\/define|api\/shapes\/rows|domain\/refusal)\.ts$/,
      /\): Refusal \{$/,
    ]
    const named = /^\s*(?:export )?(?:async )?function\*? ([a-z]\w*ed)[(<]/
    const isParticiple = (line: string) => {
      const name = named.exec(line)?.[1]
      return name !== undefined && !refusals.test(line) && !verbs.has(/^[a-z]+/.exec(name)![0]) && !/Is[A-Z]/.test(name)
    }
    assert.ok(isParticiple('export function composed(mail: Mail): string {'))
    assert.ok(isParticiple('function botAdded(bot: User): Event {'))
    assert.ok(!isParticiple('function isMuted(user: User): boolean {'))
    assert.deepEqual(
      linesWith(
        code.filter(({ path }) => !vocabulary.test(path)),
        isParticiple,
      ),
      [],
    )
  })
})

describe('functions whose names end in Of', () => {
  const start =
    /^( *)(?:export )?(?:const |readonly )?(?:async )?(?:function)?\*? ?#?([a-z]\w*Of)(?:<.*>)?(?:\((?:.*\{)?$| = .*=>|: .*=>)/
  const work =
    /\basync\b|\bfunction\*|\b(?:for|while) \(|\b(?:await|throw|yield)\b|\btry \{|\bnew (?!Date\(\))|\bimport\(|JSON\.|\.(?:map|filter|flatMap|reduce|sort|replace|replaceAll|push|set)\(/
  // In `listOf(shape)` and `neededOneOf(names)` "of" belongs to the noun: they are words for shapes and refusals.
  const words = /^(?:list|terms|either|one|record|object|neededOne|onlyOne|settings|permissions)Of$/

  /** From the line that names the function to the one that closes it. */
  function bodiesIn({
    path,
    code,
  }: Source): { readonly where: string; readonly name: string; readonly body: string[] }[] {
    const lines = code.split('\n')
    return lines.flatMap((line, index) => {
      const [, indent, name] = start.exec(line) ?? []
      if (indent === undefined || name === undefined || words.test(name)) return []
      const end = lines.findIndex(
        (other, at) => at > index && /^ *[}\])]/.test(other) && other.search(/\S/) <= indent.length,
      )
      const body = /(?:[{(]|=>)$/.test(line) ? lines.slice(index, end + 1) : [line]
      return [{ where: `${path}:${index + 1}`, name, body }]
    })
  }

  test('are getters: at most five lines that look something up, and neither build, search nor wait', () => {
    const getters = sources('daemon', 'cli').flatMap(bodiesIn)
    assert.ok(getters.length > 60, `${getters.length} getters`)
    const others = getters.filter(({ body }) => body.length > 7 || body.some(line => work.test(line)))
    assert.deepEqual(
      others.map(({ where, name }) => `${where}: ${name}`),
      [],
    )
  })

  test('are found by this test', () => {
    const samples = [
      'async function textOf() {',
      'export function stateOf(a: A): B {',
      '  #keyOf(row: Row): Key {',
      '  const idOf = (a: A) => a.id',
    ]
    for (const sample of samples) assert.match(sample, start)
    for (const line of [samples[0]!, 'for (const a of b) {', 'return new Map()', 'rows.map(row => row.id)'])
      assert.match(line, work)
  })
})

describe('the command line', () => {
  test('reads no sentence of a server: kinds, codes and parameters decide', () => {
    const reading =
      /\b(?:message|msg)\)?\??\.(?:match|matchAll|search|startsWith|endsWith|includes|indexOf|test)\(|\.(?:test|exec)\([^()]*\b(?:message|msg)\b/
    for (const sample of ['/no such/.test(error.message)', "error.message.startsWith('x')", '/^a/.exec(body.msg)?.[1]'])
      assert.match(sample, reading)
    for (const { path, code } of sources('cli'))
      for (const line of code.split('\n')) assert.doesNotMatch(line, reading, path)
  })
})

/** First words of functions whose names end in -ed: predicates, and verbs with a participle as their object. */
const verbs = new Set(
  'announce are assume build check compare count describe find has is limit list load note omit present print pull put read refuse remove replace run send settle show toggles unpack was'.split(
    ' ',
  ),
)

function linesWith(files: readonly Source[], fits: (line: string) => boolean): string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => (fits(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  )
}

const aboutParameter = new Set(['invalid', 'needed', 'conflict', 'missing', 'missingOwn', 'taken'])
const aboutRequest = new Set(['Refusal', 'malformed', 'unauthenticated'])

/** Words of the public server, which clients may know. */
const fixed = [
  'Invalid API key',
  'Bad event queue ID: ',
  'Internal error (',
  'The path has bad percent-encoding: ',
  'narrow: ',
]

function checkText(text: string, where: string): void {
  assert.doesNotMatch(text, bannedWords, where)
  assert.ok(text.length <= longest, `${where}: ${text.length} characters: ${text}`)
}

function isWritten(file: string): boolean {
  const isAboutWords = file === 'docs/wording.md' || file === 'test/laws/wording.test.ts'
  return /\.(?:tsx?|md)$/.test(file) && !isAboutWords && !/^docs\/(?:generated|decisions)\//.test(file)
}

interface Call {
  readonly name: string
  readonly args: readonly string[]
}

/** Calls of the constructors, with the source of their arguments. */
function refusalsIn(code: string): Call[] {
  const calls =
    /(?:(?<![\w.])(invalid|needed|conflict|missing|missingOwn|taken|malformed|unauthenticated)|new (Refusal))\(/g
  return [...code.matchAll(calls)].map(found => ({
    name: (found[1] ?? found[2])!,
    args: argumentsAt(code, found.index + found[0].length),
  }))
}

/** From after the opening parenthesis to the one that closes it. Strings and templates are skipped as a whole. */
function argumentsAt(code: string, start: number): string[] {
  const args: string[] = []
  let depth = 0
  let from = start
  const literal = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/y
  for (let at = start; at < code.length; at++) {
    literal.lastIndex = at
    const skipped = literal.exec(code)
    if (skipped) {
      at += skipped[0].length - 1
      continue
    }
    const character = code[at]!
    if (')]}'.includes(character) && depth-- === 0)
      return [...args, code.slice(from, at).trim()].filter(arg => arg !== '')
    if ('([{'.includes(character)) depth++
    if (character === ',' && depth === 0) {
      args.push(code.slice(from, at).trim())
      from = at + 1
    }
  }
  throw new Error(`no end of the call at ${code.slice(start, start + 40)}`)
}

/** String literals and templates in a piece of source, as far as they are sentences. */
function textsIn(source: string): string[] {
  return [...source.matchAll(/'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`((?:\\.|[^`\\])*)`/g)]
    .map(([, single, double, template]) => single ?? double ?? template!)
    .filter(text => text.includes(' '))
}
