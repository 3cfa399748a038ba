// `npm run release`: versions, the changelog, and a dry run that changes nothing.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { checksums, nextVersion, releaseChangelog, releaseNotes } from '../../release.ts'

const root = join(import.meta.dirname, '../..')

describe('npm run release', () => {
  test('takes a part to raise, or a higher version', () => {
    assert.equal(nextVersion('1.2.3', 'patch'), '1.2.4')
    assert.equal(nextVersion('1.2.3', 'minor'), '1.3.0')
    assert.equal(nextVersion('1.2.3', 'major'), '2.0.0')
    assert.equal(nextVersion('1.2.3', '1.10.0'), '1.10.0')
    for (const wanted of ['1.2.3', '1.2.2', '0.9.9']) assert.throws(() => nextVersion('1.2.3', wanted), /not higher/)
    for (const wanted of ['', '1.2', 'v1.3.0', '1.3.0-beta', 'next'])
      assert.throws(() => nextVersion('1.2.3', wanted), /is not a version/)
  })

  test('moves the Unreleased section of the changelog under the new version', () => {
    const before = '# Changelog\n\nIntro.\n\n## Unreleased\n\n- New.\n\n## 0.1.0 (feature level 1)\n\n- Old.\n'
    assert.equal(
      releaseChangelog(before, '0.2.0', 7),
      '# Changelog\n\nIntro.\n\n## Unreleased\n\n## 0.2.0 (feature level 7)\n\n- New.\n\n## 0.1.0 (feature level 1)\n\n- Old.\n',
    )
    assert.equal(releaseChangelog('## Unreleased\n\n- New.\n', '0.1.0', 7).trimEnd().split('\n').at(-1), '- New.')
  })

  test('refuses a changelog without notes', () => {
    assert.throws(() => releaseChangelog('# Changelog\n', '0.2.0', 7), /has no section/)
    assert.throws(() => releaseChangelog('## Unreleased\n\n## 0.1.0\n', '0.2.0', 7), /is empty/)
  })

  test('our own changelog can be released', () => {
    // Right after a release its section is empty.
    const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').replace('## Unreleased\n', '$&\n- New.\n')
    assert.match(releaseChangelog(text, '999.0.0', 417), /^## 999\.0\.0 \(feature level 417\)$/m)
  })

  test('takes the notes of a version from the changelog', () => {
    const changelog = releaseChangelog('## Unreleased\n\n- New.\n\n## 0.1.0 (feature level 1)\n\n- Old.\n', '0.2.0', 7)
    assert.equal(releaseNotes(changelog, '0.2.0'), '## 0.2.0 (feature level 7)\n\n- New.\n')
    assert.equal(releaseNotes(changelog, '0.1.0'), '## 0.1.0 (feature level 1)\n\n- Old.\n')
  })

  test('writes checksums as sha256sum does', () => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-release-'))
    writeFileSync(join(folder, 'b'), 'two')
    writeFileSync(join(folder, 'a'), 'one')
    const lines = [
      '7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed  a',
      '3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3  b',
      '',
    ]
    assert.equal(checksums(folder), lines.join('\n'))
  })

  test('a mistake is one line on stderr and exit code 1', () => {
    for (const args of [[], ['0.0.1'], ['1.0.0', '2.0.0']]) {
      const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', 'release.ts', ...args], {
        cwd: root,
        encoding: 'utf8',
      })
      assert.equal(status, 1, stderr)
      assert.match(stderr, /^release: .+\n$/)
    }
  })
})
