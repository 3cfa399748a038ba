// Endpoints that take a whole record in JSON, in the words that people use for the same: a draft is said like a message.

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
import { encode } from '../../daemon/api/wire.ts'
import { usage } from '../base/failure.ts'

/** Read and explained as if it had these params. */
interface Form extends Endpoint {
  /** What is called. */
  readonly target: Endpoint
  /** Its params, from those of the form. */
  from(values: Values): Values
}

type Values = Readonly<Record<string, unknown>>

const message = {
  type: optional(text, 'stream or private; known from where it goes'),
  to: optional(listOf(userId), 'people to whom it will go'),
  topic: optional(topicName, 'topic, in a channel'),
  content: required(markdown, 'the text'),
}

const forms: Readonly<Record<string, (target: Endpoint) => Form>> = {
  'create-drafts': target => ({
    ...target,
    target,
    summary: 'Keep a draft of a message',
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
        throw usage('it is not said where it will go', "Say '#channel>topic' or people before the text.")
      return { draft_id, draft: draft ?? draftFrom(values) }
    },
  }),
}

export function formOf(endpoint: Endpoint): Endpoint {
  return Object.hasOwn(forms, endpoint.id) ? forms[endpoint.id]!(endpoint) : endpoint
}

/** The request that these params make. */
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

/** The record itself, by those who have it in JSON. */
function given({ content, type }: Values, begin: '[' | '{'): unknown {
  if (type !== undefined || typeof content !== 'string' || !content.startsWith(begin)) return undefined
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}
