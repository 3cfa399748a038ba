// Campaigns as one file each, with all that they import: compiling that module by module takes seconds of processor time at each
// start.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { forNode, placeOfSource } from '../../bundle.ts'
import type { Campaign } from '../campaign.ts'

const root = join(import.meta.dirname, '../../..')
const cache = join(root, 'node_modules/.cache')

export interface Program {
  readonly file: string
  remove(): void
}

/** The program that runs a campaign, and reports for it. */
export function bundleCampaign(file: string): Promise<Program> {
  return bundle(`
    import { campaign } from ${JSON.stringify(file)}
    import { report } from './worker.ts'
    await report(campaign)
  `)
}

/** The campaigns of these files, in their order. */
export async function loadCampaigns(files: readonly string[]): Promise<Campaign[]> {
  const exports = files.map((file, at) => `export { campaign as c${at} } from ${JSON.stringify(file)}\n`)
  const program = await bundle(exports.join(''))
  try {
    const loaded = (await import(pathToFileURL(program.file).href)) as Record<string, Campaign>
    return files.map((_, at) => loaded[`c${at}`]!)
  } finally {
    program.remove()
  }
}

/** In node_modules, where it finds the packages that it imports. */
export async function bundle(contents: string): Promise<Program> {
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'natter-campaign-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const program = join(folder, 'campaign.mjs')
  try {
    await build({
      stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' },
      absWorkingDir: root,
      outfile: program,
      ...forNode,
      sourcemap: 'linked',
      sourcesContent: false,
      plugins: [placeOfSource],
    })
  } catch (error) {
    remove()
    throw error
  }
  return { file: program, remove }
}
