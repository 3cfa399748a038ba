// `npm run build && npx tsx binary.ts`: one executable file that is natter and natterd, for this platform, from the build in dist/. It is a copy of
// this node with the bundles inside (Node's single executable applications).

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import { inject } from 'postject'

const folder = 'binary'
const windows = process.platform === 'win32'
const mac = process.platform === 'darwin'
const file = join(folder, windows ? 'natter.exe' : 'natter')
/** The mark in node that postject changes when something is inside. */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

rmSync(folder, { recursive: true, force: true })
mkdirSync(join(folder, 'assets'), { recursive: true })

// Packages that are installed beside the bundles become assets too.
await build({
  entryPoints: {
    undici: 'undici',
    nodemailer: 'nodemailer',
    yaml: 'yaml',
    // The form with its WebAssembly inside.
    'jq-wasm': 'node_modules/jq-wasm/dist/inline.cjs',
  },
  outdir: join(folder, 'assets'),
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20.19',
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'error',
})

// The main script must be one file.
const main = join(folder, 'single.cjs')
await build({ entryPoints: ['bin/single.js'], outfile: main, bundle: true, platform: 'node', logLevel: 'error' })

const assets: Record<string, string> = {}
for (const name of readdirSync(join(folder, 'assets'))) assets[name] = join(folder, 'assets', name)
for (const name of readdirSync('dist'))
  if ((/\.cjs(\.cache)?$/.test(name) && name !== 'testing.cjs') || name === 'bot-hooks.mjs')
    assets[name] = join('dist', name)
for (const folder of ['inspector', 'site'])
  for (const entry of readdirSync(join('dist', folder), { recursive: true, withFileTypes: true }))
    if (entry.isFile()) {
      const file = join(entry.parentPath, entry.name)
      assets[relative('dist', file).replaceAll('\\', '/')] = file
    }

const config = join(folder, 'sea.json')
const blob = join(folder, 'sea.blob')
const settings = { main, output: blob, disableExperimentalSEAWarning: true, assets }
writeFileSync(config, JSON.stringify(settings))
execFileSync(process.execPath, ['--experimental-sea-config', config], { stdio: ['ignore', 'ignore', 'inherit'] })

copyFileSync(process.execPath, file)
chmodSync(file, 0o755)
// macOS runs no file whose signature does not fit.
if (mac) execFileSync('codesign', ['--remove-signature', file])
const options = { sentinelFuse: fuse, ...(mac && { machoSegmentName: 'NODE_SEA' }) }
await inject(file, 'NODE_SEA_BLOB', readFileSync(blob), options)
if (mac) execFileSync('codesign', ['--sign', '-', file])
if (windows) cpSync(file, join(folder, 'natterd.exe'))
else symlinkSync('natter', join(folder, 'natterd'))

for (const name of ['assets', 'single.cjs', 'sea.json', 'sea.blob'])
  rmSync(join(folder, name), { recursive: true, force: true })
process.stdout.write(`${file}, ${Math.round(statSync(file).size / 1024 / 1024)} MiB\n`)
