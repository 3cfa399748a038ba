// `natter doctor`: checks everything a subcommand needs, and reports what is wrong and how to fix it.

import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { locateConfigFile } from '../../../daemon/local/config-file.ts'
import { daemonFlags } from '../../../daemon/local/flags.ts'
import { harmless } from '../../../daemon/local/harmless.ts'
import { findOpen, othersCan } from '../../../daemon/local/open-files.ts'
import { Ending, exitCodes, Failure } from '../../base/failure.ts'
import { formatFlags } from '../../base/globals.ts'
import { serverTime } from '../../base/headers.ts'
import { type Account, accountFor, configFolder, noReadyFile, profilesFile, readProfiles } from '../../base/profile.ts'
import type { ExtraSubcommand, Invocation } from '../../base/subcommand.ts'
import { assetReader, codeCaches, packageRoot, version } from '../../base/version.ts'
import { printColored } from '../../base/writer.ts'
import { printFormatted } from '../../print/output.ts'
import { terminalFor } from '../../terminal/terminal.ts'
import { call, demandUser, lacking, send } from '../../transport/client.ts'
import { dataFolder, folderOfRunning, readRunning } from './daemon/files.ts'

interface Finding {
  readonly what: string
  readonly state: 'ok' | 'warning' | 'wrong'
  readonly says: string
  readonly todo?: string
}

const oldestNode = [20, 19] as const
/** Milliseconds. */
const probeTimeout = 3000

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'doctor',
    about: 'Check Node, files, the daemon and the account; exit code 1 if something is wrong',
    globals: [...formatFlags, 'site', 'user', 'api-key', 'profile', 'timeout', 'color', 'quiet'],
    examples: ['natter doctor', 'natter doctor --profile work --json'],
    run: examine,
  },
]

async function examine({ globals }: Invocation): Promise<void> {
  const findings: Finding[] = [node(), bundle(), profiles(), daemon(), ...openFiles()]
  let account: Account | undefined
  try {
    account = accountFor(globals, process.env)
    if (account.absentFile) findings.push(wrong('account', noReadyFile(account.absentFile)))
  } catch (error) {
    findings.push(wrong('account', error))
  }
  if (account) findings.push(...(await server(account, globals.timeout ?? probeTimeout)))
  if (!(await printFormatted(findings, globals))) {
    const { colors } = await terminalFor(globals)
    const paint = { ok: colors?.green, warning: colors?.yellow, wrong: colors?.red }
    for (const { what, state, says, todo } of findings)
      printColored(
        `${(paint[state] ?? String)(state.padEnd(7))}  ${what}: ${harmless(says)}\n${todo ? `         ${harmless(todo)}\n` : ''}`,
      )
  }
  if (findings.some(({ state }) => state === 'wrong')) throw new Ending(exitCodes.refused)
}

function node(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const fine = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])
  const says = `version ${process.versions.node}`
  return fine ? ok('node', says) : find('node', 'wrong', says, `Install ${oldestNode.join('.')} or newer.`)
}

function bundle(): Finding {
  if (assetReader()) return ok('natter', `version ${version()} in ${process.execPath}`)
  const root = packageRoot()
  const says = `version ${version()} in ${root}`
  const { file, problem, folder } = codeCaches()?.explain('natter.cjs') ?? {}
  if (file !== undefined) return ok('natter', `${says}, with the code cache ${file}`)
  if (problem !== undefined)
    return find(
      'natter',
      'warning',
      `${says}; it starts slowly, without a code cache for this Node: ${problem}`,
      'Make it a folder of yours that no other user can change, or set XDG_CACHE_HOME to one.',
    )
  if (folder !== undefined) return ok('natter', `${says}; the code cache for this Node is written to ${folder} now`)
  const files = existsSync(`${root}/dist`) ? readdirSync(`${root}/dist`) : []
  if (files.includes('natter.cjs') && files.includes('natterd.cjs')) return ok('natter', says)
  return find('natter', 'warning', 'not built, so it starts slowly', `Run npm run build in ${root}`)
}

function profiles(): Finding {
  const file = profilesFile(process.env)
  try {
    const { current, profiles } = readProfiles(process.env)
    if (!existsSync(file)) return ok('profiles', `none yet in ${file}`)
    const open = [file, configFolder(process.env)].find(othersCan)
    if (open) return find('profiles', 'wrong', `others can read ${open}`, `Run chmod go-rwx ${open}`)
    return ok('profiles', `${Object.keys(profiles).length} in ${file}, current is ${current ?? 'none'}`)
  } catch (error) {
    return wrong('profiles', error)
  }
}

