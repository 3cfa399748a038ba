// Onboarding steps: hints that clients show a new user once.

import { endpoint, int, optional, required, text } from '../define.ts'

export const onboardingSteps = {
  mark: endpoint({
    id: 'mark-onboarding-step-as-read',
    route: 'POST /users/me/onboarding_steps',
    callers: 'humans',
    since: 233,
    summary: 'Mark an onboarding step as seen, so that no client shows it again',
    params: {
      onboarding_step: required(text, 'the name of the step, as `register` gives it'),
      schedule_navigation_tour_video_reminder_delay: optional(
        int,
        'seconds until a reminder of the tour video; there is none on this server, so nothing is sent',
      ),
    },
    cli: {
      name: 'onboarding mark',
      done: 'marked {onboarding_step} as seen',
      examples: ['natter onboarding mark intro_inbox_view_modal', 'natter onboarding mark intro_resolve_topic --json'],
    },
  }),
}
