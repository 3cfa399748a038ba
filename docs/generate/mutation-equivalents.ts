// Mutants of `npx tsx test/mutation/main.ts` that no test can kill, each with the reason. A test checks that each still survives.

const shortcut = 'A shortcut: the rule that is asked otherwise allows everyone while nothing is limited.'
const noOwner = 'A bot without an owner has null, and a person has no bot: the table has no row under either.'
const visited =
  'No group is inside itself: commands refuse it. Without the check a group that is inside two others is visited twice, and the set keeps it once.'
const windows = 'Only Windows runs it, and these runs are on Linux.'
const vanished = 'Only a file that vanishes between being listed and being removed would tell the difference.'
const someName = 'A name that is in no folder: nothing is found under it, as under none.'
const neverZero = 'A sum never begins at 0: a line has bytes before it.'
const windowSize = 'The window doubles until it holds a whole entry. Its first size decides only how much is read.'
const parent = 'Where the parent is missing or cannot be seen, making it fails with the same code.'
const overwritten = 'It gets its value before it is read for the first time.'
const returnsNothing = 'The function returns undefined in any case.'
const anyLength = 'A test would need a file of 256 MiB.'

/** By file, then by the name that docs/generate/mutation.ts gives to a survivor. */
export const equivalents: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'daemon/domain/rules/audiences.ts': {
    'accessAudience: !accessIsLimited(state) → false': shortcut,
    'strangers: !accessIsLimited(state) → false': shortcut,
    'splitByAccess: !accessIsLimited(state) || user.bot → false': shortcut,
    'splitByAccess: !accessIsLimited(state) || user.bot → !accessIsLimited(state) && user.bot': shortcut,
  },
  'daemon/domain/rules/channels.ts': {
    'botOwner: id === null || id === undefined → false': noOwner,
    'botOwner: id === null || id === undefined → id === null && id === undefined': noOwner,
    'botOwner: id === null → false': noOwner,
    'botOwner: id === undefined → false': noOwner,
  },
  'daemon/domain/rules/group-values.ts': {
    'findGroups: groups.has(group.id) → false': visited,
    'withSubgroups: all.has(id) → false': visited,
  },
  'daemon/domain/rules/messages.ts': {
    'isWebPublic: channel?.webPublic → channel.webPublic':
      'The channel of a message exists: channels are archived, never removed.',
  },
  'daemon/local/atomic-file.ts': {
    'removeUnfinished: { force: true } → {}': vanished,
    'removeUnfinished: true → false': vanished,
    "writeNew: typeof piece === 'string' → true": '`Buffer.from` takes bytes too, at the cost of a copy.',
    "syncFolderNow: process.platform === 'win32' → false": windows,
    'syncFolderNow: \'win32\' → ""': windows,
    'namesIn: [] → ["Stryker was here"]': someName,
  },
  'daemon/local/durable-files.ts': {
    "holdFolder: process.platform === 'win32' → false": windows,
    'holdFolder: { sync: async () => {}, release: async () => {} } → {}': windows,
    'holdFolder: \'win32\' → ""': windows,
  },
  'daemon/journal/line-blocks.ts': {
    'lineBlocks: at < size → at <= size': 'One more read, of no bytes, which ends the loop.',
  },
  'daemon/journal/memory-journal.ts': {
    'forget: this.#sealed[0] !== undefined → true': 'Undefined is not below any number.',
  },
  'daemon/journal/replicated-journal.ts': {
    'countLines: at >= 0 → at > 0': 'The text begins with an entry, never with a line break.',
  },
  'daemon/journal/segment-format.ts': {
    "parseHeader: { throw new JournalDamaged(file, 1, 'not the header of a journal') } → {}":
      'What could not be parsed stays undefined, and is refused with the same sentence by the next check.',
  },
  'daemon/journal/segment-reader.ts': {
    'readSegment: sum < 0 → sum <= 0': neverZero,
    'findEntries: next < 0 → next <= 0':
      'The text that is sought has no line break, so one that follows it is never at 0.',
    'findEntries: sum >= 0 → sum > 0': neverZero,
    'factLists: { return undefined } → {}': returnsNothing,
    'factsAt: at < sum → at <= sum': 'The byte where the sum begins is a comma, not the letter that is sought.',
    'factsAt: block[at] === letterF → true': 'A shortcut: the comparison that follows looks at that letter too.',
    'shortest: \'{"position":1,"time":0,"actor":1,"op":"","\' → ""':
      'A shortcut: the bytes that it skips cannot hold the name of the facts.',
    'findTail: 4 * 1024 * 1024 → 4 * 1024 / 1024': windowSize,
    'findTail: 4 * 1024 → 4 / 1024': windowSize,
    'findTail: end >= 0 → end > 0': 'A line that ends at 0 is empty, so it is no entry.',
    'findTail: before < 0 && begin > from → false':
      'A line that begins before the window does not fit its sum, so the window grows all the same.',
    'findTail: before < 0 → before <= 0': 'The line is judged in the next, larger window.',
    'findTail: findSum(bytes, before + 1, end) >= 0 → findSum(bytes, before + 1, end) > 0': neverZero,
    'findTail: position > 0 → position >= 0': 'A position is never 0: where there is none, it is -1.',
  },
  'daemon/journal/segments.ts': {
    'openActive: Math.min(size, headerRoom) → Math.max(size, headerRoom)':
      'More is read than the header needs. The header ends at its line break, and zeros after it are ignored.',
    'openActive: headerEnd < 0 → false': 'An empty text is refused as a header with the same sentence.',
    'openActive: headerEnd < 0 → headerEnd <= 0': 'An empty line is refused as a header with the same sentence.',
  },
  'daemon/journal/side-files.ts': {
    'prune: { force: true } → {}': vanished,
    'prune: true → false': vanished,
    '#names: [] → ["Stryker was here"]': someName,
  },
  'daemon/journal/snapshots.ts': {
    'openSnapshots: { low.data = null } → {}':
      'It only frees memory: lowdb would keep the state that it read or wrote last.',
    'openSnapshots: [] → ["Stryker was here"]': 'A text has no name, so no file becomes known by it.',
    'durableAdapter: document → true': 'A write always has a document: only the type of lowdb allows null.',
  },
  'daemon/journal/state-file.ts': {
    'readOpenState: found < 0 → found <= 0':
      'An empty line at the beginning of a block is damage in any case, and the file is then parsed as a whole.',
    'readOpenState: size > wholeLimit → false': anyLength,
    'readOpenState: size > wholeLimit → size >= wholeLimit': anyLength,
    'parsed: { return undefined } → {}': returnsNothing,
    'StateReader: \'\' → "Stryker was here!"': overwritten,
    'StateReader: [] → ["Stryker was here"]': overwritten,
    'finish: problem !== undefined → true':
      'Without a problem the file is accepted, and no other way to read it is tried.',
    '#head: \'"sections":{\' → ""':
      'A first line with another end is not JSON or names no sections, and the file is then parsed as a whole.',
  },
  'daemon/journal/store-folder.ts': {
    'prepareFolder: { force: true } → {}': 'What it throws is ignored.',
    'prepareFolder: true → false': 'What it throws is ignored.',
    "makeFolder: code !== 'ENOENT' || dirname(path) === path || existsSync(dirname(path)) → (code !== 'ENOENT' || dirname(path) === path) && existsSync(dirname(path))":
      parent,
    "makeFolder: code !== 'ENOENT' || dirname(path) === path → false": parent,
    "makeFolder: code !== 'ENOENT' || dirname(path) === path → code !== 'ENOENT' && dirname(path) === path": parent,
    "makeFolder: code !== 'ENOENT' → false": parent,
    'makeFolder: dirname(path) === path → false': 'Only the root is its own parent, and it exists.',
  },
  'daemon/journal/store-lock.ts': {
    'lockBoth: \'win32\' → ""': windows,
    "lockBoth: process.platform === 'win32' → false": windows,
    "isNamed: platform === 'win32' → false": windows,
    'isNamed: \'win32\' → ""': windows,
    'lockKey: { bigint: true } → {}':
      'Numbers below 2⁵³ have the same digits, and a test cannot choose the number of a folder.',
    'lockKey: true → false': 'Numbers below 2⁵³ have the same digits, and a test cannot choose the number of a folder.',
    "lockKey: process.platform === 'win32' → false": windows,
    'lockKey: `\\\\\\\\?\\\\pipe\\\\${name}` → ``': windows,
    'lockKey: \'win32\' → ""': windows,
    'lockName: true → false': 'It matters only to workers of `node:cluster`, which natterd does not use.',
  },
}
