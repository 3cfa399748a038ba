// The table of subcommands that are not endpoints, by their first word. Each is loaded when it is used. The program hands the table
// to help, docs, man page and completions, so that all of them show the same.

import type { ExtraSubcommand, SubcommandTable } from './base/subcommand.ts'

/** A module may have subcommands of several first words. */
type Load = () => Promise<{ readonly subcommands: readonly ExtraSubcommand[] }>

const groups: Readonly<Record<string, readonly [about: string, load: Load]>> = {
  tail: ['print messages and other events as they arrive', () => import('./commands/follow/tail/index.ts')],
  wait: ['wait for an event; exit code 0 if it arrives, 8 if not', () => import('./commands/test/wait.ts')],
  trigger: [
    'make an event of any kind happen, to see how your client takes it',
    () => import('./commands/test/trigger/index.ts'),
  ],
  init: [
    'write the files that test a project with natter: pytest, node, vitest, go, github, bot, agent, eval',
    () => import('./commands/test/init/index.ts'),
  ],
  exec: ['run a command with a daemon of its own: natter exec -- npm test', () => import('./commands/test/exec.ts')],
  levels: ['what changed between feature levels of the API', () => import('./commands/test/levels.ts')],
  eval: ['run an agent on cases and score what it did', () => import('./commands/test/eval/index.ts')],
  spaces: [
    'more organizations in the same daemon, each with an address of its own',
    () => import('./commands/test/spaces.ts'),
  ],
  daemon: ['run, start, stop and inspect a daemon on this machine', () => import('./commands/server/daemon/index.ts')],
  backup: [
    'write a backup of the store to one file, while the daemon runs',
    () => import('./commands/server/store/index.ts'),
  ],
  restore: ['put a backup back, after checking it', () => import('./commands/server/store/index.ts')],
  store: ['check the store on this machine, and see what it holds', () => import('./commands/server/store/index.ts')],
  bot: ['run a bot from one function, or start a new one', () => import('./commands/bot/index.ts')],
  mcp: ['serve chat to an agent over the Model Context Protocol', () => import('./commands/mcp/index.ts')],
  ready: ['say whether a server is ready, or wait until it is', () => import('./commands/server/ready.ts')],
  cluster: ['show the daemons of a cluster, or bring it to a backup', () => import('./commands/server/cluster.ts')],
  open: ['open the inspector of a daemon in a browser', () => import('./commands/server/open.ts')],
  login: ['log in with a password and save the API key', () => import('./commands/account/profile.ts')],
  logout: ['remove the saved API key of an account', () => import('./commands/account/profile.ts')],
  whoami: ['show which account is used, and on which server', () => import('./commands/account/whoami.ts')],
  search: ['find messages by their words', () => import('./commands/follow/search.ts')],
  env: [
    'print the server and the account as variables: eval "$(natter env ready.json)"',
    () => import('./commands/account/env.ts'),
  ],
  profile: ['manage saved sites, accounts and keys', () => import('./commands/account/profile.ts')],
  config: [
    'show where the server, the account and the settings come from',
    () => import('./commands/account/profile.ts'),
  ],
  api: ['call any route: natter api POST /typing -f op=start', () => import('./commands/api.ts')],
  keep: ['write what explains a failed test to a folder', () => import('./commands/test/keep.ts')],
  snapshot: ['save, restore, compare and export states of the daemon', () => import('./commands/test/snapshot.ts')],
  record: ['write every call and its answer to a file', () => import('./commands/test/record.ts')],
  proxy: ['pass calls on to a real server and record them', () => import('./commands/test/proxy/index.ts')],
  replay: ['play a recording again and report what differs', () => import('./commands/test/replay/index.ts')],
  seed: [
    'write an organization as a seed file, or read one from another server; natter daemon start --seed FILE starts with it',
    () => import('./commands/organization/seed.ts'),
  ],
  completion: [
    'print completion scripts for bash, zsh, fish and PowerShell',
    () => import('./commands/help/completion.ts'),
  ],
  doctor: ['check your setup and suggest fixes', () => import('./commands/server/doctor.ts')],
  commands: ['list every subcommand; with --json, for programs', () => import('./commands/help/commands.ts')],
  // More verbs of nouns that the catalogue explains, and what completion scripts call.
  org: ['', () => import('./commands/organization/org.ts')],
  messages: ['', () => import('./commands/follow/more-verbs.ts')],
  topics: ['', () => import('./commands/follow/more-verbs.ts')],
  uploads: ['', () => import('./commands/follow/more-verbs.ts')],
  webhooks: ['', () => import('./commands/bot/webhook-url.ts')],
  __complete: ['', () => import('./commands/help/completion.ts')],
}

export const subcommandTable: SubcommandTable = Object.fromEntries(
  Object.entries(groups).map(([word, [about, load]]) => [
    word,
    { about, load: async () => (await load()).subcommands.filter(({ name }) => name.split(' ')[0] === word) },
  ]),
)
