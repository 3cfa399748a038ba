// The limits of a profile, and NATTER_READ_ONLY: what they are, in words, and how to lift each. `cli/transport/limits.ts` enforces them.

import { limitCode, type ProfileLimits } from '../../daemon/local/profiles.ts'
import { exitCodes, Failure, usage } from './failure.ts'

export interface Limits {
  /** What allows reading only: a profile, or the variable. */
  readonly readOnly?: string
  /** Names, or `id:5`. */
  readonly channels?: readonly string[]
  readonly noDirect?: true
  /** The source of the limits on places: `profile agent`. */
  readonly from?: string
}

export const readOnlyVariable = 'NATTER_READ_ONLY'

/** The limits of a profile and of the environment together; undefined if there are none. */
export function limitsFrom(
  from: string | undefined,
  { read_only, channels, no_direct }: ProfileLimits = {},
  env: Readonly<Record<string, string | undefined>>,
): Limits | undefined {
  const inEnv = isOn(env[readOnlyVariable])
  if (!read_only && !channels && !no_direct && !inEnv) return undefined
  return {
    ...((read_only || inEnv) && { readOnly: inEnv ? readOnlyVariable : from! }),
    ...(channels && { channels }),
    ...(no_direct && { noDirect: true }),
    ...(from !== undefined && { from }),
  }
}

/** A misspelled value must not be taken for off. */
function isOn(value: string | undefined): boolean {
  if (['1', 'true', 'yes'].includes(value ?? '')) return true
  if (['', '0', 'false', 'no'].includes(value ?? '')) return false
  throw usage(`${readOnlyVariable}: "${value}" is not 1 or 0`)
}

/** `read-only, channels general and random, no direct messages`. */
export function limitsText({ read_only, channels, no_direct }: ProfileLimits): string {
  const places = channels && `channels ${channels.join(', ')}`
  return [read_only && 'read-only', places, no_direct && 'no direct messages'].filter(Boolean).join('; ')
}

/** Which limit refuses a call. */
export type Limit = 'read-only' | 'channels' | 'no-direct'

const lifts: Readonly<Record<Limit, string>> = {
  'read-only': '--read-write',
  channels: '--all-channels',
  'no-direct': '--direct',
}

/** `what`: the call and what is wrong with it, as a sentence without a full stop. `advice`: what is possible under the limit. */
export function limitRefusal(limits: Limits, limit: Limit, what: string, advice?: string): Failure {
  const source = limit === 'read-only' ? limits.readOnly! : limits.from!
  const lift =
    source === readOnlyVariable
      ? `To lift the limit, unset ${readOnlyVariable}.`
      : `To lift the limit: natter profile set ${source.replace(/^profile /, '')} ${lifts[limit]}`
  const hint = advice === undefined ? lift : `${advice}\n  ${lift}`
  const rule = source === readOnlyVariable ? 'is set' : rules(limits)[limit]
  return new Failure(exitCodes.denied, `${source} ${rule}: ${what}`, { code: limitCode, hint })
}

function rules({ channels = [] }: Limits): Readonly<Record<Limit, string>> {
  return {
    'read-only': 'is read-only',
    channels: `is limited to the channels ${channels.join(', ')}`,
    'no-direct': 'has no direct messages',
  }
}
