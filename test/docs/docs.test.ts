// The docs are true: generated pages are fresh, OpenAPI hangs together, and what people wrote by hand names what exists.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { reference } from '../../cli/catalogue/reference.ts'
import { subcommandTable } from '../../cli/command-table.ts'
import { endpointAt } from '../../daemon/api/levels/endpoint-at.ts'
import { defaultLevel, newestLevel } from '../../daemon/api/levels/releases.ts'
import { openApi } from '../../daemon/api/openapi.ts'
import { decode } from '../../daemon/api/wire.ts'
import { resources as served } from '../../daemon/domain/index.ts'
import { entryLine, headerLine } from '../../daemon/journal/segment-format.ts'
import { anchor } from '../../docs/generate/markdown.ts'
import { sampleCall } from '../../docs/generate/samples.ts'
import { loadCatalogue, root } from '../../docs/generate/sources.ts'
import { generate, stalePages } from '../../docs/generate.ts'

const pages = await generate()
const catalogue = await loadCatalogue()
const endpoints = catalogue.flatMap(resource => resource.endpoints)
const manifest = JSON.parse(read('package.json')) as {
  version: string
  scripts: Record<string, string>
  engines: { node: string }
}
const written = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...pagesIn('docs'),
  ...pagesIn('docs/decisions'),
]
const all = [...written, ...pagesIn('docs/generated')]

describe('generated docs', () => {
  test('are what the code says now', () => {
    assert.deepEqual(stalePages(pages), [], 'stale: run `npm run docs` and commit')
  })

  test('come out the same twice', async () => {
    assert.deepEqual([...(await generate())], [...pages])
  })

  test('have a place for every endpoint', () => {
    for (const { id, method, path, cli } of endpoints) {
      assert.ok(pages.get('api.md')!.includes(`\n### ${method} ${path}\n`), `api.md lacks ${id}`)
      assert.ok(pages.get('cli.md')!.includes(`\n## natter ${cli.name}\n`), `cli.md lacks ${id}`)
    }
  })

  test('describe exactly what is served', () => {
    const routed = served.flatMap(resource => Object.values(resource.api).map(({ id }) => id))
    assert.deepEqual(endpoints.map(({ id }) => id).sort(), routed.sort())
  })

  test('call with parameters that the catalogue accepts', () => {
    for (const endpoint of endpoints) {
      const { fields } = sampleCall(endpoint)
      const path = Object.entries(endpoint.params).filter(([, { presence }]) => presence === 'path')
      const decoded = decode(endpoint, Object.fromEntries(path.map(([name]) => [name, '1'])), fields)
      assert.ok('params' in decoded, `${endpoint.id}: ${JSON.stringify(decoded)}`)
    }
  })
})

/** The default level, two releases, and levels between them. */
const levels = [defaultLevel, 421, 443, 474, 498, newestLevel]

test('openapi.json is that of the default level', () => {
  assert.deepEqual(JSON.parse(pages.get('openapi.json')!), JSON.parse(JSON.stringify(openApi(catalogue, defaultLevel))))
})

