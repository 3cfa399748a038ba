// Onboarding steps: which hints a user has not seen yet. Clients decide when to show one.

import { onboardingSteps as api } from '../../api/people/onboarding-steps.ts'
import type { OnboardingFact } from '../model/facts/people.ts'
import type { User } from '../model/state.ts'
import { missing } from '../refusal.ts'
import { resource } from '../resource.ts'
import * as may from '../rules/index.ts'

const notices = [
  'visibility_policy_banner',
  'intro_inbox_view_modal',
  'intro_recent_view_modal',
  'first_stream_created_banner',
  'jump_to_conversation_banner',
  'non_interleaved_view_messages_fading',
  'interleaved_view_messages_fading',
  'intro_resolve_topic',
]
const actions = ['narrow_to_dm_with_welcome_bot_new_user']
/** A step of the API that is never offered here: this server has no such video. */
const video = 'navigation_tour_video'

export const onboardingSteps = resource(api)<OnboardingFact>({
  commands: {
    mark(ctx, { onboarding_step: step }) {
      may.check(may.haveSettings, ctx)
      if (![...notices, ...actions, video].includes(step)) throw missing('onboarding_step', 'onboarding step', step)
      return { facts: [{ type: 'user.onboarding-step-seen', userId: ctx.actor.id, step }], reply: {} }
    },
  },

  apply: {
    'user.onboarding-step-seen'(state, { userId, step }) {
      const user = state.users.get(userId)!
      const seen = user.seenSteps ?? []
      if (!seen.includes(step)) state.users.put({ ...user, seenSteps: [...seen, step] })
    },
  },

  announce: {
    'user.onboarding-step-seen': (state, { userId }) => [
      {
        to: [userId],
        event: { type: 'onboarding_steps', onboarding_steps: nextSteps(state.users.get(userId)!) },
      },
    ],
  },

  sections: {
    onboarding_steps: ({ actor }) => ({ onboarding_steps: nextSteps(actor), navigation_tour_video_url: null }),
  },
})

function nextSteps({ seenSteps = [] }: User) {
  const unseen = (names: readonly string[], type: string) =>
    names.filter(name => !seenSteps.includes(name)).map(name => ({ type, name }))
  return [...unseen(notices, 'one_time_notice'), ...unseen(actions, 'one_time_action')]
}
