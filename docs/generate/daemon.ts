// daemon.md: the flags of natterd, and its limits.

import { limits } from '../../daemon/domain/limits.ts'
import { type Budget, budgets } from '../../daemon/http/rate-limit.ts'
import { type DaemonFlag, daemonFlagList, environmentName } from '../../daemon/local/flags.ts'
import { writtenBytes } from '../../daemon/written-budget.ts'
import { code, page, table } from './markdown.ts'

export function daemonPage(): string {
  return page(
    'natterd',
    'The daemon runs in the foreground until SIGTERM or Ctrl-C. `natter daemon run` is the same program with the same flags.',
    '## Flags',
    'A flag wins over its environment variable. Switches are on with `1`, `true` or `yes`.',
    table(['Flag', 'Environment', 'Default', 'About'], daemonFlagList.map(flagRow)),
    '## Limits',
    'Lengths are counted in Unicode code points. The names are those of `daemon/domain/limits.ts`.',
    table(
      ['Limit', 'Value'],
      Object.entries(limits).map(([name, value]) => [code(name), String(value)]),
    ),
    '## Rate limits',
    'Off on loopback unless `--rate-limit` is given; on everywhere else unless `--no-rate-limit` is given. A client is an IPv4 address or an IPv6 network of 64 bits.',
    table(
      ['Budget', 'Calls', 'In seconds', 'Counted for'],
      Object.entries<Budget>(budgets).map(([key, { name, limit, perSeconds }]) => [
        name,
        String(limit),
        String(perSeconds),
        countedFor[key as keyof typeof budgets],
      ]),
    ),
    `With rate limits on, an account and its bots can write ${inMiB(writtenBytes.atOnce)} to the journal at once, and ${inMiB(writtenBytes.perMinute)} a minute after that. Further writes are refused with \`RATE_LIMIT_HIT\`, reads are not.`,
  )
}

function inMiB(bytes: number): string {
  return `${bytes / 1024 / 1024} MiB`
}

const countedFor: Record<keyof typeof budgets, string> = {
  user: 'one account',
  events: 'one account, `/events` only',
  mcp: 'one account, `/mcp` only',
  address: 'one client, calls without an account',
  password: 'one user name from one client, failed passwords only; `old_password` too',
  passwordClient: 'one client, failed passwords only; not for accounts that it logged in to before',
  passwordAccount: 'one user name from all clients, failed passwords only; not for clients that logged in to it before',
}

function flagRow([name, flag]: readonly [string, DaemonFlag]): string[] {
  const { takes, about, fallback, env } = flag
  const variable = env === false ? '' : code(environmentName(name))
  return [code(`--${name}${takes ? ` ${takes}` : ''}`), variable, fallback ? code(fallback) : '', about + range(flag)]
}

function range({ min = 0, max }: DaemonFlag): string {
  return max === undefined ? '' : ` (${min} to ${max})`
}
