// Every fact there is: what has happened, past tense, as the journal keeps it. Each subject declares its own in model/facts.

import type { AnyBotFact } from './model/facts/bots.ts'
import type { AnyChannelFact } from './model/facts/channels.ts'
import type { UploadFact } from './model/facts/files.ts'
import type { AnyMessageFact } from './model/facts/messages.ts'
import type { AnyOrganizationFact } from './model/facts/organization.ts'
import type { AnyPeopleFact } from './model/facts/people.ts'
import type { QueueFact, StoreFact } from './model/facts/queues.ts'

/** `daemon/replay.ts` applies those that no resource owns. */
export type Fact = ResourceFact | QueueFact | StoreFact

export type ResourceFact =
  | AnyBotFact
  | AnyChannelFact
  | UploadFact
  | AnyMessageFact
  | AnyOrganizationFact
  | AnyPeopleFact
