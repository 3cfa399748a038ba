// Friendlier forms of endpoints that take a whole record as JSON: a draft is written like a message.

import {
  type Endpoint,
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
import { jsonOr } from '../../daemon/local/json.ts'
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

export function buildForm(endpoint: Endpoint): Endpoint {
  const { draft, ...cli } = endpoint.cli
  if (!draft) return endpoint
  const { [draft.param]: records, ...others } = endpoint.params
  const list = records!.shape.type === 'array'
  const form: Form = {
    ...endpoint,
    target: endpoint,
    summary: draft.summary ?? endpoint.summary,
    params: { ...others, ...message },
    cli: { ...cli, args: draft.args },
    from: values => {
      const { type, to, topic, content, ...rest } = values
      const given = givenRecord(values, list ? '[' : '{')
      // A draft is replaced as a whole.
      if (!given && !list && type === undefined)
        throw usage('no recipient given', "Give '#channel>topic' or people before the text.")
      return { ...rest, [draft.param]: given ?? (list ? [draftFrom(values)] : draftFrom(values)) }
    },
  }
  return form
}

/** The request for these params. */
export function encodeRequest(endpoint: Endpoint, values: Values): ReturnType<typeof encode> {
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
function givenRecord({ content, type }: Values, begin: '[' | '{'): unknown {
  if (type !== undefined || typeof content !== 'string' || !content.startsWith(begin)) return undefined
  return jsonOr(content)
}
