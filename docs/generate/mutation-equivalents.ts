// Mutants of `npm run mutate` that no test can kill, each with the reason. A test checks that each still survives.

const shortcut = 'A shortcut: the rule that is asked otherwise allows everyone while nothing is limited.'
const noOwner = 'A bot without an owner has null, and a person has no bot: the table has no row under either.'
const visited =
  'No group is inside itself: commands refuse it. Without the check a group that is inside two others is visited twice, and the set keeps it once.'

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
    'groupsOf: groups.has(group.id) → false': visited,
    'withSubgroups: all.has(id) → false': visited,
  },
  'daemon/domain/rules/messages.ts': {
    'isOnTheWeb: channel?.webPublic → channel.webPublic':
      'The channel of a message exists: channels are archived, never removed.',
  },
}
