// The table of subcommands that are not endpoints, by their first word. Each is loaded when it is used. The program hands the table
// to help, docs, man page and completions, so that all of them show the same.

import type { SubcommandTable } from './base/subcommand.ts'

export const subcommandTable: SubcommandTable = {
  tail: {
    about: 'print messages and other events as they arrive',
    load: async () => (await import('./commands/follow/tail/index.ts')).tail,
  },
  wait: {
    about: 'wait for an event; exit code 0 if it arrives, 8 if not',
    load: async () => (await import('./commands/test/wait.ts')).wait,
  },
  trigger: {
    about: 'make an event of any kind happen, to see how your client takes it',
    load: async () => (await import('./commands/test/trigger/index.ts')).trigger,
  },
  init: {
    about: 'write the files that test a project with natter: pytest, node, vitest, go, github, bot, agent, eval',
    load: async () => (await import('./commands/test/init/index.ts')).init,
  },
  exec: {
    about: 'run a command with a daemon of its own: natter exec -- npm test',
    load: async () => (await import('./commands/test/exec.ts')).exec,
  },
  levels: {
    about: 'what changed between feature levels of the API',
    load: async () => (await import('./commands/test/levels.ts')).levels,
  },
  eval: {
    about: 'run an agent on cases and score what it did',
    load: async () => (await import('./commands/test/eval/index.ts')).evaluation,
  },
  spaces: {
    about: 'more organizations in the same daemon, each with an address of its own',
    load: async () => (await import('./commands/test/spaces.ts')).spaces,
  },
  daemon: {
    about: 'run, start, stop and inspect a daemon on this machine',
    load: async () => (await import('./commands/server/daemon/index.ts')).daemon,
  },
  backup: {
    about: 'write a backup of the store to one file, while the daemon runs',
    load: async () => (await import('./commands/server/store/index.ts')).backup,
  },
  restore: {
    about: 'put a backup back, after checking it',
    load: async () => (await import('./commands/server/store/index.ts')).restore,
  },
  store: {
    about: 'check the store on this machine, and see what it holds',
    load: async () => (await import('./commands/server/store/index.ts')).store,
  },
  bot: {
    about: 'run a bot from one function, or start a new one',
    load: async () => (await import('./commands/bot/index.ts')).bot,
  },
  mcp: {
    about: 'serve chat to an agent over the Model Context Protocol',
    load: async () => (await import('./commands/mcp/index.ts')).mcp,
  },
  ready: {
    about: 'say whether a server is ready, or wait until it is',
    load: async () => (await import('./commands/server/ready.ts')).ready,
  },
  cluster: {
    about: 'show the daemons of a cluster, or bring it to a backup',
    load: async () => (await import('./commands/server/cluster.ts')).cluster,
  },
  open: {
    about: 'open the inspector of a daemon in a browser',
    load: async () => (await import('./commands/server/open.ts')).open,
  },
  login: {
    about: 'log in with a password and save the API key',
    load: async () => (await import('./commands/account/profile.ts')).login,
  },
  logout: {
    about: 'remove the saved API key of an account',
    load: async () => (await import('./commands/account/profile.ts')).logout,
  },
  whoami: {
    about: 'show which account is used, and on which server',
    load: async () => (await import('./commands/account/whoami.ts')).whoami,
  },
  search: {
    about: 'find messages by their words',
    load: async () => (await import('./commands/follow/search.ts')).search,
  },
  env: {
    about: 'print the server and the account as variables: eval "$(natter env ready.json)"',
    load: async () => (await import('./commands/account/env.ts')).env,
  },
  profile: {
    about: 'manage saved sites, accounts and keys',
    load: async () => (await import('./commands/account/profile.ts')).profile,
  },
  config: {
    about: 'show where the server, the account and the settings come from',
    load: async () => (await import('./commands/account/profile.ts')).config,
  },
  api: {
    about: 'call any route: natter api POST /typing -f op=start',
    load: async () => (await import('./commands/api.ts')).api,
  },
  keep: {
    about: 'write what explains a failed test to a folder',
    load: async () => (await import('./commands/test/keep.ts')).keep,
  },
  snapshot: {
    about: 'save, restore, compare and export states of the daemon',
    load: async () => (await import('./commands/test/snapshot.ts')).snapshot,
  },
  record: {
    about: 'write every call and its answer to a file',
    load: async () => (await import('./commands/test/record.ts')).record,
  },
  proxy: {
    about: 'pass calls on to a real server and record them',
    load: async () => (await import('./commands/test/proxy/index.ts')).proxy,
  },
  replay: {
    about: 'play a recording again and report what differs',
    load: async () => (await import('./commands/test/replay/index.ts')).replay,
  },
  seed: {
    about: 'write an organization as a seed file, or read one from another server',
    load: async () => [
      ...(await import('./commands/organization/seed.ts')).seed,
      ...(await import('./commands/organization/seed-pull/index.ts')).seedPull,
    ],
  },
  completion: {
    about: 'print completion scripts for bash, zsh, fish and PowerShell',
    load: async () => (await import('./commands/help/completion.ts')).completion,
  },
  doctor: {
    about: 'check your setup and suggest fixes',
    load: async () => (await import('./commands/server/doctor.ts')).doctor,
  },
  commands: {
    about: 'list every subcommand; with --json, for programs',
    load: async () => (await import('./commands/help/commands.ts')).commands,
  },
  // More verbs of nouns that the catalogue explains.
  org: {
    about: '',
    hidden: true,
    load: async () => (await import('./commands/organization/org.ts')).org,
  },
  messages: {
    about: '',
    hidden: true,
    load: async () => (await import('./commands/follow/more-verbs.ts')).messageExport,
  },
  topics: {
    about: '',
    hidden: true,
    load: async () => (await import('./commands/follow/more-verbs.ts')).topicRename,
  },
  uploads: {
    about: '',
    hidden: true,
    load: async () => (await import('./commands/follow/more-verbs.ts')).uploadDownload,
  },
  webhooks: {
    about: '',
    hidden: true,
    load: async () => (await import('./commands/bot/webhook-url.ts')).webhookUrl,
  },
  __complete: {
    about: '',
    hidden: true,
    load: async () => (await import('./commands/help/completion.ts')).complete,
  },
}
