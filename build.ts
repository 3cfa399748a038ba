// Bundles the daemon, the command line and the libraries into dist/, one CommonJS file each. The programs get a V8 code
// cache: start-up time is a feature, and most of it is compiling JavaScript. The libraries get types.
// The documentation goes to dist/site, see docs/site/build.ts.
// If nothing has changed since the last build, it does nothing: `npm cit` asks for a build twice.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import * as filePromises from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { digestOf, readIfThere } from './digest.ts'
import { buildSite } from './docs/site/build.ts'

const require = createRequire(import.meta.url)
const { opening, closing, withDigest } = require('./bin/wrap.js') as {
  opening: string
  closing: string
  withDigest(source: string): string
}
const { cached } = require('./bin/code-cache.js') as { cached: readonly string[] }
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

/** `build.ts --without-inspector FOLDER` builds the daemon alone, without its pages: the bench compares the start of both. */
const bare = process.argv[2] === '--without-inspector' ? process.argv[3] : undefined
const root = bare ?? '.'
const dist = `${root}/dist`
const bundles = bare === undefined ? ['natterd', 'natter'] : ['natterd']

/**
 * Line by line, with source maps, so that coverage can be mapped back to the sources; and with empty code caches, because
 * V8 does not count the branches of functions that come from one. Slower; never for a release.
 */
const forCoverage = process.env.NATTER_COVERAGE !== undefined

/** Where the digest of the last build is kept: of all that went into it, and of all that it wrote. */
const record = 'node_modules/.cache/natter-build'
const inputs = [
  'build.ts',
  'digest.ts',
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
  'tsconfig.json',
]
const folders = ['bin', 'cli', 'daemon', 'data/presets', 'data/seed.json', 'docs/cookbook.md']

if (bare !== undefined) cpSync('bin', `${root}/bin`, { recursive: true })
else await buildSite(forCoverage)
if (bare === undefined && readIfThere(record) === digest()) {
  // Tests compare the times of bundles and sources.
  for (const bundle of bundles) utimesSync(`dist/${bundle}.cjs`, new Date(), new Date())
  process.stdout.write('dist is up to date\n')
  process.exit()
}
if (bare === undefined) rmSync(record, { force: true })

mkdirSync(dist, { recursive: true })
for (const name of readdirSync(dist)) if (name.endsWith('.cache')) rmSync(`${dist}/${name}`)

/**
 * Packages that most runs do not need, with the parts that are imported, and who imports them. Each is run when one of its
 * parts is first used.
 */
