// Reads one flag: from the command line, else from the environment, else its default.

import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { didYouMean } from '../local/did-you-mean.ts'
import { type DaemonFlag, type DaemonFlagName, daemonFlagList, daemonFlags, environmentName } from '../local/flags.ts'

export class UsageError extends Error {}

export type Given = Partial<Record<DaemonFlagName, string | boolean>>

export function parse(args: readonly string[]): Given {
  const options = Object.fromEntries(
    daemonFlagList.map(([name, { type }]) => [
      name,
      { type: type === 'switch' ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values as Given
  } catch (error) {
    const message = (error as Error).message.split('. To specify')[0]!
    const flags = Object.keys(options).map(name => `--${name}`)
    const meant = didYouMean(/^Unknown option '(--[^']+)'/.exec(message)?.[1] ?? '', flags)
    throw new UsageError(meant ? `${message}. ${meant}` : message)
  }
}

type Flags = typeof daemonFlags

type ValueOf<F> = F extends { type: 'switch' }
  ? boolean
  : F extends { type: 'number' }
    ? number
    : F extends { choices: readonly (infer C)[] }
      ? C
      : string

/** A flag with neither a value nor a default is undefined; a switch is off. */
type ReadOf<F> = F extends { type: 'switch' } | { fallback: string } ? ValueOf<F> : ValueOf<F> | undefined

type CamelCase<S extends string> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<CamelCase<B>>}` : S

/** `--max-queues` is `maxQueues`. */
export type FlagValues = { readonly [N in DaemonFlagName as CamelCase<N>]: ReadOf<Flags[N]> }

export type Read = <N extends DaemonFlagName>(name: N) => ReadOf<Flags[N]>

/** From the command line, else from the environment, else the default. */
export function readFlag<N extends DaemonFlagName>(
  name: N,
  given: string | boolean | undefined,
  env: NodeJS.ProcessEnv,
): ReadOf<Flags[N]> {
  const flag: DaemonFlag = daemonFlags[name]
  if (flag.type === 'switch') return (given === true || isOn(env[environmentName(name)])) as never
  const text = (given as string | undefined) ?? (env[environmentName(name)] || undefined) ?? flag.fallback
  return (text === undefined ? undefined : checkedValue(name, flag, text)) as never
}

export function readAll(read: Read): FlagValues {
  return Object.fromEntries(daemonFlagList.map(([name]) => [camelCase(name), read(name)])) as unknown as FlagValues
}

function checkedValue(name: string, { type, choices = [], min = 0, max }: DaemonFlag, text: string): string | number {
  if (type === 'path') return resolve(text)
  if (type === 'choice' && !choices.includes(text))
    throw new UsageError(`--${name} takes ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}, not '${text}'`)
  if (type !== 'number') return text
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max!)
    throw new UsageError(`--${name} takes a number from ${min} to ${max}, not '${text}'`)
  return value
}

export function isOn(text: string | undefined): boolean {
  return ['1', 'true', 'yes'].includes(text ?? '')
}

export function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}
