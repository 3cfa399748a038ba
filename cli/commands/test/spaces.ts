// `natter spaces use`, and `natter exec --in URL`: spaces of a daemon that runs. The other subcommands of spaces are pages of the
// control plane.

import { isSpaceName } from '../../../daemon/api/control/spaces.ts'
import type { Profile } from '../../../daemon/local/profiles.ts'
import { controlTokenIn, type Ready } from '../../../daemon/local/ready-file.ts'
import { flagIn } from '../../base/command-line.ts'
import { exitCodes, Failure, usage } from '../../base/failure.ts'
import { readGivenText } from '../../base/files.ts'
import { formatFlags, type Globals } from '../../base/globals.ts'
import { note } from '../../base/note.ts'
import { accountFor, normalSite, saveProfile, switchProfile } from '../../base/profile.ts'
import { siteVariable } from '../../base/settings.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { printFormatted } from '../../print/output.ts'
import { requireSite } from '../../transport/client.ts'
import { callControlPlane } from '../../transport/control.ts'

/** A space in a reply of the control plane. */
export type ShownSpace = Pick<Ready, 'url' | 'owner' | 'level'> & {
  readonly name: string
  readonly control_token: string
}

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'spaces use',
    about: 'Save the owner of a space as a profile and switch to it',
    args: [{ name: 'name', about: 'the space' }],
    globals: [...formatFlags, 'quiet', 'site', 'profile', 'ready-file', 'control-token', 'timeout'],
    more: 'The profile is called space-NAME. `natter profile use -` switches back, also before another space is used.',
    examples: ['natter spaces use worker-1', 'natter spaces use worker-1 --ready-file ready.json'],
    async run({ args, globals }) {
      const set = siteVariable(process.env)
      // As in a command of `natter exec`, whose daemon is gone before the profile would be used.
      if (set)
        throw usage(
          `${set} is set and comes before profiles, so switching to another one has no effect here`,
          `Unset it first. For a single command, use natter exec --in URL -- COMMAND.`,
        )
      const path = `/control/v1/spaces/${encodeURIComponent(args[0]!)}`
      const reply = await callControlPlane(globals, { method: 'GET', path }, { timeout: globals.timeout })
      const { name, url, owner, control_token } = spaceAt(globals, reply as unknown as ShownSpace)
      const saved = `space-${name}`
      const profile: Profile = { site: url, email: owner.email, api_key: owner.api_key, control_token }
      saveProfile(saved, profile, process.env)
      const file = switchProfile(saved, process.env)
      if (!(await printFormatted({ profile: saved, site: url, email: owner.email }, globals)))
        note(`switched to ${owner.email} at ${url}; profile ${saved} in ${file}`)
    },
  },
]

/**
 * The space of a reply, at an address below that of the daemon: the one in the reply may be known to the daemon only, or lead elsewhere. The name
 * becomes a part of addresses, and of paths on this machine.
 */
export function spaceAt(daemon: Partial<Globals>, space: ShownSpace): ShownSpace {
  const site = requireSite(accountFor(daemon, process.env))
  if (!isSpaceName(space.name)) {
    const shown = JSON.stringify(space.name)
    throw new Failure(exitCodes.refused, `${site} answered with ${shown}, which cannot be the name of a space`, {
      hint: 'Check that this is the server that you mean.',
    })
  }
  return { ...space, url: `${site}/spaces/${space.name}` }
}

/** The flags of natterd that a space accepts. */
const flagsOfSpaces = ['preset', 'seed', 'clock', 'secret', 'dialect', 'level'] as const

/** Runs something with a space of its own, which is deleted afterwards. */
export async function withSpace(
  address: string,
  flags: readonly string[],
  globals: Pick<Globals, 'controlToken' | 'timeout'>,
  run: (space: ShownSpace) => Promise<number>,
): Promise<number> {
  const params = paramsIn(flags)
  const controlToken = globals.controlToken ?? controlTokenIn(address)
  const daemon = { site: normalSite(address.replace(/#.*$/s, '')), ...(controlToken && { controlToken }) }
  const options = { timeout: globals.timeout }
  const request = { method: 'POST', path: '/control/v1/spaces', body: params }
  const space = spaceAt(daemon, (await callControlPlane(daemon, request, options)) as unknown as ShownSpace)
  try {
    return await run(space)
  } finally {
    const path = `/control/v1/spaces/${space.name}`
    await callControlPlane(daemon, { method: 'DELETE', path }, options).catch(error => {
      // The space may have expired. The exit code is that of the command all the same.
      if (error instanceof Failure && error.exit !== exitCodes.notFound)
        note(`the space ${space.name} could not be deleted: ${error.message}`)
    })
  }
}

function paramsIn(flags: readonly string[]): Record<string, string | boolean> {
  const allowed: readonly string[] = [...flagsOfSpaces, 'strict']
  const other = flags
    .filter(item => item.startsWith('--'))
    .map(item => item.slice(2).split('=', 1)[0]!)
    .find(name => !allowed.includes(name))
  if (other !== undefined)
    throw usage(`--${other} cannot be combined with --in`, `A space takes --${allowed.join(', --')}.`)
  const given = flagsOfSpaces.flatMap(name => {
    const value = flagIn(flags, name)
    return value === undefined ? [] : [[name, name === 'seed' ? readGivenText(value, '--seed: ') : value] as const]
  })
  return { ...Object.fromEntries(given), ...(flags.includes('--strict') && { strict: true }) }
}
