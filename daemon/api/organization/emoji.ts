// Custom emoji: images that the organization uploads.

import { bool, emojiName, endpoint, inPath, int, keyed, nullable, record, required, text, upload } from '../define.ts'

export const customEmoji = record({
  id: text,
  name: text,
  source_url: text,
  still_url: nullable(text),
  deactivated: bool,
  author_id: nullable(int),
})

export const emoji = {
  list: endpoint({
    id: 'get-custom-emoji',
    route: 'GET /realm/emoji',
    summary: 'List custom emoji, including deactivated ones',
    reply: { emoji: keyed(customEmoji) },
    cli: { name: 'emoji list', examples: ['natter emoji list', 'natter emoji list --json'] },
  }),
  upload: endpoint({
    id: 'upload-custom-emoji',
    route: 'POST /realm/emoji/{emoji_name...}',
    callers: 'human members',
    summary: 'Add a custom emoji: PNG, JPEG, GIF or WebP, at most 5 MiB',
    params: {
      emoji_name: inPath(emojiName, 'the name: lower-case letters, digits, - and _'),
      file: required(upload, 'the image'),
    },
    refusals: ['BAD_IMAGE', 'REALM_UPLOAD_QUOTA'],
    cli: {
      name: 'emoji upload',
      done: 'added emoji {emoji_name}',
      examples: ['natter emoji upload shipit squirrel.png', 'natter emoji upload party_parrot parrot.gif'],
    },
  }),
  deactivate: endpoint({
    id: 'deactivate-custom-emoji',
    route: 'DELETE /realm/emoji/{emoji_name...}',
    summary: 'Deactivate a custom emoji; messages that use it still show it',
    params: { emoji_name: inPath(emojiName, 'the name') },
    cli: {
      name: 'emoji deactivate',
      done: 'deactivated emoji {emoji_name}',
      examples: ['natter emoji deactivate shipit', 'natter emoji deactivate shipit --json'],
    },
  }),
}