function daemon(): Finding {
  const folder = folderOfRunning({})
  const { url, pid, args = [] } = readRunning(folder) ?? {}
  const where = args.includes('--memory') ? ', in memory' : ` with the store ${folder}`
  return ok('daemon', url ? `running at ${url} (process ${pid})${where}` : `no daemon uses ${folder}`)
}

/** The store of the default folder, and the files of its daemon. */
function openFiles(): Finding[] {
  const folder = dataFolder(undefined)
  const config = locateConfigFile(process.env, homedir()).path
  const open = findOpen([folder, `${folder}/secret`, config])
  return open.map(({ says, command }) => find('files', 'warning', says, `Run ${command}`))
}

async function server(account: Account, timeout: number): Promise<Finding[]> {
  const get = (path: string) => ({ method: 'GET', path, fields: new Map<string, string>() })
  const findings: Finding[] = []
  try {
    const began = performance.now()
    const stranger = { ...(account.site && { site: account.site }), from: {} }
    const settings = await call(stranger, get('/api/v1/server_settings'), { timeout })
    const level = settings.svc_feature_level ?? settings.zulip_feature_level
    if (typeof level !== 'number') throw lacking('feature level', account.site)
    const version = settings.svc_version ?? settings.zulip_version
    const took = Math.round(performance.now() - began)
    const said = `${account.site} answered in ${took} ms, feature level ${level}`
    findings.push(ok('server', version === undefined ? said : `${said}, version ${version}`))
  } catch (error) {
    const found = wrong('server', error)
    // A profile does not help against variables; the failure says what does.
    if (account.from.site?.endsWith('_*')) return [found]
    const elsewhere = await findElsewhere(account.site, timeout)
    const todo = elsewhere ?? found.todo?.replace(/; `natter doctor`.*/, '.')
    return [{ ...found, ...(todo && { todo }) }]
  }
  if (!account.email || !account.apiKey)
    return [
      ...findings,
      find('account', 'wrong', 'no account is configured', 'Run natter login or natter daemon start.'),
    ]
  try {
    const me = await call(account, get('/api/v1/users/me'), { timeout })
    demandUser(me, account.site)
    findings.push(ok('account', `${me.full_name} <${account.email}>, user ${me.user_id}, from ${account.from.apiKey}`))
  } catch (error) {
    return [...findings, wrong('account', error)]
  }
  const clock = await send(account, get('/api/v1/server_settings'), { timeout }).catch(() => undefined)
  const time = clock && serverTime(clock.headers)
  const away = time ? Math.abs(time.getTime() - Date.now()) : 0
  if (away > 5000) findings.push(find('clock', 'warning', `the server's clock differs by ${Math.round(away / 1000)} s`))
  return findings
}

function find(what: string, state: Finding['state'], says: string, todo?: string): Finding {
  return { what, state, says, ...(todo && { todo }) }
}

/** Whether a daemon answers in another place than the one that was tried. */
async function findElsewhere(site: string | undefined, timeout: number): Promise<string | undefined> {
  const places = [readRunning(folderOfRunning({}))?.url, `http://127.0.0.1:${daemonFlags.port.fallback}`]
  for (const place of places) {
    if (place === undefined || place === site) continue
    const probe = { method: 'GET', path: '/readyz', fields: new Map<string, string>() }
    const answer = await send({ site: place, from: {} }, probe, { timeout }).catch(() => undefined)
    if (answer?.status !== 200) continue
    const saved = Object.entries(readProfiles(process.env).profiles).find(([, profile]) => profile.site === place)
    if (saved) return `A daemon answers at ${place}. Switch to it with \`natter profile use ${saved[0]}\`.`
    return `A daemon answers at ${place}. Log in with \`natter login ${place} EMAIL\`, or start it again: it saves its key.`
  }
  return undefined
}

function ok(what: string, says: string): Finding {
  return find(what, 'ok', says)
}

function wrong(what: string, error: unknown): Finding {
  if (!(error instanceof Failure)) throw error
  return find(what, 'wrong', error.message, error.hint)
}
