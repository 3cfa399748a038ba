// `natter login`, `natter logout`, `natter profile …`, `natter config explain`: accounts, and where they are saved.

import { homedir } from 'node:os'
import { readLink } from '../../../daemon/api/links.ts'
import { locateConfigFile } from '../../../daemon/local/config-file.ts'
import type { Profile, ProfileLimits } from '../../../daemon/local/profiles.ts'
import { addHint, exitCodes, Failure, usage } from '../../base/failure.ts'
import { formatFlags } from '../../base/globals.ts'
import { type Limits, limitsText } from '../../base/limits.ts'
import { note } from '../../base/note.ts'
import {
  accountFor,
  changeProfiles,
  currentProfile,
  findProfile,
  mayJoin,
  noReadyFile,
  normalSite,
  profilesFile,
  readProfiles,
  readZuliprc,
  removeProfile,
  saveProfile,
  seededAccounts,
  switchProfile,
  zuliprcText,
} from '../../base/profile.ts'
import { settingsFor } from '../../base/settings.ts'
import type { ExtraSubcommand, Invocation } from '../../base/subcommand.ts'
import { printColored } from '../../base/writer.ts'
import { askSecret, askText } from '../../input/prompt.ts'
import { printFormatted } from '../../print/output.ts'

const local = [...formatFlags, 'quiet', 'color']

