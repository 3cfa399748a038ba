// Drafts: messages that are not sent yet.

import {
  endpoint,
  inPath,
  int,
  listOf,
  markdown,
  maybe,
  num,
  oneOf,
  record,
  required,
  text,
  timestamp,
} from '../define.ts'

export const draft = record({
  id: int,
  type: oneOf('', 'stream', 'private'),
  to: listOf(int),
  topic: text,
  content: markdown,
  timestamp,
})

const newDraft = record({
  type: oneOf('', 'stream', 'private'),
  to: listOf(int),
  topic: text,
  content: markdown,
  timestamp: maybe(num),
})

export const drafts = {
  list: endpoint({
    id: 'get-drafts',
    route: 'GET /drafts',
    since: 87,
    summary: 'List your drafts, in the order of their last edits',
    reply: { count: int, drafts: listOf(draft) },
    cli: {
      name: 'drafts list',
      examples: ['natter drafts list', 'natter drafts list --json'],
      shows: 'drafts',
      recipients: 'to',
    },
  }),
  create: endpoint({
    id: 'create-drafts',
    route: 'POST /drafts',
    since: 87,
    summary: 'Create drafts',
    params: {
      drafts: required(listOf(newDraft), 'the drafts: objects with type, to, topic, content and optionally timestamp'),
    },
    reply: { ids: listOf(int) },
    cli: {
      draft: { param: 'drafts', summary: 'Create a draft of a message', args: ['content'] },
      name: 'drafts create',
      done: 'saved draft {ids}',
      examples: [
        "natter drafts create '#general>lunch' 'Pizza again?'",
        "natter drafts create amy@example.com 'Hi' --json",
        "natter drafts create 'A draft without a recipient'",
      ],
    },
  }),
  edit: endpoint({
    id: 'edit-draft',
    route: 'PATCH /drafts/{draft_id}',
    since: 87,
    summary: 'Replace a draft',
    params: {
      draft_id: inPath(int, 'the draft'),
      draft: required(newDraft, 'the complete new draft'),
    },
    cli: {
      draft: { param: 'draft', args: ['draft_id', '@place', 'content'] },
      name: 'drafts edit',
      done: 'replaced draft {draft_id}',
      examples: [
        "natter drafts edit 1 '#general>lunch' 'Pasta?'",
        'natter drafts edit 1 \'{"type":"","to":[],"topic":"","content":"Now"}\' --json',
      ],
    },
  }),
  delete: endpoint({
    id: 'delete-draft',
    route: 'DELETE /drafts/{draft_id}',
    since: 87,
    summary: 'Delete a draft',
    params: { draft_id: inPath(int, 'the draft') },
    cli: {
      name: 'drafts delete',
      done: 'deleted draft {draft_id}',
      examples: ['natter drafts delete 1', 'natter drafts delete 1 --json'],
    },
  }),
}
