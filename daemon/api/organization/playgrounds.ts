// Code playgrounds: sites where a code block of a language can be opened and run.

import { endpoint, inPath, int, required, text } from '../define.ts'

export const playgrounds = {
  add: endpoint({
    id: 'add-code-playground',
    route: 'POST /realm/playgrounds',
    callers: 'administrators',
    since: 49,
    summary: 'Add a code playground (administrators)',
    params: {
      name: required(text, 'the name'),
      pygments_language: required(text, 'the language of the code blocks, such as python'),
      url_template: required(text, 'URL: an RFC 6570 template with the single variable {code}'),
    },
    reply: { id: int },
    cli: {
      name: 'playgrounds add',
      done: 'added playground {name} (ID {id})',
      examples: [
        'natter playgrounds add "Python here" python "https://run.example.com/?code={code}"',
        'natter playgrounds add Rust rust "https://play.example.com/{?code}" --json',
      ],
    },
  }),
  remove: endpoint({
    id: 'remove-code-playground',
    route: 'DELETE /realm/playgrounds/{playground_id}',
    callers: 'administrators',
    since: 49,
    summary: 'Remove a code playground (administrators)',
    params: { playground_id: inPath(int, 'the playground') },
    cli: {
      name: 'playgrounds remove',
      done: 'removed playground {playground_id}',
      examples: ['natter playgrounds remove 1', 'natter playgrounds remove 1 --json'],
    },
  }),
}