const usedLate: Readonly<Record<string, { parts: readonly string[]; by: RegExp; modules?: string }>> = {
  // Only patterns of linkifiers and waits need it; it is a bundle of its own.
  re2js: { parts: ['RE2JS'], by: /daemon\/(domain|api)\// },
  // Only texts that have some markup. Its CommonJS form reaches the constants of other packages through slow getters.
  'markdown-it': { parts: ['default'], by: /daemon\/domain\//, modules: 'markdown-it/index.mjs' },
  // Only formulas; it is a bundle of its own.
  katex: { parts: ['default'], by: /daemon\/domain\// },
  // Its rules that decode entities are off; the tables are large.
  entities: { parts: ['decodeHTML', 'decodeHTMLStrict'], by: /node_modules\/markdown-it\// },
  // Only calls with parameters that are not texts; it is a bundle of its own.
  '@sinclair/typebox/compiler': { parts: ['TypeCompiler', 'ValueErrorType'], by: /daemon\/api\// },
  // Only paths with parameters.
  'find-my-way': { parts: ['default'], by: /daemon\/http\// },
  // Only daemons that log something.
  pino: { parts: ['pino'], by: /daemon\/http\// },
  // Only daemons with a store on disk.
  'node:fs/promises': { parts: Object.keys(filePromises).filter(name => name !== 'default'), by: /\/daemon\// },
  // Only a program that runs from its sources: a bundle knows its version.
  'node:module': { parts: ['createRequire'], by: /\/daemon\/local\/version\.ts$/ },
  // Only for subcommands that are programs of their own, and ours are not; and for the lock of a store.
  'node:child_process': { parts: ['spawn'], by: /node_modules\/commander\/|\/daemon\/journal\// },
  // Only for outgoing webhooks.
  'node:dns': { parts: ['lookup'], by: /\/daemon\/io\// },
  // For options that are not set.
  'node:https': { parts: ['createServer'], by: /node_modules\/fastify\/lib\// },
  'node:http2': { parts: ['createServer', 'createSecureServer'], by: /node_modules\/fastify\/lib\// },
  semver: { parts: ['coerce', 'gt', 'satisfies'], by: /node_modules\/fastify\/lib\// },
}
const lazily: Plugin = {
  name: 'lazily',
  setup(build) {
    build.onResolve(
      { filter: new RegExp(`^(${Object.keys(usedLate).join('|')})$`) },
      ({ path, importer, resolveDir }) =>
        usedLate[path]!.by.test(importer) ? { path, namespace: 'lazily', pluginData: resolveDir } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: 'lazily' }, ({ path, pluginData }) => {
      const { parts, modules } = usedLate[path]!
      const contents = parts.map(part => {
        // The default of a CommonJS package is the package.
        const late = `require('${modules ?? path}')${part === 'default' && !modules ? '' : `.${part}`}`
        return `export ${part === 'default' ? 'default' : `const ${part} =`} /* @__PURE__ */ new Proxy(function () {}, {
          get: (_, name) => ${late}[name],
          apply: (_, self, args) => Reflect.apply(${late}, self, args),
          construct: (_, args) => Reflect.construct(${late}, args),
        })`
      })
      return { contents: contents.join('\n'), resolveDir: pluginData }
    })
  },
}
/** Bundles that are loaded when they are wanted, and what makes them: fastify, the checks of parameters, what operators do to a store, the metrics, the client of bots, the patterns of `tail` and `wait`. */
const late: Readonly<Record<string, string>> = {
  backup: 'daemon/maintenance/backup.ts',
  checks: '@sinclair/typebox/compiler',
  client: 'daemon/client/index.ts',
  'cluster-restore': 'daemon/cluster/restore.ts',
  csv: 'cli/catalogue/csv.ts',
  fastify: 'fastify',
  katex: 'katex',
  maintenance: 'daemon/maintenance/index.ts',
  mcp: 'daemon/mcp/index.ts',
  metrics: 'daemon/metrics/prometheus.ts',
  pattern: 'daemon/api/pattern.ts',
  re2js: 're2js',
}
const apart: Plugin = {
  name: 'apart',
  setup(build) {
    build.onResolve(
      { filter: /^\.\.?\/.*\.ts$|^fastify$|^katex$|^re2js$|^@sinclair\/typebox\/compiler$/ },
      ({ kind, path, resolveDir, namespace }) => {
        // A stand-in requires its package, others are imported late.
        if (kind !== 'dynamic-import' && namespace !== 'lazily') return undefined
        const source = path.startsWith('.') ? relative(import.meta.dirname, join(resolveDir, path)) : path
        const [bundle] = Object.entries(late).find(([, entry]) => join(entry) === source) ?? []
        return bundle === undefined ? undefined : { path: `./${bundle}.cjs`, external: true }
      },
    )
  },
}
const withoutInspector: Plugin = {
  name: 'without-inspector',
  setup(build) {
    const contents = 'export async function serveBuiltFile() {}'
    build.onLoad({ filter: /daemon\/http\/built-files\.ts$/ }, () => ({ contents, loader: 'ts' }))
  },
}
const shared: BuildOptions = {
  plugins: [lazily, apart, ...(bare === undefined ? [] : [withoutInspector])],
  outdir: dist,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20.19',
  // Identifiers stay as they are: kept names over shortened ones cost a call for every function made at run time.
  minifyWhitespace: !forCoverage,
  minifySyntax: !forCoverage,
  sourcemap: forCoverage ? 'linked' : false,
  legalComments: 'none',
  // Loaded when first needed, if ever: what is in the bundle is in memory from the start. (jq-wasm also finds its .wasm
  // beside itself.)
  external: [
    'jq-wasm',
    'nodemailer',
    'undici',
    'yaml',
    '@fastify/ajv-compiler',
    '@fastify/fast-json-stringify-compiler',
    'light-my-request',
  ],
  define: {
    NATTER_VERSION: JSON.stringify(version),
    NATTER_COOKBOOK: JSON.stringify(readFileSync('docs/cookbook.md', 'utf8')),
    'import.meta.url': '"file:///"',
    'import.meta.dirname': '__dirname',
  },
  // A lazily imported module becomes a lazily run function of the bundle instead of a file of its own.
  supported: { 'dynamic-import': false },
  logLevel: 'warning',
}
await build({
  ...shared,
  entryPoints: { natterd: 'daemon/main.ts', ...(bare === undefined && { natter: 'cli/main.ts' }) },
  banner: { js: opening },
  footer: { js: closing },
})
await build({
  ...shared,
  entryPoints: {
    ...late,
    testing: 'daemon/testing/index.ts',
  },
})
await build({
  ...shared,
  entryPoints: { 'bot-worker': 'cli/commands/bot/worker.ts' },
  // It imports the file of a handler, which `require` cannot always load.
  supported: {},
})
// Node imports it into the thread of its loader.
await build({
  ...shared,
  entryPoints: { 'bot-hooks': 'cli/commands/bot/module-hooks.ts' },
  format: 'esm',
  outExtension: { '.js': '.mjs' },
})

if (bare === undefined) await buildInspector()

/** The inspector: one script and one style for the browser, with copies that are compressed once and for all. */
async function buildInspector(): Promise<void> {
  const folder = 'dist/inspector'
  rmSync(folder, { recursive: true, force: true })
  await build({
    entryPoints: [
      { in: 'daemon/inspector/main.tsx', out: 'app' },
      { in: 'daemon/inspector/style.css', out: 'app' },
    ],
    outdir: folder,
    bundle: true,
    platform: 'browser',
    format: 'iife',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    tsconfig: 'daemon/inspector/tsconfig.json',
    minify: !forCoverage,
    sourcemap: forCoverage ? 'linked' : false,
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
  })
  cpSync('daemon/inspector/index.html', `${folder}/index.html`)
  for (const name of ['index.html', 'app.js', 'app.css']) {
    const bytes = readFileSync(`${folder}/${name}`)
    writeFileSync(`${folder}/${name}.gz`, gzipSync(bytes, { level: 9 }))
    writeFileSync(`${folder}/${name}.br`, brotliCompressSync(bytes))
  }
}

// esbuild leaves regular expressions as they are; one character beyond ASCII would double the memory of the whole text.
for (const bundle of bundles) {
  const file = `${dist}/${bundle}.cjs`
  const ascii = readFileSync(file, 'utf8').replace(
    /[^\0-\x7f]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  writeFileSync(file, ascii)
}
for (const name of cached) {
  const file = `${dist}/${name}`
  if (!existsSync(file)) continue
  writeFileSync(file, withDigest(readFileSync(file, 'utf8')))
  // Empty, so that V8 rejects it and no start writes another.
  if (forCoverage) writeFileSync(`${file}.cache`, '')
}

// The cache is made by a real run, so that it holds what a real run compiles. An install must succeed where a program cannot run,
// because no port can be opened for instance: then its first start writes the cache.
let isWarm = true
for (const [bundle, args] of [
  ['natterd', ['--memory', '--preset', 'dev', '--port', '0', '--no-profile', '--json']],
  // What it calls besides is said there.
  ['natter', ['--version']],
] as const) {
  if (forCoverage || !bundles.includes(bundle)) continue
  const run = spawnSync(process.execPath, [`${root}/bin/warm.js`, bundle, ...args], {
    encoding: 'utf8',
    timeout: 60_000,
  })
  if (run.status === 0) continue
  isWarm = false
  const reason = (run.stderr || run.error?.message || `exit code ${run.status}`).trim().split('\n')[0]
  process.stderr.write(`${bundle} has no code cache yet: ${reason}. Its first start writes it.\n`)
}

if (bare !== undefined) process.exit()

writeLibrary('client', ['createClient', 'NatterError'], 'import')
writeLibrary('testing', ['keepOnFailure', 'startNatter'], 'require')

/**
 * The same file serves `import` and `require`: each class and each registry exists once, however it is loaded. It is required, because
 * node searches a file that is imported for the names of its exports, which takes longer than to run it. Programs that make bundles
 * follow an import alone, and the client may be in one.
 */
function writeLibrary(name: string, exports: readonly string[], load: 'import' | 'require'): void {
  const lines =
    load === 'import'
      ? [`import library from './${name}.cjs'`]
      : [
          "import { createRequire } from 'node:module'",
          `const library = createRequire(import.meta.url)('./${name}.cjs')`,
        ]
  writeFileSync(`dist/${name}.mjs`, `${[...lines, `export const { ${exports.join(', ')} } = library`].join('\n')}\n`)
}

writeTypes()
if (isWarm) {
  mkdirSync(dirname(record), { recursive: true })
  writeFileSync(record, digest())
}

/** Code caches fit one version of node, and packages are those that npm installed. The site knows itself what is new in it. */
function digest(): string {
  const isOfSite = (file: string) => file.startsWith(join('dist/site/'))
  return digestOf(String(forCoverage), [...inputs, ...folders, 'dist'], isOfSite)
}

/** TypeScript wants to know of every declaration which kind of module it is about, so there is a copy for each. */
function writeTypes(): void {
  const all = 'dist/types/all'
  rmSync('dist/types', { recursive: true, force: true })
  // The libraries alone: a slip in a test must not stop the build.
  const project = 'dist/tsconfig.types.json'
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    outDir: 'types/all',
    rootDir: '..',
  }
  const files = ['../daemon/client/index.ts', '../daemon/testing/index.ts']
  writeFileSync(project, JSON.stringify({ extends: '../tsconfig.json', compilerOptions, include: [], files }))
  const run = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project], { encoding: 'utf8' })
  rmSync(project)
  if (run.status !== 0) throw new Error(`the types could not be made: ${run.stdout}`)
  const needed = new Set<string>()
  for (const entry of ['daemon/client/index', 'daemon/testing/index']) collect(`${entry}.ts`)
  for (const [kind, type] of [
    ['esm', 'module'],
    ['cjs', 'commonjs'],
  ]) {
    for (const file of needed) {
      mkdirSync(dirname(join('dist/types', kind!, file)), { recursive: true })
      cpSync(join(all, file), join('dist/types', kind!, file))
    }
    writeFileSync(`dist/types/${kind}/package.json`, `${JSON.stringify({ type })}\n`)
  }
  rmSync(all, { recursive: true })

  function collect(source: string): void {
    const file = source.replace(/\.ts$/, '.d.ts')
    if (needed.has(file)) return
    needed.add(file)
    for (const [, target] of readFileSync(join(all, file), 'utf8').matchAll(
      /(?:from |import\()["'](\.[^"']+\.ts)["']/g,
    ))
      collect(join(dirname(source), target!))
  }
}
