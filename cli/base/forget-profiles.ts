// Removes profiles whose server has ended.

import { note } from './note.ts'
import { readProfiles, removeProfile } from './profile.ts'

/** Profiles of servers that are gone would make every later call fail. */
export function forgetProfiles(isGone: (site: string, name: string) => boolean, env: NodeJS.ProcessEnv): void {
  for (const [name, { site }] of Object.entries(readProfiles(env).profiles)) {
    if (!isGone(site, name)) continue
    const wasCurrent = readProfiles(env).current === name
    const current = removeProfile(name, env)
    note(`removed profile ${name}${wasCurrent && current ? `; switched to profile ${current}` : ''}`)
  }
}
