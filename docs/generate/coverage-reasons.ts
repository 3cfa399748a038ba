// Why the tests run less than 90 % of the lines or branches of a folder, or of the lines of a file. coverage.md shows them, and a test
// checks that each is still needed.

/** By path. The reason of a folder is for everything in it that has none of its own. */
export const reasons: Readonly<Record<string, string>> = {
  'cli/catalogue/control-call.ts':
    'Answers of the control plane in forms that few tests ask for: JSON of an unmet wait, and output that the reader takes slowly.',
  'cli/catalogue/recipients.ts': 'Names of recipients that the server does not list.',
  'cli/commands':
    'Files that cannot be written, replies of other servers without a field, and the programs that open a page on macOS and Windows. Completion asks for few of the kinds of names.',
  'cli/commands/bot':
    'Two bots that answer each other without end are tested in the library, not with `natter bot run`; hooks of the loader that run in this thread need a later Node, and code from sources is not used.',
  'cli/commands/server/daemon':
    'Tests kill a daemon in the foreground together with the `natter` that runs it, and they start daemons from the bundle only, not from sources or from the single executable.',
  'cli/commands/test/init': 'The text form: the tests of the files read the JSON of most kinds.',
  'cli/terminal':
    'Colors, and in the text form of logs uploads and lost calls; the tests read plain text, or the JSON of most of them.',
  'cli/commands/test/replay':
    'The comparison of queues needs recordings of clients that polled and ended before they had read everything.',
  'cli/commands/organization/seed-pull':
    'The branches that are left are defaults for fields that other servers leave out.',
  'cli/commands/server/store': 'A backup to a terminal, and output that the reader takes slowly.',
  'cli/commands/follow/tail':
    'Much of it copes with servers that stop, expire queues or change the format of an event. In the tests of that, `tail` is often killed, and what a killed process ran is not counted.',
  'cli/commands/test/trigger':
    'Each kind of trigger needs few of the roles and hints, and the tests do not run every kind in text form.',
  'cli/input': 'Keys in a password prompt, and values that the shape of a parameter refuses before.',
  'cli/print': 'The requests of `--dry-run` are tested as text and for `curl` more than as JSON.',
  'cli/transport': 'Uploads behind redirects to another host, and hosts that cannot be reached while a file is read.',
  'daemon/client':
    'Servers without `max_message_id` or with another poll limit, calls that are cancelled while they wait, and hosts that refuse a connection for a moment.',
  'daemon/cluster':
    'Most branches that are left are races: a leader that loses its lease between two calls, a lost answer of etcd, a peer that dies half-way. The tests provoke them by killing daemons, and those are not counted.',
  'daemon/control':
    'Explanations of `why` for combinations that the rules allow and the worlds of the tests do not have.',
  'daemon/domain/bots':
    'Avatars and defaults of bots in every combination; the reply of a bot whose message was deleted meanwhile, and more than 1,000 deliveries.',
  'daemon/domain/channels/channels/checks.ts': 'Combinations of privacy and retention in the sentences of notices.',
  'daemon/domain/difference':
    'Records that two snapshots have in common and the worlds of the tests never change, such as services of bots.',
  'daemon/domain/messages/notices': 'Notices of one message that moves alone, in each of their wordings.',
  'daemon/domain/messages/messages/reception.ts':
    'Explanations of `why` for accounts, channels and conversations that no longer exist.',
  'daemon/domain/narrow': 'Narrows that are looked up near a message, and operands that clients do not send.',
  'daemon/domain/organization/exports': 'An export that fails: it needs a disk that fails while the daemon goes on.',
  'daemon/events/saved-queues.ts': 'What is left is only for queues that the first two formats of the store saved.',
  'daemon/http/bounds.ts': 'Systems without /proc.',
  'daemon/http/inspector.ts': 'A clone in which the inspector was not built.',
  'daemon/inspector':
    'The page copes with a daemon that is gone, with another token and with a session that ended: few tests end a session.',
  'daemon/inspector/chat':
    'What others do while the page is open: typing, deleted messages, direct conversations that begin, more than 100 older messages.',
  'daemon/inspector/parts':
    'Sizes and scroll positions that depend on the window, keys in long lists, and the clipboard, which a browser without a screen refuses.',
  'daemon/inspector/views': 'Most branches choose words for values that the world of the tests does not have.',
  'daemon/io': 'Disks that fail while an export or an upload is written, and files that vanish meanwhile.',
  'daemon/maintenance': 'Files that become shorter or vanish while they are copied or checked.',
  'daemon/seed': 'Archives that were changed by hand, and seeds larger than a string can be.',
  'daemon/world/snapshot-file.ts':
    'Snapshots longer than one piece, and files that are gone when the snapshot is made.',
  'daemon/world/beginnings.ts': 'Spaces from a seed file that vanishes, and more beginnings than are kept.',
  'daemon/testing':
    "What is left runs when a user's test fails, or when the daemon that tests share cannot be reached.",
}
