// One place for each kind of record that has a value. After a crash every slot has the value that was answered last, or the one that was
// asked for and not answered.

import type { Place } from './place.ts'
import { botSlots } from './slots/bots.ts'
import { channelSlots } from './slots/channels.ts'
import { messageSlots } from './slots/messages.ts'
import { organizationSlots } from './slots/organization.ts'
import { peopleSlots } from './slots/people.ts'
import type { Slot } from './slots/slot.ts'

export function slotsOf(place: Place): readonly Slot[] {
  return [botSlots, channelSlots, messageSlots, organizationSlots, peopleSlots].flatMap(slots => slots(place))
}
