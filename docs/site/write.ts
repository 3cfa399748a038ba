// Writes the documentation as pages, from the Markdown of the project and the catalogue.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { root } from '../generate/sources.ts'
import { describeEndpoints } from './endpoints.ts'
import { layOut } from './layout.ts'
import { buildSections, readPages } from './pages.ts'
import { createRenderer } from './render.ts'
import { buildIndex } from './search-index.ts'

export const folder = join(root, 'dist/site')

export async function writeSite(forCoverage = false): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  const pages = readPages()
  const doubled = pages.find(({ path }, index) => pages.findIndex(page => page.path === path) !== index)
  if (doubled) throw new Error(`two pages would be ${doubled.path}`)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const layout = { sections: buildSections(pages), pages, version }
  const renderer = createRenderer(pages)
  const rendered = pages.map(page => [page, renderer.render(page)] as const)
  const tried = await describeEndpoints()
  for (const [page, content] of rendered)
    write(page.path, layOut(page, content, layout, tried.get(`${page.kind} ${page.title}`)))
  for (const picture of renderer.pictures) copy(picture, `pictures/${basename(picture)}`)
  copy('docs/site/browser/icon.svg', 'icon.svg')
  write('search.json', buildIndex(rendered))
  await bundleScripts(forCoverage)
  for (const name of ['app.js', 'try-it.js', 'style.css', 'search.json']) compress(name)
}

async function bundleScripts(forCoverage: boolean): Promise<void> {
  const source = join(import.meta.dirname, 'browser')
  await build({
    entryPoints: ['app.ts', 'try-it.tsx', 'style.css'].map(name => join(source, name)),
    outdir: folder,
    bundle: true,
    platform: 'browser',
    format: 'iife',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    tsconfig: join(root, 'daemon/inspector/tsconfig.json'),
    minify: !forCoverage,
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
  })
}

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}

function copy(file: string, name: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  copyFileSync(join(root, file), join(folder, name))
}

/** A copy that is compressed once and for all; the daemon sends it to browsers that take it. */
function compress(name: string): void {
  writeFileSync(join(folder, `${name}.gz`), gzipSync(readFileSync(join(folder, name)), { level: 9 }))
}
