// Bundles test files before a run: loading a file and all it imports through tsx costs a second of processor time per
// file, and there are more than 150. What files share is a chunk of its own, so that it is compiled to JavaScript once.

import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Loader, type Plugin } from 'esbuild'

/** Inside node_modules, so that packages are found from there and nothing has to ignore it. */
export const bundleFolder = 'node_modules/.cache/natter-tests'

/** Returns the bundles of the files, in the same order. */
export async function bundleTests(root: string, files: readonly string[]): Promise<string[]> {
  const outdir = join(root, bundleFolder)
  rmSync(outdir, { recursive: true, force: true })
  mkdirSync(outdir, { recursive: true })
  await build({
    absWorkingDir: root,
    entryPoints: [...files],
    outdir,
    outbase: root,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'warning',
    plugins: [placeOfSource],
  })
  return files.map(file => join(outdir, file.replace(/\.ts$/, '.mjs')))
}

/** Tests find fixtures, sources and programs relative to their own file: the source's place, not the bundle's. */
const placeOfSource: Plugin = {
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
