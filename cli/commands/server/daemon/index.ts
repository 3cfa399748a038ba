// `natter daemon run|start|stop|restart|reload|status|logs`: the life of a daemon on this machine.

import { daemonFlags } from '../../../../daemon/local/flags.ts'
import { formatFlags } from '../../../base/globals.ts'
import type { ExtraFlag, ExtraSubcommand } from '../../../base/subcommand.ts'
import { daemonFlagsBut } from './flags.ts'

const globals = [...formatFlags, 'timeout', 'color', 'quiet']

const data: ExtraFlag = { name: 'data', value: 'DIR', about: 'the folder that the daemon was started with' }

const usualFolders = `Without --data it is the daemon of the profile local, which was started last. If none runs at that profile, it is one of the usual
folders: that of the default store, and those of \`natter daemon start --memory\`.`

const passed = {
  globals,
  passes: '[daemon flags]',
  passedFlags: daemonFlagsBut('json', 'help', 'version'),
  more: 'Every flag of the daemon is also an environment variable: --log-level is NATTER_LOG_LEVEL.',
}

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'daemon run',
    about: 'Run the daemon in the foreground',
    ...passed,
    globals: ['json'],
    examples: ['natter daemon run --data ./store', 'natter daemon run --memory --port 0 --ready-file ready.json'],
    run: async ({ args, globals }) =>
      (await import('./process.ts')).runInForeground([...args, ...(globals.json ? ['--json'] : [])]),
  },
  {
    name: 'daemon start',
    about: 'Start the daemon in the background and wait until it answers',
    ...passed,
    examples: ['natter daemon start', 'natter daemon start --data ./store --port 0 --json'],
    run: async call => (await import('./lifecycle.ts')).start(call),
  },
  {
    name: 'daemon stop',
    about: 'Stop the daemon that runs in the background',
    flags: [data],
    globals,
    more: usualFolders,
    examples: ['natter daemon stop', 'natter daemon stop --data ./store'],
    run: async call => (await import('./lifecycle.ts')).stop(call),
  },
  {
    name: 'daemon restart',
    about: 'Stop the daemon and start it again, with the same flags and those that are given',
    ...passed,
    more: `${passed.more}\n\n${usualFolders}`,
    examples: ['natter daemon restart', 'natter daemon restart --data ./store --log-level info'],
    run: async call => (await import('./lifecycle.ts')).restart(call),
  },
  {
    name: 'daemon reload',
    about: 'Let the daemon read its certificate and its log level again, without a restart',
    flags: [
      data,
      {
        name: 'log-level',
        value: 'LEVEL',
        values: daemonFlags['log-level'].choices,
        about: 'the log level from now on; without it, that of the flags of the daemon',
      },
    ],
    globals,
    more: usualFolders,
    examples: ['natter daemon reload', 'natter daemon reload --log-level info'],
    run: async call => (await import('./lifecycle.ts')).reload(call),
  },
  {
    name: 'daemon status',
    about: 'Say whether the daemon runs: exit code 0 if it does, 3 if not',
    flags: [data],
    globals,
    more: usualFolders,
    examples: ['natter daemon status', 'natter daemon status --data ./store --json'],
    run: async call => (await import('./lifecycle.ts')).status(call),
  },
  {
    name: 'daemon logs',
    about: 'Print the end of the log of the daemon in the background',
    flags: [
      data,
      { name: 'lines', short: 'n', value: 'N', about: 'how many lines (default 20)' },
      { name: 'follow', short: 'f', about: 'go on printing what is added' },
    ],
    globals: ['json', 'color', 'quiet'],
    more: usualFolders,
    examples: ['natter daemon logs -n 100', 'natter daemon logs -f'],
    run: async ({ flags }) => (await import('./logs.ts')).printLogs(flags),
  },
]
