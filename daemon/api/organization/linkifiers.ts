// Linkifiers: patterns in messages and topics that become links.

import { endpoint, inPath, int, listOf, nullable, optional, record, required, since, text } from '../define.ts'

export const linkifier = record({
  id: int,
  pattern: text,
  url_template: text,
  example_input: since(471, nullable(text)),
  reverse_template: since(471, nullable(text)),
  alternative_url_templates: since(478, listOf(text)),
})

const rule = {
  pattern: required(text, 'regular expression in RE2 syntax, with named groups such as (?P<id>[0-9]+)'),
  url_template: required(text, 'target URL: an RFC 6570 template whose variables are the named groups'),
  example_input: optional(text, 'a text that matches the pattern; empty for none', { since: 471 }),
  reverse_template: optional(
    text,
    'what a pasted URL becomes, with {name} for the named groups; needs example_input, empty for none',
    { since: 471 },
  ),
  alternative_url_templates: optional(listOf(text, 10), 'more templates, for pasted URLs only', { since: 478 }),
}

export const linkifiers = {
  list: endpoint({
    id: 'get-linkifiers',
    route: 'GET /realm/linkifiers',
    since: 54,
    summary: 'List linkifiers, in the order they are applied',
    reply: { linkifiers: listOf(linkifier) },
    cli: {
      name: 'linkifiers list',
      examples: ['natter linkifiers list', 'natter linkifiers list --json'],
    },
  }),
  add: endpoint({
    id: 'add-linkifier',
    route: 'POST /realm/filters',
    callers: 'administrators',
    summary: 'Add a linkifier (administrators)',
    params: rule,
    reply: { id: int },
    cli: {
      name: 'linkifiers add',
      done: 'added linkifier {id}',
      examples: [
        'natter linkifiers add "#(?P<id>[0-9]+)" "https://issues.example.com/{id}"',
        'natter linkifiers add "docs/(?P<page>[a-z]+)" "https://docs.example.com/{page}" --json',
      ],
    },
  }),
  update: endpoint({
    id: 'update-linkifier',
    route: 'PATCH /realm/filters/{filter_id}',
    callers: 'administrators',
    since: 57,
    summary: 'Edit a linkifier (administrators)',
    params: { filter_id: inPath(int, 'the linkifier'), ...rule },
    cli: {
      name: 'linkifiers edit',
      done: 'edited linkifier {filter_id}',
      examples: [
        'natter linkifiers edit 1 "#(?P<id>[0-9]+)" "https://bugs.example.com/{id}"',
        'natter linkifiers edit 1 "issue (?P<id>[0-9]+)" "https://bugs.example.com/{id}"',
      ],
    },
  }),
  remove: endpoint({
    id: 'remove-linkifier',
    route: 'DELETE /realm/filters/{filter_id}',
    callers: 'administrators',
    summary: 'Remove a linkifier (administrators)',
    params: { filter_id: inPath(int, 'the linkifier') },
    cli: {
      name: 'linkifiers remove',
      done: 'removed linkifier {filter_id}',
      examples: ['natter linkifiers remove 1', 'natter linkifiers remove 1 --json'],
    },
  }),
  reorder: endpoint({
    id: 'reorder-linkifiers',
    route: 'PATCH /realm/linkifiers',
    callers: 'administrators',
    since: 202,
    summary: 'Reorder linkifiers (administrators)',
    params: { ordered_linkifier_ids: required(listOf(int), 'IDs of all linkifiers, in the new order') },
    cli: {
      name: 'linkifiers reorder',
      done: 'reordered the linkifiers',
      examples: ['natter linkifiers reorder 2,1', 'natter linkifiers reorder "[2,1]" --json'],
    },
  }),
}
