// Two laws of the command line and of natter/client: one writer prints everything, and one function joins a site and a path.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sources } from '../support/sources.ts'

const writer = 'cli/base/writer.ts'
/** Everything but asking what a stream is, and listening for its end. */
const printing =
  /process\.std(?:out|err)(?!\.(?:isTTY|columns|on\(|removeAllListeners\())|\bstd(?:out|err)\b[^=;\n]*\} = process\b|\bconsole\.\w|writeSync\(\s*[12]\b/

/** Addresses that are no call: what a user typed is read, or an address of a file that needs no key. */
const readers: Readonly<Record<string, number>> = {
  'cli/commands/server/daemon/lifecycle.ts': 1,
  'cli/commands/organization/org-export.ts': 1,
  'cli/commands/account/profile.ts': 1,
  'cli/commands/follow/tail/actions.ts': 1,
  'cli/transport/uploaded-files.ts': 1,
}

describe('the command line', () => {
  const cli = sources('cli')

  test('prints by one writer, which removes control characters', () => {
    const others = cli.filter(({ path, code }) => path !== writer && printing.test(code)).map(({ path }) => path)
    assert.deepEqual(others, [], `print with ${writer}`)
    for (const line of [
      "process.stdout.write('x')",
      'pipeline(content, process.stderr)',
      'const { stdout } = process',
      "console.log('x')",
      'writeSync(1, bytes)',
    ])
      assert.match(line, printing)
    assert.doesNotMatch('if (process.stdout.isTTY) return process.stderr.columns', printing)
  })

  test('joins a site and a path in one place', () => {
    const parsing = /\bnew URL\(/g
    const joining = /\$\{[^}]*\b[sS]ite[^}]*\}(?:\/(?:api|control|user_)|\$\{[^}]*[pP]ath)/
    for (const { path, code } of [...cli, ...sources('daemon/client', 'daemon/testing')]) {
      assert.equal([...code.matchAll(parsing)].length, readers[path] ?? 0, `${path}: use daemon/api/address.ts`)
      // Shown to people, and a name of a file.
      if (/^cli\/(?:print\/request-text|commands\/help\/candidates)\.ts$/.test(path)) continue
      assert.doesNotMatch(code, joining, path)
    }
  })
})
