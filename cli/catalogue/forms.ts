// Friendlier forms of endpoints that take a whole record as JSON: a draft is written like a message.

import {
  type Endpoint,
  inPath,
  int,
  listOf,
  markdown,
  optional,
  required,
  text,
  topicName,
  userId,
} from '../../daemon/api/define.ts'
import { longestContent, longestTopic } from '../../daemon/api/shapes/messages.ts'
import { encode } from '../../daemon/api/wire.ts'
import { usage } from '../base/failure.ts'

/** Parsed and documented as if it had these params. */
interface Form extends Endpoint {
  /** The endpoint to call. */
  readonly target: Endpoint
  /** Makes its params from those of the form. */
  from(values: Values): Values
}

type Values = Readonly<Record<string, unknown>>

const message = {
  type: optional(text, 'stream or private; follows from the recipient'),
  to: optional(listOf(userId), 'users to send it to'),
  topic: optional(topicName, 'the topic, for a channel message', { cut: longestTopic }),
  content: required(markdown, 'the content, in Markdown', { cut: longestContent }),
}

const forms: Readonly<Record<string, (target: Endpoint) => Form>> = {
  'create-drafts': target => ({
    ...target,
    target,
    summary: 'Create a draft of a message',
    params: message,
    cli: { ...target.cli, args: ['content'] },
    from: values => ({ drafts: given(values, '[') ?? [draftFrom(values)] }),
  }),
  'edit-draft': target => ({
    ...target,
    target,
    params: { draft_id: inPath(int, 'which draft'), ...message },
    cli: { ...target.cli, args: ['draft_id', '@place', 'content'] },
    from: ({ draft_id, ...values }) => {
      const draft = given(values, '{')
      // A draft is replaced as a whole.
      if (!draft && values.type === undefined)
        throw usage('no recipient given', "Give '#channel>topic' or users before the text.")
      return { draft_id, draft: draft ?? draftFrom(values) }
    },
  }),
}

export function formOf(endpoint: Endpoint): Endpoint {
  return Object.hasOwn(forms, endpoint.id) ? forms[endpoint.id]!(endpoint) : endpoint
}

/** The request for these params. */
export function requestOf(endpoint: Endpoint, values: Values): ReturnType<typeof encode> {
  return isForm(endpoint) ? encode(endpoint.target, endpoint.from(values)) : encode(endpoint, values)
}

function isForm(endpoint: Endpoint): endpoint is Form {
  return Object.hasOwn(endpoint, 'target')
}

function draftFrom({ type, to, topic = '', content }: Values): Values {
  const direct = type === 'direct' || type === 'private'
  if (direct) return { type: 'private', to, topic: '', content }
  if (type === undefined) return { type: '', to: [], topic, content }
  return { type: 'stream', to: Array.isArray(to) ? to : [to], topic, content }
}

/** The record itself, for callers that have it as JSON. */
function given({ content, type }: Values, begin: '[' | '{'): unknown {
  if (type !== undefined || typeof content !== 'string' || !content.startsWith(begin)) return undefined
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}
