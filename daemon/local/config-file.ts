// The config file of natter and natterd: a key is the name of a flag without its dashes. Plain data and a pure function; each
// side reads the file itself.

import { unknownName } from './did-you-mean.ts'
import { daemonFlagList } from './flags.ts'
import { configFolder } from './folders.ts'

/** Flags of every subcommand that the file can set. Accounts and keys are in profiles.json. */
export const settingNames = ['profile', 'timeout', 'retry', 'color', 'quiet'] as const

export type SettingName = (typeof settingNames)[number]

/** Values as they would be written on the command line. */
interface ConfigFile {
  readonly settings: Readonly<Partial<Record<SettingName, string>>>
  /** Flags of natterd. */
  readonly daemon: Readonly<Record<string, string>>
}

type Env = Readonly<Record<string, string | undefined>>

/** Where the file is, and whether it must exist. `home` is for an environment without HOME. */
export function locateConfigFile(env: Env, home: string): { readonly path: string; readonly named: boolean } {
  const named = env.NATTER_CONFIG
  return named ? { path: named, named: true } : { path: `${configFolder(env, home)}/config.json`, named: false }
}

/** Throws an error whose message says what is wrong. */
export function readConfigText(text: string): ConfigFile {
  const { daemon = {}, ...settings } = objectFrom(JSON.parse(text), 'the file')
  const flags = daemonFlagList.filter(([, { env }]) => env !== false).map(([name]) => name)
  return {
    settings: valuesIn(settings, [...settingNames, 'daemon'], ''),
    daemon: valuesIn(objectFrom(daemon, '"daemon"'), flags, 'daemon.'),
  }
}

function objectFrom(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new Error(`${what} is not a JSON object`)
}

function valuesIn(given: Record<string, unknown>, names: readonly string[], place: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      if (!names.includes(name))
        throw new Error(
          unknownName(
            'key',
            `${place}${name}`,
            names.map(known => `${place}${known}`),
          ),
        )
      if (!['string', 'number', 'boolean'].includes(typeof value))
        throw new Error(`"${place}${name}" is not a text, a number, true or false`)
      return [name, String(value)]
    }),
  )
}
