// `natter reset` and `natter snapshot …`: states of a daemon to go back to.

import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { controlled } from './call.ts'

const name = { name: 'name', about: 'the snapshot' }

export const reset: readonly ExtraSubcommand[] = [
  controlled({
    name: 'reset',
    about: 'Put everything back to how the daemon began: its seed, its time, no faults, empty logs; queues are gone',
    method: 'POST',
    path: () => '/reset',
    examples: ['natter reset', 'natter reset --ready-file ready.json --json'],
  }),
]

export const snapshot: readonly ExtraSubcommand[] = [
  controlled({
    name: 'snapshot save',
    about: 'Save the state of the daemon under a name, in its memory',
    args: [name],
    method: 'POST',
    path: () => '/snapshots',
    body: ({ args }) => ({ name: args[0] }),
    examples: ['natter snapshot save before', 'natter snapshot save before --json'],
  }),
  controlled({
    name: 'snapshot restore',
    about: 'Go back to a saved state; queues are gone',
    args: [name],
    method: 'POST',
    path: ({ args }) => `/snapshots/${encodeURIComponent(args[0]!)}/restore`,
    examples: ['natter snapshot restore before', 'natter snapshot restore before --json'],
  }),
  controlled({
    name: 'snapshot list',
    about: 'List saved states',
    method: 'GET',
    path: () => '/snapshots',
    shows: 'snapshots',
    examples: ['natter snapshot list', 'natter snapshot list --json'],
  }),
  controlled({
    name: 'snapshot remove',
    about: 'Forget a saved state',
    args: [name],
    method: 'DELETE',
    path: ({ args }) => `/snapshots/${encodeURIComponent(args[0]!)}`,
    examples: ['natter snapshot remove before', 'natter snapshot remove before --json'],
  }),
]
