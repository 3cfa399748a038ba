// The package as others install it: the packed tarball in an empty project, with types, for import and for require.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const project = mkdtempSync(join(tmpdir(), 'natter-package-'))
after(() => rmSync(project, { recursive: true, force: true }))

/** Typed use of both libraries; every line marked is a mistake that the compiler must see. */
const body = `
async function main(): Promise<void> {
  const natter: Natter = await startNatter({ preset: 'dev' })
  const amy = natter.as('amy')
  const name: string = (await amy.users.me()).full_name
  // @ts-expect-error: the title is a text
  const wrong = () => amy.savedSnippets.create({ title: 1, content: 'x' })
  // @ts-expect-error: content is required
  const missing = () => amy.savedSnippets.create({ title: 'x' })
  // @ts-expect-error: there is no such call
  const unknown = () => amy.users.fly()
  const client: Client = createClient({ site: natter.url })
  const { realm_name } = await client.server.settings()
  await natter.stop()
  console.log(name, realm_name, NatterError.name, typeof wrong, typeof missing, typeof unknown)
}
void main()
`

describe('the package', () => {
  test('works from its tarball in an empty project, with types, by import and by require', () => {
    unpack()
    const imports = (how: (names: string, from: string) => string) =>
      `${how('startNatter, type Natter', 'natter/testing')}\n${how('createClient, type Client, NatterError', 'natter/client')}\n`
    writeFileSync(join(project, 'a.mts'), imports((names, from) => `import { ${names} } from '${from}'`) + body)
    writeFileSync(join(project, 'b.cts'), imports((names, from) => `import { ${names} } from '${from}'`) + body)
    const tsc = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project], {
      encoding: 'utf8',
    })
    assert.equal(tsc.status, 0, tsc.stdout)
    for (const file of ['a.mjs', 'b.cjs'])
      assert.equal(
        execFileSync(process.execPath, [join(project, file)], { encoding: 'utf8', timeout: 120_000 }),
        'Amy Adams Dev NatterError function function function\n',
      )
  })

  test('its programs run from there', () => {
    const natter = join(project, 'node_modules/natter/bin/natter')
    assert.match(execFileSync(process.execPath, [natter, '--version'], { encoding: 'utf8' }), /^natter \d/)
  })
})

/** As npm would install it; what it depends on is the copy that is here. */
function unpack(): void {
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', project], {
    cwd: root,
    encoding: 'utf8',
  })
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, 'natter'), { recursive: true })
  const tarball = join(project, packed.trim().split('\n').at(-1)!)
  execFileSync('tar', ['-xzf', tarball, '-C', join(modules, 'natter'), '--strip-components=1'])
  for (const name of ['@sinclair', '@types', 'undici-types'])
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  writeFileSync(join(project, 'package.json'), '{ "name": "empty", "private": true }\n')
  const compilerOptions = {
    module: 'NodeNext',
    target: 'ES2023',
    lib: ['ES2023', 'ESNext.Disposable'],
    strict: true,
    types: ['node'],
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['a.mts', 'b.cts'] }))
}
