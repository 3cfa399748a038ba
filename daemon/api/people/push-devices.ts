// Devices that mobile apps register for push notifications. Nothing is sent to them; a test notification goes to the outbox.

import { endpoint, int, oneOf, optional, required, text, textUpTo } from '../define.ts'

const appId = textUpTo(255)

export const pushDevices = {
  addApple: endpoint({
    id: 'add-apns-token',
    route: 'POST /users/me/apns_device_token',
    callers: 'humans',
    summary: 'Register an Apple device for push notifications',
    params: {
      token: required(text, 'the token of the device, in hexadecimal'),
      appid: required(appId, 'the ID of the app, such as org.example.chat'),
    },
    cli: {
      name: 'push add-apple',
      done: 'registered the device',
      args: ['token'],
      examples: [
        'natter push add-apple 0a1b2c --appid org.example.chat',
        'natter push add-apple 0a1b2c --appid org.example.chat --json',
      ],
    },
  }),
  removeApple: endpoint({
    id: 'remove-apns-token',
    route: 'DELETE /users/me/apns_device_token',
    callers: 'humans',
    summary: 'Remove an Apple device',
    params: { token: required(text, 'the token of the device') },
    cli: {
      name: 'push remove-apple',
      done: 'removed the device',
      examples: ['natter push remove-apple 0a1b2c', 'natter push remove-apple 0a1b2c --json'],
    },
  }),
  addAndroid: endpoint({
    id: 'add-fcm-token',
    route: 'POST /users/me/android_gcm_reg_id',
    callers: 'humans',
    summary: 'Register an Android device for push notifications',
    params: { token: required(text, 'the token of the device') },
    cli: {
      name: 'push add-android',
      done: 'registered the device',
      examples: ['natter push add-android TOKEN', 'natter push add-android TOKEN --json'],
    },
  }),
  removeAndroid: endpoint({
    id: 'remove-fcm-token',
    route: 'DELETE /users/me/android_gcm_reg_id',
    callers: 'humans',
    summary: 'Remove an Android device',
    params: { token: required(text, 'the token of the device') },
    cli: {
      name: 'push remove-android',
      done: 'removed the device',
      examples: ['natter push remove-android TOKEN', 'natter push remove-android TOKEN --json'],
    },
  }),
  test: endpoint({
    id: 'test-notify',
    route: 'POST /mobile_push/test_notification',
    callers: 'humans',
    since: 217,
    mails: 'notice',
    summary: 'Send a test notification to one of your devices, or to all of them',
    params: { token: optional(text, 'the token of the device; all of your devices if omitted') },
    refusals: ['INVALID_PUSH_DEVICE_TOKEN'],
    cli: {
      name: 'push test',
      done: 'sent a test notification',
      examples: ['natter push test', 'natter push test --token TOKEN'],
    },
  }),
  register: endpoint({
    id: 'register-push-device',
    route: 'POST /mobile_push/register',
    callers: 'humans',
    since: 406,
    summary: 'Register a device for encrypted push notifications',
    params: {
      token_kind: required(oneOf('fcm', 'apns'), 'the kind of the device'),
      push_account_id: required(int, 'a number that the device chose for this account'),
      push_public_key: required(text, 'the key that notifications are encrypted with'),
      bouncer_public_key: required(text, 'the key that the registration is encrypted with'),
      encrypted_push_registration: required(text, 'the registration, for the push service'),
    },
    cli: {
      name: 'push register',
      args: [],
      done: 'registered the device',
      examples: [
        'natter push register --token-kind fcm --push-account-id 2408 --push-public-key K --bouncer-public-key K --encrypted-push-registration DATA',
        'natter push register --token-kind apns --push-account-id 2409 --push-public-key K --bouncer-public-key K --encrypted-push-registration DATA --json',
      ],
    },
  }),
}
