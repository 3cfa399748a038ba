// Writes docs/generated/ from the code itself. `--check` writes nothing, names what is stale and exits 1.
// Pages are deterministic: no dates, no line numbers, no order but that of the sources.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { subcommandTable } from '../cli/command-table.ts'
import { manPage } from '../cli/commands/help/man.ts'
import { controlOpenApi, openApi } from '../daemon/api/openapi.ts'
import { apiPage, controlPage } from './generate/api.ts'
import { capabilitiesPage } from './generate/capabilities.ts'
import { cliPage } from './generate/cli.ts'
import { coveragePage, coverageText, readCoverage } from './generate/coverage.ts'
import { daemonPage } from './generate/daemon.ts'
import { errorsPage } from './generate/errors.ts'
import { eventsPage } from './generate/events.ts'
import { factsPage } from './generate/facts.ts'
import { levelsPage } from './generate/levels.ts'
import { mutationPage, readMutation } from './generate/mutation.ts'
import { openPointsPage, withDifferences } from './generate/open-points.ts'
import { performancePages, readPerformance } from './generate/performance.ts'
import { permissionsPage } from './generate/permissions.ts'
import { proofPage, readProof } from './generate/proof.ts'
import { withModel } from './generate/scale.ts'
import { loadCatalogue, loadControlPages, root } from './generate/sources.ts'

const folder = join(root, 'docs', 'generated')

/** Every page by its file name. Of clients.md and scale.md only a section is generated. */
export async function generate(): Promise<ReadonlyMap<string, string>> {
  const resources = await loadCatalogue()
  const control = await loadControlPages()
  const proof = readProof(join(folder, 'proof.json'))
  const performance = readPerformance(join(folder, 'performance.json'))
  const coverage = readCoverage(join(folder, 'coverage.json'))
  const mutation = readMutation(join(folder, 'mutation.json'))
  return new Map([
    ['api.md', apiPage(resources)],
    ['openapi.json', `${JSON.stringify(openApi(resources), null, 2)}\n`],
    ['control.md', controlPage(control, resources)],
    ['openapi-control.json', `${JSON.stringify(controlOpenApi(control), null, 2)}\n`],
    ['events.md', eventsPage()],
    ['cli.md', cliPage([...resources, ...control])],
    ['natter.1', await manPage(subcommandTable)],
    ['permissions.md', permissionsPage()],
    ['errors.md', errorsPage(resources)],
    ['facts.md', factsPage()],
    ['capabilities.md', capabilitiesPage()],
    ['levels.md', await levelsPage()],
    ['daemon.md', daemonPage()],
    ['open-points.md', openPointsPage()],
    ['../clients.md', withDifferences(readFileSync(join(folder, '../clients.md'), 'utf8'))],
    ['../scale.md', withModel(readFileSync(join(folder, '../scale.md'), 'utf8'), performance)],
    ['proof.json', `${JSON.stringify(proof, null, 2)}\n`],
    ['proof.md', proofPage(proof)],
    ...(coverage ? ([['coverage.json', coverageText(coverage)]] as const) : []),
    ['mutation.json', `${JSON.stringify(mutation, null, 2)}\n`],
    ['mutation.md', mutationPage(mutation)],
    ['coverage.md', coveragePage(coverage)],
    ['performance.json', `${JSON.stringify(performance, null, 2)}\n`],
    ...(await performancePages(performance)),
  ])
}

/** Files that are not what the code says now: changed, missing, or left over. */
export function stalePages(pages: ReadonlyMap<string, string>): string[] {
  const present = filesThere()
  const leftOver = present.filter(name => !pages.has(name))
  const wrong = [...pages.keys()].filter(
    name => !existsSync(join(folder, name)) || readFileSync(join(folder, name), 'utf8') !== pages.get(name),
  )
  return [...wrong, ...leftOver].sort().map(name => join('docs/generated', name))
}

function write(pages: ReadonlyMap<string, string>): void {
  mkdirSync(folder, { recursive: true })
  for (const name of filesThere()) if (!pages.has(name)) rmSync(join(folder, name))
  for (const [name, text] of pages) writeFileSync(join(folder, name), text)
}

function filesThere(): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

if (process.argv[1] === import.meta.filename) {
  const pages = await generate()
  const stale = stalePages(pages)
  if (!process.argv.includes('--check')) write(pages)
  else if (stale.length > 0) {
    process.stderr.write(`Stale, run \`npm run docs\` and commit:\n${stale.map(name => `  ${name}\n`).join('')}`)
    process.exitCode = 1
  }
}
