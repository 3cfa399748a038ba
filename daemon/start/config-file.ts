// The config file of natterd. Its values apply where neither a flag nor the environment gives one.

import { homedir } from 'node:os'
import { readText, smallFile } from '../local/bounded-file.ts'
import { locateConfigFile, readConfigText } from '../local/config-file.ts'
import { environmentName } from '../local/flags.ts'
import { UsageError } from './config.ts'

/** The environment, with the values of the file in place of variables that are not set. */
export function withConfigFile(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { path, named } = locateConfigFile(env, homedir())
  let text: string
  try {
    text = readText(path, smallFile)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!named && (code === 'ENOENT' || code === 'ENOTDIR')) return env
    throw new UsageError(`cannot read the config file ${path}: ${code}`)
  }
  try {
    const defaults = Object.entries(readConfigText(text).daemon).map(([name, value]) => [environmentName(name), value])
    // --data and --memory exclude each other, so one replaces the other.
    const stored = ['memory', 'data'].map(environmentName)
    const chosen = stored.some(name => env[name])
    return { ...Object.fromEntries(defaults.filter(([name]) => !chosen || !stored.includes(name!))), ...env }
  } catch (error) {
    throw new UsageError(`the config file ${path}: ${(error as Error).message}`)
  }
}

/** The same error, with the variable or the key of the file in place of a flag that was not given. `all`: with the values of the file. */
export function nameSources(
  error: UsageError,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  all: NodeJS.ProcessEnv,
): UsageError {
  const isGiven = (flag: string) => args.some(word => word === flag || word.startsWith(`${flag}=`))
  const text = error.message.replace(/--([a-z-]+)/g, (flag, name) => {
    const variable = environmentName(name)
    if (isGiven(flag) || !all[variable]) return flag
    return env[variable] ? variable : `daemon.${name} in ${locateConfigFile(env, homedir()).path}`
  })
  return new UsageError(text)
}
