// Bot storage: what a bot wants to remember, texts by key. Each bot has its own.

import { endpoint, keyed, listOf, optional, required, text } from '../define.ts'

const keys = optional(listOf(text), 'which keys; all when absent')

export const botStorage = {
  get: endpoint({
    id: 'get-bot-storage',
    method: 'GET',
    path: '/bot_storage',
    access: 'user',
    since: 1,
    summary: 'Read what the bot remembers',
    params: { keys },
    reply: { storage: keyed(text) },
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'bot-storage get',
      args: ['keys'],
      examples: ['natter bot-storage get', 'natter bot-storage get last-build --json'],
      shows: 'storage',
    },
  }),
  put: endpoint({
    id: 'update-bot-storage',
    method: 'PUT',
    path: '/bot_storage',
    access: 'user',
    since: 1,
    summary: 'Remember texts by key',
    params: { storage: required(keyed(text), 'texts by key') },
    reply: {},
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'bot-storage put',
      args: ['storage'],
      examples: [
        `natter bot-storage put '{"last-build": "117"}'`,
        `natter bot-storage put '{"greeting": "Hello!"}' --json`,
      ],
    },
  }),
  remove: endpoint({
    id: 'remove-bot-storage',
    method: 'DELETE',
    path: '/bot_storage',
    access: 'user',
    since: 1,
    summary: 'Forget keys, or everything',
    params: { keys },
    reply: {},
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'bot-storage remove',
      args: ['keys'],
      examples: ['natter bot-storage remove last-build', 'natter bot-storage remove --json'],
    },
  }),
}
