// Why the tests run less than 90 % of the lines or branches of a folder, or of the lines of a file. coverage.md shows them, and a test
// checks that each is still needed.

/** By path. The reason of a folder is for everything in it that has none of its own. */
export const reasons: Readonly<Record<string, string>> = {
  'cli/commands/daemon':
    'Tests kill a daemon in the foreground together with the `natter` that runs it, and they start daemons from the bundle only, not from sources or from the single executable.',
  'cli/commands/replay':
    'The comparison of queues needs recordings of clients that polled and ended before they had read everything.',
  'cli/commands/seed-pull': 'The branches that are left are defaults for fields that other servers leave out.',
  'cli/commands/tail':
    'Much of it copes with servers that stop, expire queues or change the format of an event. In the tests of that, `tail` is often killed, and what a killed process ran is not counted.',
  'cli/commands/trigger':
    'Each kind of trigger needs few of the roles and hints, and the tests do not run every kind in text form.',
  'cli/input': 'Keys in a password prompt, and values that the shape of a parameter refuses before.',
  'daemon/cluster':
    'Most branches that are left are races: a leader that loses its lease between two calls, a lost answer of etcd, a peer that dies half-way. The tests provoke them by killing daemons, and those are not counted.',
  'daemon/clustered.ts': 'The tests kill most daemons of a cluster, and those are not counted.',
  'daemon/control':
    'Explanations of `why` for combinations that the rules allow and the worlds of the tests do not have.',
  'daemon/inspector':
    'The page copes with a daemon that is gone, with another token and with a session that ended: few tests end a session.',
  'daemon/inspector/chat':
    'What others do while the page is open: typing, deleted messages, direct conversations that begin, more than 100 older messages.',
  'daemon/inspector/parts':
    'Sizes and scroll positions that depend on the window, keys in long lists, and the clipboard, which a browser without a screen refuses.',
  'daemon/inspector/views': 'Most branches choose words for values that the world of the tests does not have.',
  'daemon/maintenance': 'Files that become shorter or vanish while they are copied or checked.',
  'daemon/testing':
    "What is left runs when a user's test fails, or when the daemon that tests share cannot be reached.",
}
