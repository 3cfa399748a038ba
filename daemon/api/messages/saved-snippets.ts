// Saved snippets: pieces of Markdown a user keeps for later messages.

import {
  endpoint,
  inPath,
  int,
  listOf,
  markdown,
  optional,
  record,
  required,
  snippetId,
  text,
  timestamp,
} from '../define.ts'

const savedSnippet = record({ id: int, title: text, content: markdown, date_created: timestamp })

export const savedSnippets = {
  list: endpoint({
    id: 'get-saved-snippets',
    route: 'GET /saved_snippets',
    since: 297,
    summary: 'List your saved snippets',
    reply: { saved_snippets: listOf(savedSnippet) },
    cli: {
      name: 'snippets list',
      examples: ['natter snippets list', 'natter snippets list --json'],
    },
  }),
  create: endpoint({
    id: 'create-saved-snippet',
    route: 'POST /saved_snippets',
    since: 297,
    summary: 'Save a piece of text for later messages',
    params: {
      title: required(text, 'the title, at most 60 characters'),
      content: required(markdown, 'the content, in Markdown'),
    },
    reply: { saved_snippet_id: int },
    cli: {
      name: 'snippets create',
      done: 'created snippet {title} (ID {saved_snippet_id})',
      examples: ['natter snippets create Greeting "Welcome aboard!"', 'cat notes.md | natter snippets create Notes -'],
    },
  }),
  edit: endpoint({
    id: 'edit-saved-snippet',
    route: 'PATCH /saved_snippets/{saved_snippet_id}',
    since: 368,
    summary: 'Edit the title or content of a saved snippet',
    params: {
      saved_snippet_id: inPath(snippetId, 'the snippet'),
      title: optional(text, 'the new title'),
      content: optional(markdown, 'the new content, in Markdown'),
    },
    cli: {
      name: 'snippets edit',
      done: 'edited snippet {saved_snippet_id}',
      examples: ['natter snippets edit 1 --title Hello', 'natter snippets edit 1 --content "Welcome, all!"'],
    },
  }),
  delete: endpoint({
    id: 'delete-saved-snippet',
    route: 'DELETE /saved_snippets/{saved_snippet_id}',
    since: 297,
    summary: 'Delete a saved snippet',
    params: { saved_snippet_id: inPath(snippetId, 'the snippet') },
    cli: {
      name: 'snippets delete',
      done: 'deleted snippet {saved_snippet_id}',
      examples: ['natter snippets delete 1', 'natter snippets delete 1 --json'],
    },
  }),
}
