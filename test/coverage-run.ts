// `npx tsx test/coverage-run.ts`: the whole of `npm test` with NATTER_COVERAGE set, on every platform. A run that passes is recorded in
// docs/generated/coverage.json, and its page is written. Reasons that are missing or out of date are listed: see
// docs/generate/coverage-reasons.ts.

import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { findMismatches, readCoverage } from '../docs/generate/coverage.ts'

const env = { ...process.env, NATTER_COVERAGE: '1' }
const options = { stdio: 'inherit', shell: process.platform === 'win32', env } as const
const { status } = spawnSync('npm', ['test'], options)
process.exitCode = status ?? 1
if (status === 0) {
  const record = 'docs/generated/coverage.json'
  copyFileSync('coverage/record.json', record)
  process.exitCode = spawnSync('npm', ['run', '--silent', 'docs'], options).status ?? 1
  const { without, stale } = findMismatches(readCoverage(record)!)
  for (const place of without) process.stdout.write(`✖ ${place} is below 90 % and has no reason\n`)
  for (const place of stale) process.stdout.write(`✖ ${place} is covered now: remove its reason\n`)
  if (without.length + stale.length > 0) process.exitCode = 1
}
