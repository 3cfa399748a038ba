// Bundles the daemon and the command line into dist/, one CommonJS file each, and gives each a V8 code cache:
// start-up time is a feature, and most of it is compiling JavaScript.

import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

const bundles = ['natterd', 'natter']

for (const bundle of bundles) rmSync(`dist/${bundle}.cjs.cache`, { force: true })
await build({
  entryPoints: { natterd: 'daemon/main.ts', natter: 'cli/main.ts' },
  outdir: 'dist',
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20.19',
  // Identifiers stay as they are: kept names over shortened ones cost a call for every function made at run time.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  // Wrapped here and not when it is run: joining strings of this size would keep each of them in memory.
  banner: { js: '(function (exports, require, module, __filename, __dirname) {' },
  footer: { js: '})' },
  // Loaded when first needed, if ever: what is in the bundle is in memory from the start. (jq-wasm also finds its .wasm
  // beside itself.)
  external: [
    'jq-wasm',
    'nodemailer',
    'undici',
    '@fastify/ajv-compiler',
    '@fastify/fast-json-stringify-compiler',
    'light-my-request',
  ],
  define: { NATTER_VERSION: JSON.stringify(version), 'import.meta.url': '"file:///"' },
  // A lazily imported module becomes a lazily run function of the bundle instead of a file of its own.
  supported: { 'dynamic-import': false },
  logLevel: 'warning',
})

// esbuild leaves regular expressions as they are; one character beyond ASCII would double the memory of the whole text.
for (const bundle of bundles) {
  const file = `dist/${bundle}.cjs`
  const ascii = readFileSync(file, 'utf8').replace(
    /[^\0-\x7f]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  writeFileSync(file, ascii)
}

// The cache is made by a real run, so that it holds what a real run compiles.
for (const [bundle, args] of [
  ['natterd', ['--memory', '--port', '0', '--no-profile', '--json']],
  // Refused on purpose: it compiles the flags, a page of the catalogue and the client, which --help never loads.
  ['natter', ['users', 'me', '--site', 'http://127.0.0.1:1', '--user', 'a@example.com', '--api-key', 'k']],
] as const) {
  const run = spawnSync(process.execPath, ['bin/warm.js', bundle, ...args], { encoding: 'utf8', timeout: 60_000 })
  if (run.status !== 0) throw new Error(`${bundle} could not be warmed up: ${run.stderr || run.error?.message}`)
}
