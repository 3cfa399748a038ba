// Onboarding steps: hints that clients show once.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onboardingSteps as api } from '../../../daemon/api/people/onboarding-steps.ts'
import { sharedDaemon } from '../../support/daemon.ts'
import { fetched, listen, person } from '../../support/world.ts'

const daemon = sharedDaemon()

describe('POST /users/me/onboarding_steps', () => {
  test('a step that was seen is no longer offered, and only its user gets the event', async () => {
    const amy = await person(daemon(), 'amy')
    const bob = await person(daemon(), 'bob')
    const [before, others] = [await listen(amy, ['onboarding_steps']), await listen(bob, ['onboarding_steps'])]
    const { onboarding_steps: offered } = await fetched(amy, ['onboarding_steps'])
    assert.equal(offered.length, 9)
    assert.deepEqual(offered[0], { type: 'one_time_notice', name: 'visibility_policy_banner' })
    assert.equal(offered.at(-1).type, 'one_time_action')
    await amy.call(api.mark, { onboarding_step: 'visibility_policy_banner' })
    assert.deepEqual(await before(), [{ type: 'onboarding_steps', onboarding_steps: offered.slice(1) }])
    assert.deepEqual(await others(), [])
    assert.deepEqual((await fetched(amy, ['onboarding_steps'])).onboarding_steps, offered.slice(1))
    await amy.call(api.mark, { onboarding_step: 'visibility_policy_banner' })
    assert.deepEqual((await fetched(bob, ['onboarding_steps'])).onboarding_steps, offered)
  })

  test('a step of a video that this server does not have can be marked, and an unknown one cannot', async () => {
    const cat = await person(daemon(), 'cat')
    await cat.call(api.mark, {
      onboarding_step: 'navigation_tour_video',
      schedule_navigation_tour_video_reminder_delay: 30,
    })
    const { msg } = await cat.refused(api.mark, { onboarding_step: 'nothing' }, 'BAD_REQUEST')
    assert.match(msg, /^onboarding_step: there is no/)
  })
})
