// `natter daemon run|start|stop|restart|status|logs`: the life of a daemon on this machine.

import type { Command } from '../subcommands.ts'
import { addGlobals, addHelpEnd, commandAt, globalsOf } from '../subcommands.ts'

const shared = ['json', 'timeout', 'color']

const daemonFlags = `Flags of the daemon, checked by natterd itself (natterd --help):
  --data DIR --memory --host ADDRESS --port PORT --durability fsync|os --owner EMAIL --org NAME --ready-file FILE
  --log-level LEVEL --rate-limit --no-rate-limit --secret TEXT --dev-auth --clock real|frozen|frozen@TIME`

export function addDaemon(program: Command): void {
  commandAt(program, ['daemon']).description('Run, start, stop and watch a daemon on this machine')
  addVerb(program, 'run', 'Run the daemon in the foreground', {
    passes: true,
    examples: ['natter daemon run --data ./store', 'natter daemon run --memory --port 0 --ready-file ready.json'],
    async act(leaf) {
      const { runInForeground } = await import('./daemon-process.ts')
      await runInForeground([...leaf.args, ...(globalsOf(leaf).json ? ['--json'] : [])])
    },
  })
  addVerb(program, 'start', 'Start the daemon in the background and wait until it answers', {
    passes: true,
    examples: ['natter daemon start', 'natter daemon start --data ./store --port 0 --json'],
    async act(leaf) {
      const { start } = await import('./daemon-life.ts')
      await start(leaf.args, globalsOf(leaf))
    },
  })
  addVerb(program, 'stop', 'Stop the daemon that runs in the background', {
    examples: ['natter daemon stop', 'natter daemon stop --data ./store'],
    async act(leaf) {
      const { stop } = await import('./daemon-life.ts')
      await stop(leaf.opts().data, globalsOf(leaf))
    },
  })
  addVerb(program, 'restart', 'Stop the daemon and start it again, with the same flags unless others are given', {
    passes: true,
    examples: ['natter daemon restart', 'natter daemon restart --data ./store --log-level info'],
    async act(leaf) {
      const { restart } = await import('./daemon-life.ts')
      await restart(leaf.args, globalsOf(leaf))
    },
  })
  addVerb(program, 'status', 'Say whether the daemon runs: exit code 0 if it does, 3 if not', {
    examples: ['natter daemon status', 'natter daemon status --data ./store --json'],
    async act(leaf) {
      const { status } = await import('./daemon-life.ts')
      await status(leaf.opts().data, globalsOf(leaf))
    },
  })
  const logs = addVerb(program, 'logs', 'Print the end of the log of the daemon in the background', {
    examples: ['natter daemon logs -n 100', 'natter daemon logs -f'],
    async act(leaf) {
      const { printLogs } = await import('./daemon-logs.ts')
      await printLogs(leaf.opts())
    },
  })
  logs.option('-n, --lines <n>', 'how many lines (default 20)').option('-f, --follow', 'go on printing what is added')
}

interface Verb {
  readonly examples: readonly string[]
  /** Hands flags on to natterd, which knows them. */
  readonly passes?: boolean
  act(leaf: Command): Promise<void>
}

function addVerb(program: Command, name: string, about: string, verb: Verb): Command {
  const leaf = commandAt(program, ['daemon', name]).description(about).optionsGroup('Flags:')
  if (verb.passes) leaf.usage('[daemon flags]').allowUnknownOption().allowExcessArguments()
  else leaf.usage('[flags]').option('--data <dir>', 'folder of the daemon’s store')
  addHelpEnd(leaf, verb.examples, ...(verb.passes ? [daemonFlags] : []))
  addGlobals(leaf, shared)
  leaf.action(() => verb.act(leaf))
  return leaf
}
