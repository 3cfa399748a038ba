// Alert words: words that notify a user when a message contains them.

import { endpoint, listOf, required, text } from '../define.ts'

const reply = { alert_words: listOf(text) }

export const alertWords = {
  list: endpoint({
    id: 'get-alert-words',
    route: 'GET /users/me/alert_words',
    summary: 'List your alert words',
    reply,
    cli: { name: 'alerts list', examples: ['natter alerts list', 'natter alerts list --json'] },
  }),
  add: endpoint({
    id: 'add-alert-words',
    route: 'POST /users/me/alert_words',
    summary: 'Add alert words',
    params: { alert_words: required(listOf(text), 'the words, at most 100 characters each') },
    reply,
    cli: {
      name: 'alerts add',
      examples: ['natter alerts add outage,rollback', 'natter alerts add \'["on fire"]\''],
      shows: 'alert_words',
    },
  }),
  remove: endpoint({
    id: 'remove-alert-words',
    route: 'DELETE /users/me/alert_words',
    summary: 'Remove alert words',
    params: { alert_words: required(listOf(text), 'the words; upper and lower case are the same') },
    reply,
    cli: {
      name: 'alerts remove',
      examples: ['natter alerts remove rollback', 'natter alerts remove \'["on fire"]\''],
      shows: 'alert_words',
    },
  }),
}
