// Bot storage: key-value pairs that an account keeps, usually that of a bot. There are no events.

import { botStorage as api } from '../../api/bots/bot-storage.ts'
import { limits } from '../limits.ts'
import type { BotStorageFact } from '../model/facts/bots.ts'
import type { StoredItem } from '../model/rows/people.ts'
import { full, invalid, missing } from '../refusal.ts'
import { type Context, resource } from '../resource.ts'
import * as may from '../rules/index.ts'

export const botStorage = resource(api)<BotStorageFact>({
  commands: {
    get(ctx, { keys }) {
      const items = keys ? keys.map((key, index) => findItem(ctx, key, index)) : listItems(ctx)
      return { reply: { storage: Object.fromEntries(items.map(({ key, value }) => [key, value])) } }
    },

    put(ctx, { storage }) {
      const sizes = new Map(listItems(ctx).map(item => [item.key, measure(item)]))
      const items = Object.entries(storage).map(([key, value]) => ({ userId: ctx.actor.id, key, value }))
      for (const item of items) sizes.set(item.key, measure(item))
      if (
        sizes.size > limits.botStorageKeys &&
        items.some(({ key }) => !ctx.state.botStorage.has(`${ctx.actor.id}/${key}`))
      )
        throw full('You', limits.botStorageKeys, 'stored values')
      const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
      if (total > limits.botStorage)
        throw invalid('storage', `must be at most ${limits.botStorage} characters in total; this would be ${total}`)
      return { facts: items.length > 0 ? [{ type: 'bot-storage.put', items }] : [], reply: {} }
    },

    remove(ctx, { keys }) {
      const items = keys ? keys.map((key, index) => findItem(ctx, key, index)) : listItems(ctx)
      const gone = [...new Set(items.map(item => item.key))]
      return {
        facts: gone.length > 0 ? [{ type: 'bot-storage.removed', userId: ctx.actor.id, keys: gone }] : [],
        reply: {},
      }
    },
  },

  apply: {
    'bot-storage.put'(state, { items }) {
      for (const item of items) state.botStorage.put(item)
    },
    'bot-storage.removed'(state, { userId, keys }) {
      for (const key of keys) state.botStorage.remove(`${userId}/${key}`)
    },
  },
  announce: { 'bot-storage.put': () => [], 'bot-storage.removed': () => [] },
})

function listItems(ctx: Context): StoredItem[] {
  may.check(may.useBotStorage, ctx)
  return ctx.state.botStorage.where('user', ctx.actor.id)
}

function findItem(ctx: Context, key: string, index: number): StoredItem {
  may.check(may.useBotStorage, ctx)
  const item = ctx.state.botStorage.get(`${ctx.actor.id}/${key}`)
  if (!item) throw missing(`keys[${index}]`, 'stored value', key)
  return item
}

// Shared by all worlds: rows never change, and counting the characters of all of them takes a tenth of a second.
const known = new WeakMap<StoredItem, number>()

function measure(item: StoredItem): number {
  let size = known.get(item)
  if (size === undefined) {
    size = [...item.key].length + [...item.value].length
    known.set(item, size)
  }
  return size
}
