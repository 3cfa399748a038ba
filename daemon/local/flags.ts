// The flags of natterd, as data: the daemon reads them, the command line passes them on, the help and the reference show them.

export interface DaemonFlag {
  /** A switch is on when it is given; the others take a value. */
  readonly type: 'switch' | 'text' | 'path' | 'number' | 'choice'
  /** What the value is called in the help text; absent for a switch. By default the choices. */
  readonly takes?: string
  readonly about: string
  /** The default, as it would be written on the command line. */
  readonly fallback?: string
  /** All values of a choice. */
  readonly choices?: readonly string[]
  /** The range of a number; it starts at 0 unless `min` says otherwise. */
  readonly min?: number
  readonly max?: number
  /** False for the flags that only print something. */
  readonly env?: false
}

/** Every flag, in the order of the help text. Its value is a field of `Config`: `--max-queues` is `maxQueues`. */
export const daemonFlags = {
  data: { type: 'path', takes: 'DIR', about: 'folder of the store; it is created if needed' },
  memory: { type: 'switch', about: 'keep everything in memory; nothing is read from or written to a store' },
  host: { type: 'text', takes: 'ADDRESS', about: 'address to listen on', fallback: '127.0.0.1' },
  port: {
    type: 'number',
    takes: 'PORT',
    about: 'port to listen on; 0 lets the system choose',
    fallback: '9991',
    max: 65_535,
  },
  url: { type: 'text', takes: 'URL', about: 'public URL of the server, when it runs behind a proxy' },
  durability: {
    type: 'choice',
    about: 'fsync: an answered write survives a power failure; os: it survives a crash of the daemon only',
    fallback: 'fsync',
    choices: ['fsync', 'os'],
  },
  owner: { type: 'text', takes: 'EMAIL', about: 'email address of the owner of a new organization' },
  org: { type: 'text', takes: 'NAME', about: 'name of a new organization' },
  'ready-file': {
    type: 'path',
    takes: 'FILE',
    about: 'file to write when the daemon is ready: JSON with url, pid and the owner’s key',
  },
  json: { type: 'switch', about: 'print the JSON of --ready-file as one line on stdout, instead of the banner' },
  'log-level': {
    type: 'choice',
    takes: 'LEVEL',
    about: 'trace, debug, info, warn, error or silent',
    fallback: 'warn',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
  },
  metrics: {
    type: 'switch',
    about: 'serve metrics for Prometheus at /metrics, to owners and administrators of the organization',
  },
  'tls-cert': {
    type: 'path',
    takes: 'FILE',
    about: 'certificate in PEM, with its chain, to serve HTTPS; read again on SIGHUP',
  },
  'tls-key': { type: 'path', takes: 'FILE', about: 'private key of the certificate, in PEM' },
  'rate-limit': {
    type: 'switch',
    about: 'turn rate limits on; default: on, except on loopback without --url',
  },
  'no-rate-limit': { type: 'switch', about: 'turn rate limits off' },
  'trust-proxy': {
    type: 'switch',
    about: 'take the address of a client from the last entry of X-Forwarded-For; only behind a proxy that sets it',
  },
  mcp: {
    type: 'choice',
    about: 'who may use /mcp, the tools for agents: programs on this machine, any with an API key, or none',
    fallback: 'local',
    choices: ['local', 'on', 'off'],
  },
  secret: {
    type: 'text',
    takes: 'TEXT',
    about: 'derive all API keys from this text, so that you can know them in advance',
  },
  'secret-file': {
    type: 'path',
    takes: 'FILE',
    about: 'like --secret, from a file; unlike the command line, other users of the machine cannot read it',
  },
  'new-secret': {
    type: 'switch',
    about: 'start although the secret of the store is missing or has changed; all API keys change',
  },
  'dev-auth': { type: 'switch', about: 'give out API keys without a password; for development only' },
  'password-cost': {
    type: 'choice',
    takes: 'N',
    about: 'work of a password hash: 1024, 4096, 16384, 65536 or 131072; 16384 by default, 1024 with --memory',
    choices: ['1024', '4096', '16384', '65536', '131072'],
  },
  clock: {
    type: 'text',
    takes: 'real|frozen|frozen@TIME',
    about: 'freeze the clock, now or at an ISO 8601 time from 1971 to 9999',
    fallback: 'real',
  },
  'max-connections': {
    type: 'number',
    takes: 'N',
    about: 'largest number of connections; never more than the limit of open files allows',
    fallback: '20000',
    min: 1,
    max: 1_000_000,
  },
  'receive-timeout': {
    type: 'number',
    takes: 'SECONDS',
    about: 'how long a request may take to arrive; large uploads have more time',
    fallback: '30',
    min: 1,
    max: 3600,
  },
  'plain-http': { type: 'switch', about: 'read every request with node:http; small requests are slower' },
  'max-queues': {
    type: 'number',
    takes: 'N',
    about: 'largest number of event queues per account, those of its bots included',
    fallback: '1000',
    max: 1_000_000,
  },
  'max-pending': {
    type: 'number',
    takes: 'N',
    about:
      'largest number of unread events in a queue; beyond it, the queue is deleted and its client must register again',
    fallback: '20000',
    max: 1_000_000,
  },
  'max-pending-mib': {
    type: 'number',
    takes: 'MIB',
    about:
      'largest total size of the unread events of an account and its bots; one queue may have half of it. Beyond it, the largest queue is deleted',
    fallback: '64',
    max: 1_000_000,
  },
  reactivate: { type: 'switch', about: 'reactivate an organization that its owner deactivated' },
  'smtp-url': {
    type: 'text',
    takes: 'URL',
    about:
      'server that sends mail, such as smtp://user:password@host:587; without it, mail stays in the outbox of the store',
  },
  'smtp-url-file': { type: 'path', takes: 'FILE', about: 'like --smtp-url, from a file' },
  'webhook-private': {
    type: 'switch',
    about:
      'let outgoing webhooks call private networks and this machine. This machine is allowed by default on loopback without --url',
  },
  'webhook-timeout': {
    type: 'number',
    takes: 'SECONDS',
    about: 'how long the server of a bot has to answer',
    fallback: '10',
    max: 600,
  },
  'upload-quota': {
    type: 'number',
    takes: 'MIB',
    about: 'total size of the organization’s uploads; no limit by default',
    max: 1_000_000_000,
  },
  heartbeat: {
    type: 'number',
    takes: 'SECONDS',
    about: 'how long a poll waits before it gets a heartbeat; 45 to 55 by default',
    max: 600,
  },
  dialect: {
    type: 'choice',
    about: 'names in replies; auto: those of Zulip servers to Zulip clients, those of the API reference to others',
    fallback: 'auto',
    choices: ['auto', 'spec', 'zulip'],
  },
  level: { type: 'text', takes: 'N|RELEASE|latest', about: 'feature level of the API, 417 to 509; 417 by default' },
  preset: {
    type: 'choice',
    about: 'content of a new organization; dev: a small one with named people and channels',
    fallback: 'empty',
    choices: ['empty', 'dev'],
  },
  seed: { type: 'path', takes: 'FILE', about: 'JSON or YAML file with the content of a new organization' },
  from: {
    type: 'path',
    takes: 'FILE|STORE',
    about: 'with --memory: start with the organization of a snapshot file or of a store, which is only read',
  },
  'snapshot-on-exit': {
    type: 'path',
    takes: 'FILE',
    about: 'write a snapshot to this file when the daemon stops; --from reads it',
  },
  import: {
    type: 'path',
    takes: 'FILE',
    about: 'archive made by `natter org export`; a new store begins with the organization in it',
  },
  random: {
    type: 'text',
    takes: 'SEED',
    about: 'make queue IDs and random choices reproducible; with --memory the default is --secret',
  },
  'max-spaces': {
    type: 'number',
    takes: 'N',
    about: 'largest number of spaces; one in use takes about 400 KB of memory',
    fallback: '1000',
    max: 100_000,
  },
  'space-idle': {
    type: 'number',
    takes: 'SECONDS',
    about: 'delete a space that was not used for this long; 0: never',
    fallback: '3600',
    max: 100_000_000,
  },
  strict: {
    type: 'switch',
    about: 'with the control plane: report what clients send that public servers refuse, ignore or have deprecated',
  },
  control: { type: 'switch', about: 'open the control plane for tests, /control/v1; the default with --memory' },
  cluster: {
    type: 'text',
    takes: 'URL,URL,…',
    about: 'members of the etcd that holds the log of a cluster; this daemon joins the cluster (docs/cluster.md)',
  },
  'cluster-name': {
    type: 'text',
    takes: 'NAME',
    about: 'name of the cluster, the same for all of its daemons',
    fallback: 'natter',
  },
  advertise: {
    type: 'text',
    takes: 'URL',
    about: 'address of this daemon in `natter cluster status` and /readyz; by default where it listens',
  },
  'cluster-listen': {
    type: 'text',
    takes: 'HOST:PORT',
    about:
      'where this daemon listens for the others of its cluster; default: a free port on --host, if that is a loopback address',
  },
  'cluster-advertise': {
    type: 'text',
    takes: 'URL',
    about: 'where the other daemons reach --cluster-listen, if not at that address',
  },
  'cluster-user': { type: 'text', takes: 'NAME', about: 'user of etcd' },
  'cluster-password-file': { type: 'path', takes: 'FILE', about: 'file with the password of that user' },
  'cluster-ca': {
    type: 'path',
    takes: 'FILE',
    about: 'PEM file with the authority that signed the certificates of etcd',
  },
  'cluster-cert': { type: 'path', takes: 'FILE', about: 'PEM file with a certificate for etcd' },
  'cluster-key': { type: 'path', takes: 'FILE', about: 'PEM file with the key of that certificate' },
  'cluster-lease': {
    type: 'number',
    takes: 'SECONDS',
    about: 'how long the cluster waits for a leader that does not answer before another daemon leads',
    fallback: '5',
    min: 2,
    max: 20,
  },
  'no-profile': { type: 'switch', about: 'do not write the profile that lets `natter` find this daemon' },
  help: { type: 'switch', about: 'show this help', env: false },
  version: { type: 'switch', about: 'show the version', env: false },
} as const satisfies Record<string, DaemonFlag>

export type DaemonFlagName = keyof typeof daemonFlags

/** The same table for code that goes over all flags. */
export const daemonFlagList: readonly (readonly [DaemonFlagName, DaemonFlag])[] = Object.entries<DaemonFlag>(
  daemonFlags,
).map(([name, { takes, ...flag }]) => [name, { ...flag, takes: takes ?? flag.choices?.join('|') }]) as never

/** Every flag but --help and --version can also be set in the environment: --log-level as NATTER_LOG_LEVEL. */
export function environmentName(flag: string): string {
  return `NATTER_${flag.toUpperCase().replaceAll('-', '_')}`
}