const name = { name: 'name', about: 'the profile' }

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'login',
    about: 'Log in with a password and save the API key as a profile',
    args: [
      { name: 'site', about: 'the server; default: the current one', optional: true },
      { name: 'email', about: 'the account', optional: true },
    ],
    flags: [{ name: 'name', value: 'NAME', about: 'name of the profile (default: the name of the server)' }],
    globals: [...local, 'site', 'user', 'timeout', 'dry-run', 'curl'],
    more: 'The password comes from NATTER_PASSWORD, from a prompt at a terminal, or from stdin.',
    examples: [
      'natter login http://127.0.0.1:9991 zoe@example.com',
      'natter login chat.example.com amy@example.com --name work < password.txt',
    ],
    run: runLogin,
  },
  {
    name: 'logout',
    about: 'Remove a profile with its API key from this machine',
    args: [{ ...name, about: 'the profile; default: the current one', optional: true }],
    globals: local,
    more: 'The key itself stays valid. `natter keys regenerate` replaces it, wherever it is used.',
    examples: ['natter logout', 'natter logout work'],
    async run({ args }) {
      const { name: wanted, from } = args[0] === undefined ? (currentProfile(process.env) ?? {}) : { name: args[0] }
      if (wanted === undefined) throw new Failure(exitCodes.notFound, 'you are not logged in: there is no profile')
      const { site, email } = findProfile(wanted, process.env, from)
      const next = removeProfile(wanted, process.env)
      note(`logged out ${email} at ${site}${next === undefined ? '' : `; the current profile is ${next}`}`)
    },
  },
  {
    name: 'profile add',
    about: 'Save a site, an account and its key under a name',
    args: [name],
    flags: [{ name: 'from-zuliprc', value: 'FILE', about: 'read them from this file' }],
    globals: [...local, 'site', 'user', 'api-key', 'as', 'ready-file', 'control-token', 'timeout'],
    examples: [
      'natter profile add work --from-zuliprc ~/Downloads/zuliprc',
      'natter profile add ci --site http://127.0.0.1:9991 --user ci-bot@example.com --api-key "$KEY"',
    ],
    async run({ args, flags, globals }) {
      const file = flags['from-zuliprc'] as string | undefined
      const { site, email, apiKey } = file === undefined ? accountFor(globals, process.env) : readZuliprc(file)
      if (!site || !email || !apiKey)
        throw usage('site, account or key is missing', 'Give --site, --user and --api-key, or --from-zuliprc FILE.')
      const added = { site: normalSite(site), email, api_key: apiKey }
      const state = await verifyKey(added, globals.timeout)
      const path = saveProfile(args[0]!, added, process.env)
      note(`saved profile ${args[0]} in ${path}; ${state}`)
    },
  },
  {
    name: 'profile use',
    about: 'Switch to a profile; `-` switches to the previous one',
    args: [name],
    globals: local,
    examples: ['natter profile use work', 'natter profile use -'],
    async run({ args }) {
      const wanted = args[0] === '-' ? readProfiles(process.env).previous : args[0]!
      if (wanted === undefined) throw new Failure(exitCodes.notFound, 'there is no previous profile')
      findProfile(wanted, process.env)
      switchProfile(wanted, process.env)
      note(`switched to profile ${wanted}`)
      const wins = currentProfile(process.env)
      if (wins?.from && wins.name !== wanted) note(`${wins.from} names the profile ${wins.name}, which is used instead`)
    },
  },
  {
    name: 'profile set',
    about: 'Limit what programs can do with a profile, or lift a limit',
    args: [name],
    flags: [
      { name: 'read-only', about: 'refuse every call that changes something' },
      { name: 'read-write', about: 'lift --read-only' },
      {
        name: 'channels',
        value: 'NAMES',
        about: 'refuse every call about another channel; separate several with commas',
      },
      { name: 'all-channels', about: 'lift --channels' },
      // Before --no-direct, which the parser would otherwise take for the opposite of a flag that is on by default.
      { name: 'direct', about: 'lift --no-direct' },
      { name: 'no-direct', about: 'refuse every call about direct messages' },
    ],
    globals: local,
    more: `The limits hold for every subcommand, bot run and mcp with this profile, and are checked before a request leaves. They bind programs that
use the profile, not the account: a program that reads the key can do what the account can. docs/agents.md has the details.
NATTER_READ_ONLY=1 is --read-only for whatever account is used.`,
    examples: [
      'natter profile set agent --read-only',
      'natter profile set agent --channels general,random --no-direct',
      'natter profile set agent --read-write --all-channels --direct',
    ],
    async run({ args, flags }) {
      const found = findProfile(args[0]!, process.env)
      const limits = limitsAfter(found.limits ?? {}, flags)
      const { limits: _, ...free } = found
      const limited = Object.keys(limits).length > 0 ? { ...free, limits } : free
      changeProfiles(book => ({ ...book, profiles: { ...book.profiles, [args[0]!]: limited } }), process.env)
      note(`profile ${args[0]}: ${limitsText(limits) || 'no limits'}`)
    },
  },
  {
    name: 'profile list',
    about: 'List profiles; a star marks the current one',
    globals: local,
    examples: ['natter profile list', 'natter profile list --json'],
    async run({ globals }) {
      const { profiles } = readProfiles(process.env)
      const current = currentProfile(process.env)?.name
      const rows = Object.entries(profiles).map(([name, { site, email, limits }]) => ({
        name,
        site,
        email,
        current: name === current,
        ...(limits && { limits: limitsText(limits) }),
      }))
      if (await printFormatted(rows, globals)) return
      if (rows.length === 0) return note('no profiles')
      const { tableLines } = await import('../../terminal/table.ts')
      const shown = rows.map(({ current, ...row }) => ({ '': current ? '*' : '', ...row }))
      const terminal = await (await import('../../terminal/terminal.ts')).terminalFor(globals)
      printColored(`${tableLines(shown, String, terminal).join('\n')}\n`)
    },
  },
  {
    name: 'profile remove',
    about: 'Remove a profile',
    args: [name],
    globals: local,
    examples: ['natter profile remove work', 'natter profile remove local --quiet'],
    async run({ args }) {
      findProfile(args[0]!, process.env)
      removeProfile(args[0]!, process.env)
      note(`removed profile ${args[0]}`)
    },
  },
  {
    name: 'profile export',
    about: 'Print a profile as a zuliprc file, including the key',
    args: [{ ...name, optional: true }],
    globals: [...local, 'profile', 'as', 'ready-file', 'control-token'],
    examples: [
      'natter profile export > zuliprc',
      'natter profile export --as echo-bot > zuliprc',
      'natter profile export work --json',
    ],
    async run({ args, globals }) {
      // --as has put its account there.
      const { site, user: email, apiKey: api_key } = globals
      const acting = site && email && api_key ? { site, email, api_key } : undefined
      if (acting && args[0]) throw usage('--as cannot be combined with the name of a profile')
      const named = args[0] ?? globals.profile
      const wanted = named === undefined ? currentProfile(process.env) : { name: named }
      if (!acting && wanted === undefined) throw new Failure(exitCodes.notFound, 'there is no current profile')
      const found = acting ?? findProfile(wanted!.name, process.env, wanted!.from)
      if (!(await printFormatted(found, globals))) printColored(zuliprcText(found))
    },
  },
  {
    name: 'config explain',
    about: 'Show which server, account and settings are used, and where each value comes from',
    globals: [...local, 'site', 'user', 'api-key', 'profile', 'as', 'ready-file', 'control-token'],
    more: 'natter help config explains the config file.',
    examples: ['natter config explain', 'natter config explain --profile work --json'],
    async run({ globals }) {
      const account = accountFor(globals, process.env)
      if (account.absentFile) throw noReadyFile(account.absentFile)
      const file = locateConfigFile(process.env, homedir())
      const rows = [
        { value: 'site', is: account.site ?? null, from: account.from.site ?? null },
        { value: 'email', is: account.email ?? null, from: account.from.email ?? null },
        { value: 'api key', is: account.apiKey ? '********' : null, from: account.from.apiKey ?? null },
        ...limitRows(account.limits),
        ...settingsFor(process.env).map(({ name, value, from }) => ({ value: name as string, is: value, from })),
        { value: 'profiles', is: profilesFile(process.env), from: profilesFrom() },
        { value: 'config', is: file.path, from: file.named ? 'NATTER_CONFIG' : profilesFrom() },
      ]
      if (await printFormatted(rows, globals)) return
      const { tableLines } = await import('../../terminal/table.ts')
      const terminal = await (await import('../../terminal/terminal.ts')).terminalFor(globals)
      const lines = tableLines(rows, value => (value === null ? '-' : String(value)), terminal)
      printColored(`${lines.join('\n')}\n`)
    },
  },
]

