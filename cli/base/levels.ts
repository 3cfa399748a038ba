// Feature levels as people give them on the command line.

import { defaultLevel, levelForms, readLevel } from '../../daemon/api/levels/releases.ts'
import { usage } from './failure.ts'

export function givenLevel(text: string | undefined, flag = '--level'): number {
  if (text === undefined) return defaultLevel
  const level = readLevel(text)
  if (level === undefined) throw usage(`${flag} takes ${levelForms}, not "${text}"`)
  return level
}
