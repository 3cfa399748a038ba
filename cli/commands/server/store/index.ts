// `natter backup`, `natter restore`, `natter store check|stats`: the store on this machine, with or without a daemon.

import { formatFlags } from '../../../base/globals.ts'
import type { ExtraFlag, ExtraSubcommand } from '../../../base/subcommand.ts'

const globals = [...formatFlags, 'quiet', 'color']

const data: ExtraFlag = { name: 'data', value: 'DIR', about: 'folder of the store' }

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'backup',
    about: 'Write a backup of the store to one file, while the daemon runs or not',
    args: [{ name: 'file', about: 'the file to write; `-` writes to stdout' }],
    flags: [
      data,
      {
        name: 'incomplete',
        about: 'go on when uploads are missing or damaged, or when a daemon of a cluster lacks what others have',
      },
      { name: 'without-secret', about: 'leave out the secret: all API keys are new after a restore' },
      { name: 'force', about: 'the same as --yes: replace the file if it exists' },
    ],
    globals: [...globals, 'yes'],
    more: `Reads the folder of the store, so run it on the machine of the daemon and as the same user. The daemon is not stopped and
does not wait; it deletes no upload until the backup is done. The backup has everything that was answered before it began:
messages, uploads, mail that waits, and the secret that all API keys are derived from. Keep it as safe as the store. It is a
tar file with checksums.`,
    examples: ['natter backup natter.tar', 'natter backup - --data /var/lib/natter | zstd > natter.tar.zst'],
    run: async call => (await import('./actions.ts')).makeBackup(call),
  },
  {
    name: 'restore',
    about: 'Put a backup back, after everything in it was checked',
    args: [{ name: 'file', about: 'the backup; `-` reads stdin' }],
    flags: [
      { ...data, about: 'folder to restore to; it is created if needed' },
      { name: 'replace', about: 'move the store in the folder to a folder `replaced-TIME` inside it' },
      { name: 'check', about: 'only check the backup; restore nothing' },
      { name: 'incomplete', about: 'restore a backup that lacks uploads, without them' },
    ],
    globals,
    more: `Checks the checksums of the backup, then the store in it as \`natter store check\` does. A backup that is damaged, cut short or
made by a newer version changes nothing. Neither does a restore into the folder of a daemon that runs: stop it first. If an
upload is missing or damaged, --check names it and exits with 1, and a restore is refused unless --incomplete is given.
All event queues end with a restore: clients have to register again.`,
    examples: ['natter restore natter.tar --check', 'zstd -d < natter.tar.zst | natter restore - --data ./store'],
    run: async call => (await import('./actions.ts')).restoreFrom(call),
  },
  {
    name: 'store check',
    about: 'Read everything in the store and report what is wrong: exit code 0 if nothing is',
    flags: [data],
    globals,
    more: 'Reads checksums, the journal line by line, uploads and the secret, and rebuilds the state as a start would. Changes nothing.',
    examples: ['natter store check', 'natter store check --data ./store --json'],
    run: async call => (await import('./actions.ts')).check(call),
  },
  {
    name: 'store stats',
    about: 'Show how large the store is and what it holds',
    flags: [data],
    globals,
    examples: ['natter store stats', 'natter store stats --data ./store --json'],
    run: async call => (await import('./actions.ts')).showStats(call),
  },
]
