// Starts of the installed package on each version of Node that people have, against that Node itself. Measured from the second start on: the
// package has a code cache for one version, and the first start with another writes its own.

import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodeOf } from '../../support/other-nodes.ts'
import { daemonFlags, freshFolder, referencePath, request, root, startServer, timeCommand } from '../processes.ts'
import { alternate, type Effort, NotInstalled, type Row } from '../row.ts'

const settings = '/api/v1/server_settings'
/** Longer than a daemon waits before it writes its cache. */
const cacheWritten = 3000

export const versions: readonly Row[] = [...rows(20, 1.45, 1.2), ...rows(22, 1.9, 1.4), ...rows(24, 1.9, 1.4)]

function rows(major: number, startAtMost: number, helpAtMost: number): Row[] {
  const on = `Node ${major}`
  return [
    {
      name: `natterd start, installed, ${on}`,
      reference: `bare node:http server, ${on}`,
      goal: { atMost: startAtMost },
      unit: 'ms',
      measure: effort => measure(effort, major, installed => [installed.start(settings), installed.startBare]),
    },
    {
      name: `natterd start to /livez, installed, ${on}`,
      reference: `to ${settings}`,
      goal: { atMost: 1.1 },
      unit: 'ms',
      measure: effort => measure(effort, major, installed => [installed.start('/livez'), installed.start(settings)]),
    },
    {
      name: `natter --help, installed, ${on}`,
      reference: `node -e 0, ${on}`,
      goal: { atMost: helpAtMost },
      unit: 'ms',
      measure: effort => measure(effort, major, installed => [installed.help, installed.nothing]),
    },
  ]
}

type Work = () => Promise<number>

interface Installed {
  start(path: string): Work
  readonly startBare: Work
  readonly help: Work
  readonly nothing: Work
}

async function measure(effort: Effort, major: number, sides: (installed: Installed) => readonly [Work, Work]) {
  const [ours, reference] = sides(await installedOn(major))
  return alternate(effort.rounds(15, 5), ours, reference)
}

const known = new Map<number, Promise<Installed>>()

/** Each program has been started once. */
function installedOn(major: number): Promise<Installed> {
  const found = known.get(major) ?? prepare(major)
  known.set(major, found)
  return found
}

async function prepare(major: number): Promise<Installed> {
  const program = nodeOf(major)
  if (program === undefined) throw new NotInstalled(`Node ${major} cannot be installed from npm`)
  const env = { XDG_CACHE_HOME: freshFolder() }
  const bin = join(installedPackage(), 'bin')
  const starting =
    (args: readonly string[], path: string, linger = 0) =>
    async () => {
      const began = performance.now()
      const server = await startServer(args, env, { program })
      await request(server.ready.url + path)
      const took = performance.now() - began
      await sleep(linger)
      await server.stop()
      return took
    }
  const natterd = [join(bin, 'natterd'), ...daemonFlags, '--no-profile', '--memory']
  const help = () => timeCommand([join(bin, 'natter'), '--help'], env, program)
  await starting(natterd, settings, cacheWritten)()
  await help()
  return {
    start: path => starting(natterd, path),
    startBare: starting([referencePath('bare-http')], ''),
    help,
    nothing: () => timeCommand(['-e', '0'], env, program),
  }
}

let unpacked: string | undefined

/** The tarball, unpacked; what it depends on is the copy that is here. */
function installedPackage(): string {
  if (unpacked !== undefined) return unpacked
  const folder = freshFolder()
  const npm = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder]
  const tarball = execFileSync('npm', npm, { cwd: root, encoding: 'utf8' }).trim()
  unpacked = join(folder, 'package')
  execFileSync('tar', ['-xzf', join(folder, tarball), '-C', folder])
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return unpacked
}