/** The limits with what the flags add and lift. */
function limitsAfter(before: ProfileLimits, flags: Invocation['flags']): ProfileLimits {
  const { 'read-only': readOnly, 'read-write': readWrite, channels, 'all-channels': allChannels, direct } = flags
  if ([readOnly, readWrite, channels, allChannels, direct].every(flag => flag === undefined))
    throw usage(
      'no limit given',
      'Give --read-only, --channels or --no-direct; to lift them, --read-write, --all-channels or --direct.',
    )
  if (readOnly && readWrite) throw usage('--read-only and --read-write cannot be combined')
  if (channels !== undefined && allChannels) throw usage('--channels and --all-channels cannot be combined')
  const isReadOnly = readWrite ? false : (readOnly ?? before.read_only)
  const names = allChannels ? undefined : channels === undefined ? before.channels : channelsIn(String(channels))
  const isDirect = direct ?? !before.no_direct
  return {
    ...(isReadOnly && { read_only: true }),
    ...(names && { channels: names }),
    ...(!isDirect && { no_direct: true }),
  }
}

function channelsIn(text: string): string[] {
  const names = text.split(',').map(name => name.trim().replace(/^#(?!narrow\/)/, ''))
  if (names.some(name => name === ''))
    throw usage(`--channels: "${text}" is not a list of channels such as general,random`)
  return names.map(name => {
    const link = readLink(name)
    return link?.kind === 'channel' ? `id:${link.channelId}` : name
  })
}

function limitRows(limits: Limits | undefined): { value: string; is: string; from: string }[] {
  const { readOnly, channels, noDirect, from = '' } = limits ?? {}
  const places = limitsText({ ...(channels && { channels }), ...(noDirect && { no_direct: true }) })
  return [
    ...(readOnly ? [{ value: 'limit', is: 'read-only', from: readOnly }] : []),
    ...(places ? [{ value: 'limit', is: places, from }] : []),
  ]
}

async function runLogin({ args, flags, globals }: Invocation): Promise<void> {
  const known = accountFor(globals, process.env)
  // Not the site of a zuliprc: one in the current folder may be a stranger's, and would get the password.
  const chosen = known.from.site !== undefined && mayJoin('flag', known.from.site) ? known.site : undefined
  const site = args[0] ?? chosen ?? (await askText('Server: '))
  if (!site) throw usage('<site> is missing', 'Example: natter login http://127.0.0.1:9991 amy@example.com')
  if (!args[0] && process.stdin.isTTY) note(`Server: ${site}`)
  const email = args[1] ?? globals.user ?? (await askText('Email: '))
  if (!email) throw usage('<email> is missing', 'Example: natter login http://127.0.0.1:9991 amy@example.com')
  const shown = globals.dryRun || globals.curl
  const password = shown ? '********' : await askSecret(`Password for ${email}: `)
  const { call, requireSite } = await import('../../transport/client.ts')
  const fields = new Map([
    ['username', email],
    ['password', password],
  ])
  const to = { site: normalSite(site), from: {} }
  const request = { method: 'POST', path: '/api/v1/fetch_api_key', fields }
  if (shown) return (await import('../../print/request-text.ts')).printRequest(to, request, globals)
  const reply = await call(to, request, { timeout: globals.timeout }).catch(error => {
    if (!(error instanceof Failure) || error.code !== 'AUTHENTICATION_FAILED') throw error
    throw addHint(error, seededAccounts(email))
  })
  if (typeof reply.api_key !== 'string' || reply.api_key === '')
    throw new Failure(exitCodes.refused, `${to.site} answered without a key, so you are not logged in`, {
      code: 'BAD_ANSWER',
      hint: 'Check that this is the server that you mean.',
    })
  const name = String(flags.name ?? new URL(requireSite(to)).hostname)
  const account: Profile = { site: to.site, email: String(reply.email ?? email), api_key: reply.api_key }
  const file = saveProfile(name, account, process.env)
  const before = readProfiles(process.env).current
  switchProfile(name, process.env)
  if (!(await printFormatted({ profile: name, site: account.site, email: account.email }, globals))) {
    const switched = before !== undefined && before !== name ? `; switched from ${before}` : ''
    note(`logged in as ${account.email}; profile ${name} in ${file} is now the current one${switched}`)
  }
}

/** Throws for a wrong key. A server that does not answer does not show whether the key is right, so the profile is saved. */
async function verifyKey({ site, email, api_key: apiKey }: Profile, timeout: number | undefined): Promise<string> {
  const { call } = await import('../../transport/client.ts')
  const request = { method: 'GET', path: '/api/v1/users/me', fields: new Map<string, string>() }
  try {
    const { full_name } = await call({ site, email, apiKey, from: {} }, request, { timeout })
    return typeof full_name === 'string'
      ? `the key works (${full_name})`
      : `not verified: ${site} answered with no name`
  } catch (error) {
    if (!(error instanceof Failure) || error.exit === exitCodes.denied) throw error
    return `not verified: ${error.message}`
  }
}

function profilesFrom(): string {
  if (process.env.NATTER_CONFIG_DIR) return 'NATTER_CONFIG_DIR'
  return process.env.XDG_CONFIG_HOME ? 'XDG_CONFIG_HOME' : 'home folder'
}
