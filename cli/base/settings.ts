// Flags that the environment or the config file can set as well: --timeout 30s, NATTER_TIMEOUT=30s or "timeout": "30s".

import { homedir } from 'node:os'
import { readText, smallFile } from '../../daemon/local/bounded-file.ts'
import { locateConfigFile, readConfigText, type SettingName, settingNames } from '../../daemon/local/config-file.ts'
import { environmentName } from '../../daemon/local/flags.ts'
import { usage } from './failure.ts'

type Env = Readonly<Record<string, string | undefined>>

export interface Setting {
  readonly name: SettingName
  readonly value: string
  /** The variable or the file it comes from. */
  readonly from: string
}

/** What the environment says, then what the file says. */
export function settingsFor(env: Env): Setting[] {
  const { path, named } = locateConfigFile(env, homedir())
  const file = settingsIn(path, named)
  return settingNames.flatMap(name => {
    const inEnv = env[environmentName(name)]
    if (inEnv) return [{ name, value: inEnv, from: environmentName(name) }]
    const inFile = file[name]
    return inFile === undefined ? [] : [{ name, value: inFile, from: path }]
  })
}

/** The values of flags by name, with the settings for those that were not given. Profiles have an order of their own. */
export function withSettings(given: ReadonlyMap<string, unknown>, env: Env): Map<string, unknown> {
  const all = new Map(given)
  for (const { name, value } of settingsFor(env))
    if (name !== 'profile' && !all.has(name)) all.set(name, name === 'quiet' ? isOn(value) : value)
  return all
}

function isOn(value: string): boolean {
  return ['1', 'true', 'yes'].includes(value)
}

function settingsIn(path: string, named: boolean): Readonly<Partial<Record<SettingName, string>>> {
  let text: string
  try {
    text = readText(path, smallFile)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!named && (code === 'ENOENT' || code === 'ENOTDIR')) return {}
    throw usage(`cannot read the config file ${path}: ${code}`)
  }
  try {
    return readConfigText(text).settings
  } catch (error) {
    throw usage(`the config file ${path}: ${(error as Error).message}`, 'See natter help config')
  }
}

/** The variable that names a server: it comes before every profile. */
export function siteVariable(env: NodeJS.ProcessEnv): string | undefined {
  return ['NATTER_SITE', 'NATTER_READY_FILE', 'ZULIP_SITE'].find(name => env[name])
}
