// Avatars: your own image.

import { endpoint, required, text, upload } from '../define.ts'

export const avatars = {
  upload: endpoint({
    id: 'upload-avatar',
    route: 'POST /users/me/avatar',
    summary: 'Upload your avatar: PNG, JPEG, GIF or WebP, at most 5 MiB',
    params: { file: required(upload, 'the image') },
    reply: { avatar_url: text },
    refusals: ['BAD_IMAGE', 'REALM_UPLOAD_QUOTA'],
    cli: {
      name: 'avatar upload',
      done: 'changed your avatar: {avatar_url}',
      examples: ['natter avatar upload me.png', 'natter avatar upload me.jpg --json'],
      shows: 'avatar_url',
    },
  }),
  delete: endpoint({
    id: 'delete-avatar',
    route: 'DELETE /users/me/avatar',
    summary: 'Delete your avatar and use the one from the avatar provider',
    reply: { avatar_url: text },
    cli: {
      name: 'avatar delete',
      done: 'removed your avatar: {avatar_url}',
      examples: ['natter avatar delete', 'natter avatar delete --json'],
      shows: 'avatar_url',
    },
  }),
}
