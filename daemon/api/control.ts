// The table of contents of the control plane: what a test can ask of a daemon beside the API. Off unless asked for, under
// /control/v1, for programs that have its token. A new endpoint is an entry on a page and a handler in daemon/control.

import type { Page } from './define.ts'

export const controlPages = {
  clock: {
    about: 'freeze, move and resume the daemon’s clock',
    words: ['clock'],
    load: async () => (await import('./control/clock.ts')).clock,
  },
  snapshots: {
    about: 'save the state of a daemon by name, and go back to it',
    words: ['reset', 'snapshot', 'seed'],
    load: async () => (await import('./control/snapshots.ts')).snapshots,
  },
  spaces: {
    about: 'more organizations in the same daemon, each with an address of its own',
    words: ['spaces'],
    load: async () => (await import('./control/spaces.ts')).spaces,
  },
  faults: {
    about: 'make calls fail',
    words: ['faults'],
    load: async () => (await import('./control/faults.ts')).faults,
  },
  requests: {
    about: 'the calls that a daemon was sent',
    words: ['requests'],
    load: async () => (await import('./control/requests.ts')).requests,
  },
  events: {
    about: 'the events of all accounts, and who was notified',
    words: ['events'],
    load: async () => (await import('./control/events.ts')).eventLog,
  },
  queues: {
    about: 'the event queues of all accounts',
    words: ['queues'],
    load: async () => (await import('./control/queues.ts')).allQueues,
  },
  live: {
    about: 'what happens in a daemon, as it happens, and how it is doing',
    words: ['live', 'health'],
    load: async () => (await import('./control/live.ts')).live,
  },
  outbox: {
    about: 'the mails that a daemon wrote',
    words: ['outbox'],
    load: async () => (await import('./control/outbox.ts')).outbox,
  },
  webhooks: {
    about: 'what the servers of outgoing webhook bots were sent',
    words: ['webhooks'],
    load: async () => (await import('./control/webhooks.ts')).webhookRequests,
  },
  why: {
    about: 'why an account received a message or not, and why a call was refused',
    words: ['why'],
    load: async () => (await import('./control/why.ts')).why,
  },
  recording: {
    about: 'every call with its answer, as it happens',
    words: ['recording'],
    load: async () => (await import('./control/recording.ts')).recording,
  },
  drift: {
    about: 'where the answers of this daemon differ from those of a recorded server',
    words: ['drift'],
    load: async () => (await import('./control/drift.ts')).drift,
  },
  report: {
    about: 'everything that explains a failed test, in one answer',
    words: ['report'],
    load: async () => (await import('./control/report.ts')).report,
  },
  rules: {
    about: 'the rules of the permission model, in words',
    words: ['rules'],
    load: async () => (await import('./control/rules.ts')).ruleList,
  },
  accounts: {
    about: 'all accounts, with their API keys',
    words: ['accounts'],
    load: async () => (await import('./control/accounts.ts')).accounts,
  },
} as const satisfies Record<string, Page>
