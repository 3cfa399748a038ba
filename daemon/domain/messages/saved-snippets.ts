// Saved snippets: personal records; only their owner gets the events.

import { savedSnippets as api } from '../../api/messages/saved-snippets.ts'
import { limits } from '../limits.ts'
import type { SavedSnippetFact } from '../model/facts/messages.ts'
import type { SavedSnippet } from '../model/rows/messages.ts'
import { full, invalid, missingOwn } from '../refusal.ts'
import { type Context, resource } from '../resource.ts'
import { clean } from '../values/text.ts'
import { seconds } from '../values/time.ts'
import { checkKept } from './messages/compose.ts'

export const savedSnippets = resource(api)<SavedSnippetFact>({
  commands: {
    list: ctx => ({ reply: { saved_snippets: present(ctx) } }),

    create(ctx, { title, content }) {
      const others = ctx.state.savedSnippets.where('user', ctx.actor.id)
      if (others.length >= limits.savedSnippets) throw full('You', limits.savedSnippets, 'saved snippets')
      const snippet = {
        id: ctx.state.savedSnippets.nextId,
        userId: ctx.actor.id,
        title: checkTitle(title),
        content: checkContent(content),
        dateCreated: seconds(ctx.now),
      }
      checkKept(others, [snippet], 'saved snippets')
      return { facts: [{ type: 'saved-snippet.created', snippet }], reply: { saved_snippet_id: snippet.id } }
    },

    edit(ctx, { saved_snippet_id, title, content }) {
      if (title === undefined && content === undefined) return { reply: {} }
      const old = findOwn(ctx, saved_snippet_id)
      const snippet = {
        ...old,
        title: title === undefined ? old.title : checkTitle(title),
        content: content === undefined ? old.content : checkContent(content),
      }
      checkKept(ctx.state.savedSnippets.where('user', ctx.actor.id), [snippet], 'saved snippets')
      return { facts: [{ type: 'saved-snippet.edited', snippet }], reply: {} }
    },

    delete(ctx, { saved_snippet_id }) {
      const { id, userId } = findOwn(ctx, saved_snippet_id)
      return { facts: [{ type: 'saved-snippet.deleted', id, userId }], reply: {} }
    },
  },

  apply: {
    'saved-snippet.created': (state, { snippet }) => state.savedSnippets.put(snippet),
    'saved-snippet.edited': (state, { snippet }) => state.savedSnippets.put(snippet),
    'saved-snippet.deleted': (state, { id }) => state.savedSnippets.remove(id),
  },

  announce: {
    'saved-snippet.created': (_state, { snippet }) => [
      { to: [snippet.userId], event: { type: 'saved_snippets', op: 'add', saved_snippet: presentOne(snippet) } },
    ],
    'saved-snippet.edited': (_state, { snippet }) => [
      { to: [snippet.userId], event: { type: 'saved_snippets', op: 'update', saved_snippet: presentOne(snippet) } },
    ],
    'saved-snippet.deleted': (_state, { id, userId }) => [
      { to: [userId], event: { type: 'saved_snippets', op: 'remove', saved_snippet_id: id } },
    ],
  },

  sections: { saved_snippets: ctx => ({ saved_snippets: present(ctx) }) },
})

function present(ctx: Context) {
  return ctx.state.savedSnippets.where('user', ctx.actor.id).map(presentOne)
}

function presentOne({ id, title, content, dateCreated }: SavedSnippet) {
  return { id, title, content, date_created: dateCreated }
}

/** Another user's snippet must look as if it did not exist. */
function findOwn(ctx: Context, id: number): SavedSnippet {
  const snippet = ctx.state.savedSnippets.get(id)
  if (snippet?.userId !== ctx.actor.id) throw missingOwn('saved_snippet_id', 'saved snippet', id)
  return snippet
}

function checkTitle(title: string): string {
  const checked = clean('title', title, limits.savedSnippetTitle)
  if (checked === '') throw invalid('title', 'cannot be blank')
  return checked
}

function checkContent(content: string): string {
  const checked = clean('content', content, limits.messageContent)
  if (checked === '') throw invalid('content', 'cannot be blank')
  return checked
}
