// Bundles test files before a run, several to a process: starting node and loading what a test file imports costs half a
// second of processor time, and there are more than 200 files. What groups share is a chunk of its own.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Loader, type OutputFile, type Plugin, transformSync } from 'esbuild'

/** Inside node_modules, so that packages are found from there and nothing has to ignore it. */
export const bundleFolder = 'node_modules/.cache/natter-tests'

/** The process of daemons that tests share. */
const hostProgram = 'test/support/daemon-host-process.ts'
export const hostBundle = `${bundleFolder}/host.mjs`

/** Files to a process of long tests, and to one of short ones: few enough that none holds up the end of a run. */
const [fewLong, manyShort] = [8, 40]

/** Milliseconds for a file, which a busy machine takes a tenth of: one that hangs is named, and those after it run. */
const longestFile = 900_000

/** Removes the bundles of the last run. Those of this one stay: the report on coverage reads them. */
export function removeBundles(root: string): void {
  rmSync(join(root, bundleFolder), { recursive: true, force: true })
}

/** How tests bundle what a process of node runs: it finds its packages in node_modules. */
export const forNode = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  packages: 'external',
  logLevel: 'warning',
} as const

/** Returns one bundle for each process to start, the longest first. */
export async function bundleTests(root: string, files: readonly string[]): Promise<string[]> {
  const outdir = join(root, bundleFolder)
  mkdirSync(outdir, { recursive: true })
  const groups = groupsOf(root, files)
  const { outputFiles } = await build({
    absWorkingDir: root,
    write: false,
    entryPoints: [...groups.map(({ name }) => ({ in: `group:${name}`, out: name })), { in: hostProgram, out: 'host' }],
    outdir,
    outExtension: { '.js': '.mjs' },
    ...forNode,
    splitting: true,
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [entriesOf(root, groups), placeOfSource],
  })
  checkLoaded(outputFiles)
  for (const { path, contents } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, contents)
  }
  return groups.map(({ name }) => join(outdir, `${name}.mjs`))
}

interface Group {
  readonly name: string
  /** Whether its files have an await at their top level. */
  readonly awaits: boolean
  readonly files: readonly string[]
}

/** Folders of long tests, which have processes of their own. */
const longest = ['proof', 'cluster', 'docs', 'inspector']

/**
 * The folders whose files take longest, in this order; the others follow. What starts last should be short, or one core
 * has nothing to do at the end of a run.
 */
const slowest = [
  ...longest,
  'cli',
  'package',
  'journal',
  'io',
  'maintenance',
  'mcp',
  'laws',
  'http',
  'daemon',
  'seed',
  'events',
  'domain',
]

/** Neighbours share a process. Node runs files in the order of their names, so these are numbered. */
function groupsOf(root: string, files: readonly string[]): Group[] {
  const folderOf = (file: string) => file.split(sep)[1]!
  const rank = (file: string) => (slowest.includes(folderOf(file)) ? slowest.indexOf(folderOf(file)) : slowest.length)
  const groups: { folder: string; awaits: boolean; files: string[] }[] = []
  for (const file of files.toSorted((a, b) => rank(a) - rank(b))) {
    const folder = folderOf(file)
    const awaits = awaitsAtTheTop(join(root, file))
    const open = groups.findLast(group => group.awaits === awaits)
    const isLong = awaits || longest.includes(folder)
    const fits = open && (awaits || open.folder === folder || !longest.includes(open.folder))
    if (fits && open.files.length < (isLong ? fewLong : manyShort)) open.files.push(file)
    else groups.push({ folder, awaits, files: [file] })
  }
  return groups.map(({ folder, ...group }, at) => ({ name: `${String(at).padStart(3, '0')}-${folder}`, ...group }))
}

/** Such a module cannot be CommonJS: that is how it is found. */
function awaitsAtTheTop(file: string): boolean {
  try {
    transformSync(readFileSync(file, 'utf8'), { loader: 'ts', format: 'cjs', logLevel: 'silent' })
    return false
  } catch {
    return true
  }
}

/** A module that awaits what it imports would be left behind by its suite, and its tests with it. */
function checkLoaded(outputs: readonly OutputFile[]): void {
  for (const { text } of outputs) {
    const [, file] = /async "(test\/[^"]+\.test\.ts)"\(/.exec(text) ?? []
    if (file) throw new Error(`${file} imports a module with an await at its top level`)
  }
}

/**
 * Each file is a suite, so that its hooks are its own. `require` runs a module there and then. Modules that await are imported one
 * after the other: while two are, node may take the tests of one for those of the other.
 */
function entriesOf(root: string, groups: readonly Group[]): Plugin {
  return {
    name: 'groups',
    setup(build) {
      build.onResolve({ filter: /^group:/ }, ({ path }) => ({ path, namespace: 'group' }))
      build.onLoad({ filter: /.*/, namespace: 'group' }, ({ path }) => {
        const { files, awaits } = groups.find(({ name }) => path === `group:${name}`)!
        const paths = files.map(file => JSON.stringify(`./${file.replaceAll(sep, '/')}`))
        const suites = paths.map(file =>
          awaits
            ? `await new Promise((loaded, failed) => describe(${file}, limit, () => import(${file}).then(loaded, failed)))`
            : `describe(${file}, limit, () => void require(${file}))`,
        )
        const single = `import ${paths[0]}`
        const start = ["import { describe } from 'node:test'", `const limit = { timeout: ${longestFile} }`]
        const contents = files.length === 1 ? single : [...start, ...suites].join('\n')
        return { contents, resolveDir: root }
      })
    },
  }
}

/** Tests find fixtures, sources and programs relative to their own file: the source's place, not the bundle's. */
export const placeOfSource: Plugin = {
  name: 'place-of-source',
  setup(build) {
    build.onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
      if (relative(build.initialOptions.absWorkingDir!, path).startsWith('node_modules')) return undefined
      const source = readFileSync(path, 'utf8')
      if (!source.includes('import.meta.')) return undefined
      const places = { dirname: dirname(path), filename: path, url: pathToFileURL(path).href }
      const contents = source.replace(/\bimport\.meta\.(dirname|filename|url)\b/g, (_, place: keyof typeof places) =>
        JSON.stringify(places[place]),
      )
      return { contents, loader: (path.endsWith('x') ? 'tsx' : 'ts') satisfies Loader }
    })
  },
}
