// The folder that is kept when a test fails: which file holds what. Pure; `failure-folder.ts` writes the files. The snapshot is beside
// them, as `snapshot.json`.

import { shellWord } from './shell-word.ts'

export interface FailureReport {
  readonly clock: object
  readonly calls: readonly object[]
  readonly events: readonly object[]
  readonly queues: readonly object[]
  readonly faults: readonly object[]
  readonly mails: readonly object[]
  readonly webhooks: readonly object[]
}

/** How the failed run was started, and how it ended. */
export interface FailedRun {
  readonly version: string
  /** The command, or the name of the test. */
  readonly what: string
  readonly exit_code?: number
  /** Flags of the daemon; secrets are hidden. */
  readonly flags?: readonly string[]
  /** The file of the test. */
  readonly file?: string
  readonly error?: string
}

export const snapshotName = 'snapshot.json'
export const runName = 'run.json'

export type TextFile = readonly [name: string, text: string]

/** Whether a file is one of those that are kept; some file systems do not tell upper case from lower. */
export function isKeptName(name: string): boolean {
  return /^(README\.md|daemon\.log|seed(\.[^./\\]*)?|(run|clock|queues|faults|snapshot)\.json|(calls|events|outbox|webhooks)\.ndjson)$/i.test(
    name,
  )
}

/** `run.json` is the first, so that whatever is written after it is known as natter's. */
export function failureFiles(
  run: FailedRun,
  report: FailureReport,
  more: readonly TextFile[] = [],
): readonly TextFile[] {
  const { clock, calls, events, queues, faults, mails, webhooks } = report
  const files: TextFile[] = [
    ['README.md', readme(run)],
    ['clock.json', json(clock)],
    ['calls.ndjson', lines(calls)],
    ['events.ndjson', lines(events)],
    ['queues.json', json(queues)],
    ['faults.json', json(faults)],
    ['outbox.ndjson', lines(mails)],
    ['webhooks.ndjson', lines(webhooks)],
    ...more,
  ]
  const kept = [runName, ...files.map(([name]) => name), snapshotName]
  return [[runName, json({ ...run, kept })], ...files]
}

const secretFlags = ['--secret', '--smtp-url']

/** Flags as they were given, without what is secret. */
export function withoutSecrets(flags: readonly string[]): string[] {
  return flags.map((flag, index) => {
    const [name] = flag.split('=', 1)
    if (secretFlags.includes(name!) && flag !== name) return `${name}=***`
    return secretFlags.includes(flags[index - 1] ?? '') ? '***' : flag
  })
}

function readme({ what, exit_code, file, error }: FailedRun): string {
  const ended = exit_code === undefined ? '' : ` ended with exit code ${exit_code}`
  const resume = resumeCommand('FOLDER')
  return `# ${what.slice(0, 200)}${ended}
${file === undefined ? '' : `\nIn \`${file}\`.\n`}${error === undefined ? '' : `\n\`\`\`\n${error.slice(0, 10_000)}\n\`\`\`\n`}
What the daemon knew at the end. Keys, passwords and tokens are hidden; the snapshot is the organization itself, with its invitations
and the hashes of passwords.

- \`calls.ndjson\`: the last 1,000 calls with parameters and answers, oldest first
- \`events.ndjson\`: the last 1,000 events with the accounts and queues that received them
- \`queues.json\`: every event queue with its unread events
- \`snapshot.json\`: the organization; \`seed.*\` and \`daemon.log\`, if they are here: what it began with, and the log of the daemon
- \`spaces/NAME\`, if it is here: the same of a space that the command left; other folders: the same of a test that failed
- \`run.json\`, \`clock.json\`, \`faults.json\`, \`outbox.ndjson\`, \`webhooks.ndjson\`

Look at it again with a daemon that starts from here, with its inspector. Run this${resume.startsWith('npx') ? ' in your project' : ''}; FOLDER is the path of this folder:

    ${resume}
    ${resume} -- COMMAND
`
}

/** The command that starts a daemon from a folder. A local installation has its programs on the PATH of npm only. */
export function resumeCommand(folder: string, env = process.env): string {
  return `${env.npm_command ? 'npx ' : ''}natter exec --resume ${shellWord(folder)}`
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function lines(items: readonly object[]): string {
  return items.map(item => `${JSON.stringify(item)}\n`).join('')
}
