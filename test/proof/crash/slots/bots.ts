// Slots of a bot.

import { botStorage } from '../../../../daemon/api/bots/bot-storage.ts'
import { bots } from '../../../../daemon/api/bots/bots.ts'
import type { Place } from '../place.ts'
import { call, growing, lastWord, person, type Slot, steady, text, toggle } from './slot.ts'

export function botSlots({ bot, helper }: Place): readonly Slot[] {
  return [
    text(
      'bot',
      n => call(bots.update, { bot_id: bot.id, full_name: `Bot ${n}` }),
      w => lastWord(person(w, bot.id).full_name),
    ),
    text(
      'bot storage',
      n => ({ ...call(botStorage.put, { storage: { n } }), as: 'bot' }),
      w => w.storage.n,
    ),
    growing(
      'new bot',
      n => call(bots.create, { full_name: `New ${n}`, short_name: `new${n}`, bot_type: 1 }),
      w => w.realm_users.filter(({ full_name }: any) => full_name.startsWith('New ')).length,
    ),
    toggle(
      'second value of a bot',
      yes => ({
        ...(yes ? call(botStorage.put, { storage: { m: '1' } }) : call(botStorage.remove, { keys: ['m'] })),
        as: 'bot',
      }),
      w => w.storage.m === '1',
    ),
    toggle(
      'channel of a bot',
      yes => call(bots.update, { bot_id: helper, default_sending_stream: yes ? 'shed' : '' }),
      w => person(w, helper, 'realm_bots').default_sending_stream === 'shed',
    ),
    steady(
      'key of a bot',
      () => call(bots.regenerateKey, { bot_id: helper }),
      w => person(w, helper, 'realm_bots') !== undefined,
    ),
  ]
}