for (const level of levels)
  describe(`OpenAPI of level ${level}`, () => {
    const text = JSON.stringify(openApi(catalogue, level))
    const document = JSON.parse(text)
    const operations = Object.entries<Record<string, any>>(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )

    test('names the level', () => assert.equal(document.info.version, String(level)))

    test('every field that an object needs is one that it describes', () => {
      for (const { required = [], properties } of objectsIn(document))
        for (const name of required) assert.ok(properties[name], `${name} of ${Object.keys(properties)}`)
    })

    test('every reference leads somewhere', () => {
      for (const reference of references(document)) {
        assert.match(reference, /^#\//)
        const target = reference
          .slice(2)
          .split('/')
          .reduce<any>((at, step) => at?.[step], document)
        assert.ok(target, `${reference} leads nowhere`)
      }
    })

    test('every operation has an ID of its own, a known tag, known security and a reply', () => {
      const ids = operations.map(({ operation }) => operation.operationId)
      assert.equal(new Set(ids).size, ids.length)
      const tags = document.tags.map((tag: { name: string }) => tag.name)
      for (const { operation } of operations) {
        for (const tag of operation.tags) assert.ok(tags.includes(tag), tag)
        for (const scheme of operation.security.flatMap(Object.keys))
          assert.ok(document.components.securitySchemes[scheme], scheme)
        assert.ok(operation.responses[200].content['application/json'].schema, operation.operationId)
        assert.ok(operation.responses.default)
      }
    })

    test('every endpoint of the level is there under its method and path, with its params and no others', () => {
      assert.deepEqual(namesIn(document), namesAt(level))
      for (const endpoint of endpoints.flatMap(one => endpointAt(one, level) ?? [])) {
        const operation = operations.find(({ operation }) => operation.operationId === endpoint.id)?.operation
        if (operation) assert.deepEqual(paramsIn(operation), Object.keys(endpoint.params).sort(), endpoint.id)
      }
    })

    test('parameters are declared once, those of the path are required, and each has one schema', () => {
      for (const { path, operation } of operations) {
        const parameters: Record<string, any>[] = operation.parameters ?? []
        const names = parameters.map(parameter => `${parameter.in} ${parameter.name}`)
        assert.equal(new Set(names).size, names.length)
        for (const [, name] of path.matchAll(/\{(\w+)\}/g))
          assert.ok(names.includes(`path ${name}`), `${path}: ${name}`)
        for (const parameter of parameters) {
          if (parameter.in === 'path') assert.ok(parameter.required && path.includes(`{${parameter.name}}`))
          assert.equal(Number('schema' in parameter) + Number('content' in parameter), 1)
        }
      }
    })

    test('bodies are forms, and every field they need or encode is one they have', () => {
      for (const { operation } of operations)
        for (const [type, body] of Object.entries<any>(operation.requestBody?.content ?? {})) {
          assert.match(type, /^(application\/x-www-form-urlencoded|multipart\/form-data)$/)
          for (const name of [...(body.schema.required ?? []), ...Object.keys(body.encoding ?? {})])
            assert.ok(body.schema.properties[name], `${operation.operationId}: ${name}`)
        }
    })

    test('nothing of the inner form of shapes is left', () => {
      for (const word of ['"ref":', '"patternProperties":', '"format":"binary"', '"since":', '"until":', '"earlier":'])
        assert.ok(!text.includes(word), word)
    })
  })

describe('README', () => {
  const readme = read('README.md')

  test('its two commands are single lines that do all the set-up', () => {
    const commands = shellLines(readme).filter(line => line.startsWith('npm '))
    assert.deepEqual(commands, ['npm ci && npm start', 'npm cit'])
    for (const script of ['dependencies', 'start', 'test']) assert.ok(manifest.scripts[script], script)
    // npm ci runs it in a clone. For a tarball with prepare, npm warns at its installation.
    assert.equal(manifest.scripts.dependencies, 'npm run build')
    assert.match(manifest.scripts.start!, /bin\/natterd --data data\/store$/)
  })

  test('.ci/run ends with its test command and a part of it on a second Node, and runs no other npm, node or test command', () => {
    const lines = read('.ci/run').trimEnd().split('\n')
    assert.deepEqual(lines.slice(-2), ['npm cit', '.ci/second-node'])
    for (const line of lines.slice(0, -2)) assert.doesNotMatch(line.replace(/#.*/, ''), /\b(?:npm|npx|node|tsx)\b/)
  })

  test('it asks for the Node that package.json asks for', () => {
    assert.equal(manifest.engines.node, `>=${/Node (\d+\.\d+)/.exec(readme)?.[1]}`)
  })

  test('it names the tarball of the version of package.json, and so does every page', () => {
    for (const page of ['README.md', ...pagesIn('docs')])
      for (const [name] of read(page).matchAll(/natter-\d+\.\d+\.\d+\.tgz/g))
        assert.equal(name, `natter-${manifest.version}.tgz`, page)
  })
})

test('the index of the docs lists every page', () => {
  const index = read('docs/README.md')
  // Pictures are shown by their pages.
  const generated = [...pages.keys()].filter(name => !name.endsWith('.svg')).map(name => join('docs/generated', name))
  for (const page of [...pagesIn('docs'), ...generated])
    if (page !== 'docs/README.md') assert.ok(index.includes(`](${page.replace('docs/', '')})`), page)
})

describe('docs written by hand', () => {
  test('every path they name exists', () => {
    for (const page of all)
      for (const path of pathsIn(read(page)))
        assert.ok(existsSync(join(root, path)), `${page} names ${path}, which does not exist`)
  })

  test('every link leads to a file, and to a heading in it', () => {
    for (const page of all)
      for (const [, file, heading] of withoutCode(read(page)).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)) {
        const target = file === '' ? page : join(dirname(page), file!)
        assert.ok(existsSync(join(root, target)), `${page} links to ${target}, which does not exist`)
        if (heading) assert.ok(headingsOf(target).has(heading), `${page}: no heading #${heading} in ${target}`)
      }
  })

  test('every npm script they name exists', () => {
    for (const page of written)
      for (const [, script] of read(page).matchAll(/npm run ([\w-]+)/g))
        assert.ok(manifest.scripts[script!], `${page} names npm run ${script}`)
  })

  test('every subcommand they show exists', async () => {
    const known = [...(await reference(subcommandTable)).map(({ name }) => name), 'help']
    for (const page of written)
      for (const line of [...shellLines(read(page)), ...codeSpans(read(page))])
        if (/^natter [a-z]/.test(line))
          assert.ok(
            known.some(name => `${line} `.startsWith(`natter ${name} `)),
            `${page} shows \`${line}\``,
          )
  })

  test('the journal of the architecture page is one that the journal would write', () => {
    const lines = read('docs/architecture.md').split('\n')
    const header = lines.indexOf(headerLine(0).trimEnd())
    assert.ok(header > 0, 'no header line is shown')
    const { position, ...entry } = JSON.parse(lines[header + 1]!)
    assert.equal(`${lines[header + 1]}\n`, entryLine(position, entry))
  })

  test('decisions are numbered without gaps and say context, decision and consequence', () => {
    for (const [index, page] of pagesIn('docs/decisions').entries()) {
      const number = String(index + 1).padStart(4, '0')
      assert.ok(page.startsWith(`docs/decisions/${number}-`), page)
      assert.ok(read(page).startsWith(`# ${number} `), page)
      assert.deepEqual(read(page).match(/^## .*$/gm), ['## Context', '## Decision', '## Consequence'], page)
    }
  })
})

function namesIn(document: Record<string, any>): string[] {
  return Object.entries<Record<string, any>>(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method} ${path}`),
    )
    .sort()
}

function paramsIn({ parameters = [], requestBody }: Record<string, any>): string[] {
  const forms = Object.values<any>(requestBody?.content ?? {})
  const fields = forms.flatMap(({ schema }) => Object.keys(schema.properties))
  return [...parameters.map(({ name }: { name: string }) => name), ...fields].sort()
}

/** Schemas of objects, at any depth. */
function objectsIn(value: unknown): Record<string, any>[] {
  if (typeof value !== 'object' || value === null) return []
  const inside = Object.values(value).flatMap(objectsIn)
  return 'properties' in value && !Array.isArray(value) ? [value, ...inside] : inside
}

function namesAt(level: number): string[] {
  return endpoints
    .filter(endpoint => endpoint.served !== 'outgoing' && endpointAt(endpoint, level))
    .map(({ id, method, path }) => `${id} ${method.toLowerCase()} ${path.replace('...}', '}')}`)
    .sort()
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function pagesIn(folder: string): string[] {
  return readdirSync(join(root, folder))
    .filter(name => name.endsWith('.md'))
    .sort()
    .map(name => `${folder}/${name}`)
}

/** Everything outside of code blocks. */
function prose(text: string): string {
  return text.replace(/^```.*?^```$/gms, '')
}

/** Brackets in code are no link. */
function withoutCode(text: string): string {
  return prose(text).replace(/`[^`\n]+`/g, '')
}

function codeSpans(text: string): string[] {
  return [...prose(text).matchAll(/`([^`\n]+)`/g)].map(found => found[1]!)
}

function shellLines(text: string): string[] {
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(found => found[1]!.trimEnd().split('\n'))
}

/** What begins with a folder of ours; what a build or a run makes need not be there. */
function pathsIn(text: string): string[] {
  return codeSpans(text).filter(
    span => /^(\.ci|bin|cli|daemon|data|docs|test)\/[\w./-]+$/.test(span) && !/^data\/store\b/.test(span),
  )
}

/** Read once for each page: thousands of links lead to the reference. */
const knownHeadings = new Map<string, ReadonlySet<string>>()

function headingsOf(page: string): ReadonlySet<string> {
  let found = knownHeadings.get(page)
  if (!found) {
    found = new Set([...prose(read(page)).matchAll(/^#+ (.*)$/gm)].map(([, title]) => anchor(title!)))
    knownHeadings.set(page, found)
  }
  return found
}

function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, part]) =>
    key === '$ref' && typeof part === 'string' ? [part] : references(part),
  )
}
