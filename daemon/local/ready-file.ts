// The files that a running daemon leaves for the command line: their names and what they hold.

/** What the ready file holds, and what `natterd --json` prints. */
export interface Ready {
  readonly url: string
  readonly pid: number
  readonly owner: { readonly user_id: number; readonly email: string; readonly api_key: string }
  /** Opens the control plane; absent where it is closed. */
  readonly control_token?: string
  /** Address of the inspector, with the token in the fragment, which browsers do not send. */
  readonly inspector: string
  /** Its feature level. */
  readonly level: number
}

/** Whether a daemon wrote this: files of the user can have any name, that of a ready file too. */
export function isReady(value: unknown): value is Ready {
  const { url, owner, control_token = '' } = Object(value) as Partial<Ready>
  return [url, owner?.email, owner?.api_key, control_token].every(text => typeof text === 'string')
}

/** Where a browser finds the inspector of a site. */
export function inspectorAddress(site: string, token: string | undefined): string {
  return token ? `${site}/#token=${token}` : `${site}/`
}

/** The token in such an address. */
export function controlTokenIn(address: string): string | undefined {
  return /#(?:.*&)?token=([^&]+)/.exec(address)?.[1]
}

/** What `daemon.json` in the folder of the store holds while a daemon runs on it. */
export interface Running {
  readonly pid: number
  /** Where it listens on this machine, whatever clients call it. */
  readonly url: string
  /** The flags it was started with. */
  readonly args?: readonly string[]
}

/** A log level in this file of the folder replaces that of the flags when the daemon gets SIGHUP. */
export const logLevelFileName = 'log-level'

export const runningFileName = 'daemon.json'
/** In the folder of a daemon without a terminal that has neither a ready file nor a profile: its ready file. */
export const readyFileName = 'ready.json'
/** In the folder of a daemon that belongs to a cluster. */
export const clusterFileName = 'cluster.json'
export const logFileName = 'daemon.log'
