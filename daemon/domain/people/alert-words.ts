// Alert words: personal; only their owner gets the events. Messages look for them when they are sent.

import { alertWords as api } from '../../api/people/alert-words.ts'
import { limits } from '../limits.ts'
import type { AlertWordsFact } from '../model/facts/people.ts'
import type { State } from '../model/state.ts'
import { conflict } from '../refusal.ts'
import { type Context, type Outcome, resource } from '../resource.ts'
import { clean } from '../values/text.ts'

export const alertWords = resource(api)<AlertWordsFact>({
  commands: {
    list: ctx => ({ reply: { alert_words: [...wordsOf(ctx.state, ctx.actor.id)] } }),

    add(ctx, params) {
      const words = [...wordsOf(ctx.state, ctx.actor.id)]
      const known = new Set(words.map(fold))
      for (const [index, given] of params.alert_words.entries()) {
        const word = clean(`alert_words[${index}]`, given, limits.alertWord)
        if (word === '' || known.has(fold(word))) continue
        known.add(fold(word))
        words.push(word)
      }
      if (words.length > limits.alertWords)
        throw conflict('alert_words', `you can have ${limits.alertWords} alert words; remove some first`)
      return changeWords(ctx, words)
    },

    remove(ctx, params) {
      const gone = new Set(params.alert_words.map(word => fold(word.trim())))
      return changeWords(
        ctx,
        wordsOf(ctx.state, ctx.actor.id).filter(word => !gone.has(fold(word))),
      )
    },
  },

  apply: { 'alert-words.changed': (state, { userId, words }) => state.alertWords.put({ userId, words }) },

  announce: {
    'alert-words.changed': (_state, { userId, words }) => [
      { to: [userId], event: { type: 'alert_words', alert_words: words } },
    ],
  },

  sections: { alert_words: ({ state, actor }) => ({ alert_words: wordsOf(state, actor.id) }) },
})

export function wordsOf(state: State, userId: number): readonly string[] {
  return state.alertWords.get(userId)?.words ?? []
}

function changeWords(ctx: Context, words: string[]): Outcome<{ alert_words: string[] }> {
  const same = words.length === wordsOf(ctx.state, ctx.actor.id).length
  return {
    facts: same ? [] : [{ type: 'alert-words.changed', userId: ctx.actor.id, words }],
    reply: { alert_words: words },
  }
}

function fold(word: string): string {
  return word.toLowerCase()
}
