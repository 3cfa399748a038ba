// Emoji reactions to messages.

import { emojiName, endpoint, inPath, int, messageId, optional, record, required, text } from '../define.ts'

export const reaction = record({
  emoji_name: text,
  emoji_code: text,
  reaction_type: text,
  user_id: int,
})

const emoji = {
  emoji_code: optional(text, 'code of the emoji in the namespace of reaction_type'),
  reaction_type: optional(text, 'unicode_emoji, realm_emoji or svc_extra_emoji; looked up by name if omitted'),
}

export const reactions = {
  add: endpoint({
    id: 'add-reaction',
    route: 'POST /messages/{message_id}/reactions',
    summary: 'React to a message with an emoji',
    params: {
      message_id: inPath(messageId, 'the message'),
      emoji_name: required(emojiName, 'name of the emoji, without colons'),
      ...emoji,
    },
    refusals: ['REACTION_ALREADY_EXISTS'],
    cli: {
      name: 'reactions add',
      done: 'reacted to message {message_id}',
      examples: ['natter reactions add 3 tada', 'natter reactions add 3 +1'],
    },
  }),
  remove: endpoint({
    id: 'remove-reaction',
    route: 'DELETE /messages/{message_id}/reactions',
    summary: 'Remove your reaction from a message',
    params: {
      message_id: inPath(messageId, 'the message'),
      emoji_name: optional(emojiName, 'name of the emoji; required unless emoji_code is given'),
      ...emoji,
    },
    refusals: ['REACTION_DOES_NOT_EXIST'],
    cli: {
      name: 'reactions remove',
      done: 'removed your reaction from message {message_id}',
      args: ['message_id', 'emoji_name'],
      examples: ['natter reactions remove 3 tada', 'natter reactions remove 3 --emoji-code 1f389'],
    },
  }),
}
