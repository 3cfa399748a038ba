// `npm run release -- VERSION`: checks that a version can be released and shows what would change. With --write it makes
// the changes: version, changelog, commit, tag, and the files of the release. Pushing and publishing stay with a person.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultLevel } from './daemon/api/levels/releases.ts'

const root = import.meta.dirname
/** Where the files of a release go. */
const folder = 'release'
const platforms: Readonly<Record<string, string>> = { darwin: 'macos', win32: 'windows' }

/** `patch`, `minor`, `major`, or a version that is higher than the current one. */
export function nextVersion(current: string, wanted: string): string {
  const [major = 0, minor = 0, patch = 0] = numbersOf(current)
  if (wanted === 'major') return `${major + 1}.0.0`
  if (wanted === 'minor') return `${major}.${minor + 1}.0`
  if (wanted === 'patch') return `${major}.${minor}.${patch + 1}`
  if (!/^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(wanted))
    throw new Error(`"${wanted}" is not a version such as 1.2.3, or patch, minor or major`)
  const difference = numbersOf(wanted).map((part, index) => part - [major, minor, patch][index]!)
  if ((difference.find(part => part !== 0) ?? 0) <= 0) throw new Error(`${wanted} is not higher than ${current}`)
  return wanted
}

/** The changelog with its Unreleased section under the new version, and an empty one above it. */
export function releaseChangelog(text: string, version: string, level: number): string {
  const heading = '## Unreleased'
  const start = text.indexOf(`${heading}\n`)
  if (start < 0) throw new Error(`CHANGELOG.md has no section "${heading}"`)
  const end = text.indexOf('\n## ', start + 1)
  const notes = text.slice(start + heading.length, end < 0 ? undefined : end).trim()
  if (notes === '') throw new Error(`the section "${heading}" of CHANGELOG.md is empty`)
  const rest = end < 0 ? '' : text.slice(end)
  return `${text.slice(0, start)}${heading}\n\n## ${version} (feature level ${level})\n\n${notes}\n${rest}`
}

/** What the changelog says of a version. */
export function releaseNotes(changelog: string, version: string): string {
  const start = changelog.indexOf(`\n## ${version} `) + 1
  const end = changelog.indexOf('\n## ', start)
  return `${changelog.slice(start, end < 0 ? undefined : end).trim()}\n`
}

/** The lines that `sha256sum --check` reads, for the files of a folder. */
export function checksums(folder: string): string {
  const names = readdirSync(folder).sort()
  return names
    .map(
      name =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    )
    .join('')
}

if (process.argv[1] === import.meta.filename) {
  try {
    release(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`release: ${(error as Error).message}\n`)
    process.exitCode = 1
  }
}

function release(args: readonly string[]): void {
  const write = args.includes('--write')
  const [wanted, ...others] = args.filter(word => word !== '--write')
  if (wanted === undefined || others.length > 0)
    throw new Error('give one version: npm run release -- patch|minor|major|X.Y.Z [--write]')
  const { version: current } = JSON.parse(read('package.json')) as { version: string }
  const version = nextVersion(current, wanted)
  const tag = `v${version}`
  const changelog = releaseChangelog(read('CHANGELOG.md'), version, defaultLevel)
  if (run('git', ['status', '--porcelain']) !== '') throw new Error('the work tree has changes; commit them first')
  if (run('git', ['tag', '--list', tag]) !== '') throw new Error(`the tag ${tag} exists`)
  say(`version    ${current} → ${version} (package.json, package-lock.json, and the pages that name it)`)
  say(`changelog  the Unreleased section becomes ${version} (feature level ${defaultLevel})`)
  if (!write) {
    const [{ filename, size, entryCount }] = JSON.parse(run('npm', ['pack', '--dry-run', '--json'])) as [Packed]
    say(`tarball    ${filename.replace(current, version)}, about ${Math.round(size / 1024)} KiB, ${entryCount} files`)
    say(`then       npm test, a commit, the tag ${tag}, and in ${folder}/ the tarball, one file, notes and checksums`)
    say('Nothing was changed. Add --write to do it.')
    return
  }
  writeFileSync(join(root, 'CHANGELOG.md'), changelog)
  for (const page of ['README.md', 'docs/install.md', 'docs/ci.md', 'docs/versions.md'])
    writeFileSync(join(root, page), read(page).replaceAll(current, version))
  run('npm', ['version', version, '--no-git-tag-version'])
  run('npm', ['run', 'docs'])
  show('npm', ['test'])
  run('git', ['commit', '--all', '--message', `Release ${version}`])
  run('git', ['tag', '--annotate', tag, '--message', `Version ${version}`])
  makeFiles(version, changelog)
  say(`Made a commit, the tag ${tag}, and ${folder}/. Push commit and tag, then publish the files.`)
}

/** The tarball, the single file for this platform, the notes, and checksums of them. */
function makeFiles(version: string, changelog: string): void {
  const target = join(root, folder)
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target)
  run('npm', ['pack', '--pack-destination', folder])
  run('npx', ['tsx', 'binary.ts'])
  const extension = process.platform === 'win32' ? '.exe' : ''
  const single = `natter-${platforms[process.platform] ?? process.platform}-${process.arch}${extension}`
  copyFileSync(join(root, 'binary', `natter${extension}`), join(target, single))
  writeFileSync(join(target, 'NOTES.md'), releaseNotes(changelog, version))
  writeFileSync(join(target, 'SHA256SUMS'), checksums(target))
  for (const name of readdirSync(target)) say(`${folder}/${name}`)
}

interface Packed {
  readonly filename: string
  readonly size: number
  readonly entryCount: number
}

function read(name: string): string {
  return readFileSync(join(root, name), 'utf8')
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Returns what the program prints. */
function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${error?.message ?? stderr}`)
  return stdout.trim()
}

/** Shows what the program prints; a failure leaves the changes in the work tree, to look at or to undo. */
function show(program: string, args: readonly string[]): void {
  const { status } = spawnSync(program, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed; \`git checkout .\` undoes the changes`)
}

function numbersOf(version: string): number[] {
  return version.split('.').map(Number)
}
