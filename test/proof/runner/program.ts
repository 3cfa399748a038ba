// The program of one campaign: the campaign, what reports for it, and all that they import, in one file. Compiling them module
// by module takes seconds of processor time at each start.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { forNode, placeOfSource } from '../../bundle.ts'

const root = join(import.meta.dirname, '../../..')
const cache = join(root, 'node_modules/.cache')

export interface Program {
  readonly file: string
  remove(): void
}

/** In node_modules, where it finds the packages that it imports. */
export async function bundleCampaign(file: string): Promise<Program> {
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'natter-campaign-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const program = join(folder, 'campaign.mjs')
  const contents = `
    import { campaign } from ${JSON.stringify(file)}
    import { report } from './worker.ts'
    await report(campaign)
  `
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
