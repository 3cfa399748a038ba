// Devices for push notifications: kept and forgotten, since this server has no push service. Test notifications go to the outbox.

import { pushDevices as api } from '../../api/people/push-devices.ts'
import { limits } from '../limits.ts'
import type { PushDevicesFact } from '../model/facts/people.ts'
import type { PushDevices, PushToken } from '../model/rows/people.ts'
import { organizationSetting } from '../model/settings.ts'
import type { State } from '../model/state.ts'
import { conflict, invalid, missing } from '../refusal.ts'
import { type Context, type Outcome, resource } from '../resource.ts'
import { check, haveDevices } from '../rules/index.ts'

export const pushDevices = resource(api)<PushDevicesFact>({
  commands: {
    addApple(ctx, { token, appid }) {
      if (!/^[.a-zA-Z0-9-]+$/.test(appid)) throw invalid('appid', 'must be made of letters, digits, dots and hyphens')
      return add(ctx, { kind: 'apns', token, appId: appid })
    },
    removeApple: (ctx, { token }) => remove(ctx, 'apns', token),
    addAndroid: (ctx, { token }) => add(ctx, { kind: 'fcm', token }),
    removeAndroid: (ctx, { token }) => remove(ctx, 'fcm', token),

    test(ctx, { token }) {
      check(haveDevices, ctx)
      const { tokens } = devicesOf(ctx.state, ctx.actor.id)
      const meant = token === undefined ? tokens : tokens.filter(known => known.token === token)
      if (token !== undefined && meant.length === 0)
        throw missing('token', 'device', undefined, { code: 'INVALID_PUSH_DEVICE_TOKEN' })
      const name = organizationSetting(ctx.state, 'name')
      return {
        mails: meant.map(device => ({
          to: ctx.actor.email,
          subject: 'Test notification',
          text: `This is a test notification from ${name} (${ctx.server.url}).`,
          push: { kind: device.kind, token: device.token },
        })),
        reply: {},
      }
    },

    // OPEN: a public server without a push service refuses POST /mobile_push/register with PUSH_SERVICE_NOT_CONFIGURED. Here the device
    // stays pending, as on a server whose push service has not answered yet, so that apps can be tested.
    register(ctx, { push_account_id: id, token_kind: kind }) {
      check(haveDevices, ctx)
      const { tokens, accounts } = devicesOf(ctx.state, ctx.actor.id)
      if (accounts.some(account => account.id === id)) return { reply: {} }
      return changeDevices(ctx, tokens, [...accounts, { id, kind }])
    },
  },

  apply: { 'push-devices.changed': (state, { devices }) => state.pushDevices.put(devices) },

  // Clients learn what became of a registration from the answer of a push service; no such service is called here.
  announce: { 'push-devices.changed': () => [] },

  sections: {
    push_device: ({ state, actor }) => ({
      push_devices: Object.fromEntries(
        devicesOf(state, actor.id).accounts.map(({ id }) => [id, { status: 'pending', error_code: null }]),
      ),
    }),
  },
})

function devicesOf(state: State, userId: number): PushDevices {
  return state.pushDevices.get(userId) ?? { userId, tokens: [], accounts: [] }
}

function add(ctx: Context, device: PushToken): Outcome<object> {
  checkToken(ctx, device)
  const { tokens, accounts } = devicesOf(ctx.state, ctx.actor.id)
  if (tokens.some(known => isSame(known, device))) return { reply: {} }
  return changeDevices(ctx, [...tokens, device], accounts)
}

function remove(ctx: Context, kind: PushToken['kind'], token: string): Outcome<object> {
  checkToken(ctx, { kind, token })
  const { tokens, accounts } = devicesOf(ctx.state, ctx.actor.id)
  const left = tokens.filter(known => !isSame(known, { kind, token }))
  if (left.length === tokens.length) throw missing('token', 'device')
  return changeDevices(ctx, left, accounts)
}

function checkToken(ctx: Context, { kind, token }: PushToken): void {
  check(haveDevices, ctx)
  if (token === '' || token.length > limits.pushToken)
    throw invalid('token', `must have 1 to ${limits.pushToken} characters`)
  if (kind === 'apns' && !/^(\s*[0-9a-f]{2})*\s*$/i.test(token)) throw invalid('token', 'must be hexadecimal')
}

/** Tokens of Apple devices are numbers, so their case means nothing. */
function isSame(one: PushToken, other: PushToken): boolean {
  if (one.kind !== other.kind) return false
  return one.kind === 'apns' ? one.token.toLowerCase() === other.token.toLowerCase() : one.token === other.token
}

function changeDevices(
  { actor }: Context,
  tokens: PushDevices['tokens'],
  accounts: PushDevices['accounts'],
): Outcome<object> {
  if (tokens.length + accounts.length > limits.pushDevices)
    throw conflict('token', `you can have ${limits.pushDevices} devices; remove one first`)
  return { facts: [{ type: 'push-devices.changed', devices: { userId: actor.id, tokens, accounts } }], reply: {} }
}
