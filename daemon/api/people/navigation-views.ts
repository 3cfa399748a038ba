// Navigation views: entries in a user's sidebar.

import { bool, endpoint, inPath, listOf, nullable, optional, record, required, text } from '../define.ts'

const navigationView = record({ fragment: text, is_pinned: bool, name: nullable(text) })

export const navigationViews = {
  list: endpoint({
    id: 'get-navigation-views',
    route: 'GET /navigation_views',
    since: 390,
    summary: 'List your navigation views',
    reply: { navigation_views: listOf(navigationView) },
    cli: {
      name: 'views list',
      examples: ['natter views list', 'natter views list --json'],
    },
  }),
  add: endpoint({
    id: 'add-navigation-view',
    route: 'POST /navigation_views',
    since: 390,
    summary: 'Add a built-in or custom navigation view',
    params: {
      fragment: required(text, 'target: the part of the URL after #'),
      is_pinned: required(bool, 'whether it is shown in the sidebar instead of the menu of more views'),
      name: optional(nullable(text), 'the name; required for custom views, refused for built-in ones'),
    },
    cli: {
      defaults: { is_pinned: false },
      name: 'views add',
      done: 'added view {fragment}',
      args: ['fragment'],
      flags: { is_pinned: 'pinned' },
      examples: ['natter views add narrow/is/alerted --name Alerts --pinned', 'natter views add inbox --no-pinned'],
    },
  }),
  edit: endpoint({
    id: 'edit-navigation-view',
    route: 'PATCH /navigation_views/{fragment...}',
    since: 390,
    summary: 'Pin, unpin or rename a navigation view',
    params: {
      fragment: inPath(text, 'the view'),
      is_pinned: optional(bool, 'whether it is shown in the sidebar'),
      name: optional(nullable(text), 'the new name; only for custom views'),
    },
    cli: {
      name: 'views edit',
      done: 'edited view {fragment}',
      flags: { is_pinned: 'pinned' },
      examples: ['natter views edit inbox --pinned', 'natter views edit narrow/is/alerted --name "My alerts"'],
    },
  }),
  remove: endpoint({
    id: 'remove-navigation-view',
    route: 'DELETE /navigation_views/{fragment...}',
    since: 390,
    summary: 'Remove a navigation view',
    params: { fragment: inPath(text, 'the view') },
    cli: {
      name: 'views remove',
      done: 'removed view {fragment}',
      examples: ['natter views remove inbox', 'natter views remove narrow/is/alerted --json'],
    },
  }),
}
