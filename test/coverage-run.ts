// `npm run coverage`: the whole of `npm test` with NATTER_COVERAGE set, on every platform.

import { spawnSync } from 'node:child_process'

const env = { ...process.env, NATTER_COVERAGE: '1' }
const { status } = spawnSync('npm', ['test'], { stdio: 'inherit', shell: process.platform === 'win32', env })
process.exitCode = status ?? 1
