// Navigation views: personal records, keyed by their fragment.

import { navigationViews as api } from '../../api/people/navigation-views.ts'
import { limits } from '../limits.ts'
import type { NavigationViewFact } from '../model/facts/people.ts'
import type { NavigationView } from '../model/rows/people.ts'
import { full, invalid, missingOwn, needed, taken } from '../refusal.ts'
import { type Context, resource } from '../resource.ts'

const builtIn = new Set([
  'inbox',
  'recent',
  'feed',
  'drafts',
  'narrow/has/reaction/sender/me',
  'narrow/is/mentioned',
  'narrow/is/starred',
  'scheduled',
])

export const navigationViews = resource(api)<NavigationViewFact>({
  commands: {
    list: ctx => ({ reply: { navigation_views: present(ctx) } }),

    add(ctx, { fragment, is_pinned, name }) {
      if (ctx.state.navigationViews.where('user', ctx.actor.id).length >= limits.navigationViews)
        throw full('You', limits.navigationViews, 'navigation views')
      const view = { userId: ctx.actor.id, fragment: fragment.trim(), isPinned: is_pinned, name: name ?? null }
      if (view.fragment === '') throw invalid('fragment', 'cannot be blank')
      if (ctx.state.navigationViews.has(keyOf(view))) throw taken('fragment', view.fragment)
      if (view.name === null && !builtIn.has(view.fragment)) throw needed('name', 'for a view that is not built in')
      if (view.name !== null) checkName(ctx, view.fragment, view.name)
      return { facts: [{ type: 'navigation-view.added', view }], reply: {} }
    },

    edit(ctx, { fragment, is_pinned, name }) {
      const old = findOwn(ctx, fragment)
      // null says no more than leaving it out: it is the name of every built-in view, and of no other.
      if (name !== undefined && name !== null && name !== old.name) checkName(ctx, fragment, name)
      const view = { ...old, isPinned: is_pinned ?? old.isPinned, name: name ?? old.name }
      const changed = {
        ...(view.isPinned !== old.isPinned && { is_pinned: view.isPinned }),
        ...(view.name !== old.name && { name: view.name }),
      }
      if (Object.keys(changed).length === 0) return { reply: {} }
      return { facts: [{ type: 'navigation-view.edited', view, changed }], reply: {} }
    },

    remove(ctx, { fragment }) {
      const { userId } = findOwn(ctx, fragment)
      return { facts: [{ type: 'navigation-view.removed', userId, fragment }], reply: {} }
    },
  },

  apply: {
    'navigation-view.added': (state, { view }) => state.navigationViews.put(view),
    'navigation-view.edited': (state, { view }) => state.navigationViews.put(view),
    'navigation-view.removed': (state, fact) => state.navigationViews.remove(keyOf(fact)),
  },

  announce: {
    'navigation-view.added': (_state, { view }) => [
      { to: [view.userId], event: { type: 'navigation_view', op: 'add', navigation_view: presentOne(view) } },
    ],
    'navigation-view.edited': (_state, { view, changed }) => [
      {
        to: [view.userId],
        event: { type: 'navigation_view', op: 'update', fragment: view.fragment, data: changed },
      },
    ],
    'navigation-view.removed': (_state, { userId, fragment }) => [
      { to: [userId], event: { type: 'navigation_view', op: 'remove', fragment } },
    ],
  },

  sections: { navigation_views: ctx => ({ navigation_views: present(ctx) }) },
})

/** The table's key: fragments are unique for one user only. */
export function keyOf({ userId, fragment }: { readonly userId: number; readonly fragment: string }) {
  return `${userId}/${fragment}` as const
}

function present(ctx: Context) {
  return ctx.state.navigationViews.where('user', ctx.actor.id).map(presentOne)
}

function presentOne({ fragment, isPinned, name }: NavigationView) {
  return { fragment, is_pinned: isPinned, name }
}

function findOwn(ctx: Context, fragment: string): NavigationView {
  const view = ctx.state.navigationViews.get(keyOf({ userId: ctx.actor.id, fragment }))
  if (!view) throw missingOwn('fragment', 'navigation view', fragment)
  return view
}

function checkName(ctx: Context, fragment: string, name: string): void {
  if (builtIn.has(fragment)) throw invalid('name', 'a built-in view cannot be renamed')
  if (name.trim() === '') throw invalid('name', 'cannot be blank')
  if (ctx.state.navigationViews.where('user', ctx.actor.id).some(view => view.name === name)) throw taken('name', name)
}
