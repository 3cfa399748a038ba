// One bundle for each group of test files, with the instrumented sources and with runner.ts in the place of `node:test`.

import { join, relative, sep } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { placeOfSource } from '../bundle.ts'

/** Returns the bundle of each group of test files, by the name of the group. */
export async function bundleMutants(
  root: string,
  groups: Readonly<Record<string, readonly string[]>>,
  sources: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const outdir = join(root, 'node_modules/.cache/natter-mutation')
  await build({
    absWorkingDir: root,
    entryPoints: Object.keys(groups).map(name => ({ in: `group:${name}`, out: name })),
    outdir,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    logLevel: 'warning',
    plugins: [entries(root, groups), mutated(root, sources), placeOfSource],
  })
  return new Map(Object.keys(groups).map(name => [name, join(outdir, `${name}.cjs`)]))
}

function entries(root: string, groups: Readonly<Record<string, readonly string[]>>): Plugin {
  // A suite each, so that the hooks of a file are its own.
  const load = (file: string) => `describe('${file}', () => void require('./${file}'))`
  return {
    name: 'entries',
    setup(build) {
      build.onResolve({ filter: /^group:/ }, ({ path }) => ({ path: path.slice('group:'.length), namespace: 'group' }))
      build.onResolve({ filter: /^node:test$/ }, () => ({ path: join(root, 'test/mutation/runner.ts') }))
      build.onLoad({ filter: /.*/, namespace: 'group' }, ({ path }) => ({
        contents: [
          "import { describe, run, TooLate } from 'node:test'",
          'export { run, TooLate }',
          ...groups[path]!.map(load),
        ].join('\n'),
        resolveDir: root,
      }))
    },
  }
}

function mutated(root: string, sources: ReadonlyMap<string, string>): Plugin {
  return {
    name: 'mutated',
    setup(build) {
      build.onLoad({ filter: /\.ts$/, namespace: 'file' }, ({ path }) => {
        const contents = sources.get(relative(root, path).replaceAll(sep, '/'))
        return contents === undefined ? undefined : { contents, loader: 'ts' }
      })
    },
  }
}
