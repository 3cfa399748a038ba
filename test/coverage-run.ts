// `npm run coverage`: the whole of `npm test` with NATTER_COVERAGE set, on every platform. A run that passes is recorded in
// docs/generated/coverage.json, and its page is written.

import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'

const env = { ...process.env, NATTER_COVERAGE: '1' }
const options = { stdio: 'inherit', shell: process.platform === 'win32', env } as const
const { status } = spawnSync('npm', ['test'], options)
process.exitCode = status ?? 1
if (status === 0) {
  copyFileSync('coverage/record.json', 'docs/generated/coverage.json')
  process.exitCode = spawnSync('npm', ['run', '--silent', 'docs'], options).status ?? 1
}
