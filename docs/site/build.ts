// `npm run site` writes the documentation as pages to dist/site, and `npm run build` does too. If nothing has changed since the last time,
// it does nothing.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { digestOf, readIfThere } from '../../digest.ts'

/** What the site is made from. */
const written = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs']
const code = [
  'daemon/api',
  'daemon/client',
  'daemon/inspector',
  'daemon/local',
  'data',
  'package.json',
  'package-lock.json',
]
/** Where the digest of the last run is kept: of all that went into it, and of all that it wrote. */
const record = 'node_modules/.cache/natter-site'

/** Returns whether there was something to do. */
export async function buildSite(forCoverage = false): Promise<boolean> {
  const digest = () => digestOf(String(forCoverage), [...written, ...code, 'dist/site'])
  if (readIfThere(record) === digest()) return false
  rmSync(record, { force: true })
  const { writeSite } = await import('./write.ts')
  await writeSite(forCoverage)
  mkdirSync(dirname(record), { recursive: true })
  writeFileSync(record, digest())
  return true
}

if (process.argv[1] === import.meta.filename)
  process.stdout.write((await buildSite()) ? 'dist/site/index.html\n' : 'dist/site is up to date\n')
