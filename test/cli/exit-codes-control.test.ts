// Exit codes over the whole control plane: 4 with a wrong token, and 3 for what does not exist. An endpoint without a line
// fails the test.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { exitCodes } from '../../cli/base/failure.ts'
import { controlPages } from '../../daemon/api/control.ts'
import type { Endpoint } from '../../daemon/api/define.ts'
import { inProcess } from '../support/cli-in-process.ts'
import { sharedDaemon } from '../support/daemon.ts'

const controlEndpoints = (
  await Promise.all(Object.values(controlPages).map(async page => Object.values<Endpoint>(await page.load())))
).flat()

const zoe = 'zoe@example.com'
const number = '999999'

describe('exit codes over the whole control plane', () => {
  const controlled = sharedDaemon({ flags: ['--memory'] })

  /** Words that every call needs; those it may have beside them name what does not exist. */
  const lines: Readonly<Record<string, { readonly needed?: readonly string[]; readonly absent?: readonly string[] }>> =
    {
      'list-accounts': {},
      'show-clock': {},
      'freeze-clock': {},
      'set-clock': { needed: ['2030-01-01T00:00:00Z'] },
      'advance-clock': { needed: ['10m'] },
      'resume-clock': {},
      'list-due': {},
      'watch-live': { needed: ['--within', '0'] },
      'show-health': {},
      'list-rules': {},
      'make-report': {},
      'read-recording': {},
      'end-recording': {},
      'show-drift': {},
      'keep-drift': { needed: ['talk.ndjson', '1', '--differences', '[]'] },
      'show-request': { absent: [number] },
      'list-events': { absent: ['--of', zoe] },
      wait: { needed: ['{"type":"message"}', '--within', '1s'], absent: ['--of', zoe] },
      'clear-events': {},
      'add-fault': { needed: ['status'], absent: ['--endpoint', 'nothing'] },
      'list-faults': {},
      'remove-faults': { absent: [number] },
      'list-mails': {},
      'clear-mails': {},
      'list-queues': {},
      'wait-for-poll': { absent: ['nobody', '--within', '1s'] },
      'expire-queues': { absent: ['nothing'] },
      'list-requests': { absent: ['--endpoint', 'nothing'] },
      'wait-for-request': { needed: ['--within', '1s'] },
      'list-findings': {},
      'clear-requests': {},
      reset: {},
      'list-snapshots': {},
      'save-snapshot': { needed: ['before'] },
      'restore-snapshot': { absent: ['nothing'] },
      'remove-snapshot': { absent: ['nothing'] },
      'create-space': { absent: ['--from', 'nothing'] },
      'list-spaces': {},
      'show-space': { absent: ['nothing'] },
      'delete-space': { absent: ['nothing'] },
      'compare-snapshots': { absent: ['nothing'] },
      'export-snapshot': { absent: ['nothing'] },
      'dump-seed': { absent: ['nothing'] },
      'import-snapshot': { needed: [import.meta.filename, 'theirs'] },
      explain: { absent: [number, 'owner'] },
      'list-webhook-requests': { absent: ['--of', zoe] },
      // It may wait for a bot that does not exist yet.
      'wait-for-webhook-request': { needed: ['--within', '1s'] },
    }

  test('every endpoint has a line', () => {
    assert.deepEqual(Object.keys(lines).sort(), controlEndpoints.map(({ id }) => id).sort())
  })

  for (const { id, cli } of controlEndpoints) {
    const { needed = [], absent } = lines[id] ?? {}
    test(`natter ${cli.name}: 4 with a wrong token`, async () => {
      // A thing that does not exist is named too: the token comes first.
      await ends(exitCodes.denied, 'wrong', [...cli.name.split(' '), ...needed, ...(absent ?? [])])
    })
    if (absent)
      test(`natter ${cli.name}: 3 for what does not exist`, async () => {
        const { control_token: token } = controlled().ready
        await ends(exitCodes.notFound, token!, [...cli.name.split(' '), ...needed, ...absent])
      })
  }

  async function ends(code: number, token: string, args: readonly string[]): Promise<void> {
    const env = { ...{ NATTER_SITE: controlled().url }, NATTER_CONTROL_TOKEN: token }
    const outcome = await inProcess(args, { env })
    assert.equal(outcome.code, code, `natter ${args.join(' ')}: ${outcome.code} ${outcome.stdout}${outcome.stderr}`)
  }
})
