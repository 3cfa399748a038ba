// Bot storage: text values by key. Each bot has its own.

import { longestKept } from '../bounds.ts'
import { endpoint, keyed, listOf, optional, required, text, textUpTo } from '../define.ts'

const keys = optional(listOf(text), 'the keys; all if omitted')

export const botStorage = {
  get: endpoint({
    id: 'get-bot-storage',
    route: 'GET /bot_storage',
    summary: 'Get values from the storage of a bot',
    params: { keys },
    reply: { storage: keyed(text) },
    cli: {
      name: 'bot-storage get',
      args: ['keys'],
      examples: ['natter bot-storage get', 'natter bot-storage get last-build --json'],
    },
  }),
  put: endpoint({
    id: 'update-bot-storage',
    route: 'PUT /bot_storage',
    summary: 'Set values in the storage of a bot',
    params: { storage: required(keyed(textUpTo(longestKept)), 'text values by key') },
    cli: {
      name: 'bot-storage put',
      done: 'stored the values',
      examples: [
        `natter bot-storage put '{"last-build": "117"}'`,
        `natter bot-storage put '{"greeting": "Hello!"}' --json`,
      ],
    },
  }),
  remove: endpoint({
    id: 'remove-bot-storage',
    route: 'DELETE /bot_storage',
    summary: 'Delete keys from the storage of a bot, or all of them',
    params: { keys },
    cli: {
      name: 'bot-storage remove',
      done: 'deleted the values',
      args: ['keys'],
      examples: ['natter bot-storage remove last-build', 'natter bot-storage remove --json'],
    },
  }),
}
