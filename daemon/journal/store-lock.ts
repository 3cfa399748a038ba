// One daemon per store folder. The kernel takes the lock back when its holder dies, however it dies: nothing is left
// behind that could be stale.
import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { giveToOwner, isOfAnother } from '../local/atomic-file.ts'

interface StoreLock {
  /** Tells the operator which other daemons the lock cannot keep out. */
  readonly warning?: string | undefined
  release(): Promise<void>
}

export class StoreInUse extends Error {
  readonly folder: string
  readonly pid: number | undefined
  readonly url: string | undefined
  /** `name`: that of the lock, if the system can say which process has it. */
  constructor(folder: string, holder: { pid?: number; url?: string }, name = '') {
    const known =
      [holder.pid && `process ${holder.pid}`, holder.url && `at ${holder.url}`].filter(Boolean).join(' ') ||
      (name && `'sudo ss -xlp | grep ${name}' shows its process`)
    super(`${folder} is in use by another natterd${known && ` (${known})`}; stop it first, or choose another folder`)
    this.name = 'StoreInUse'
    this.folder = folder
    this.pid = holder.pid
    this.url = holder.url
  }
}

/** Takes the folder or throws StoreInUse; never waits for a holder. The folder must exist. */
export async function lockStore(folder: string): Promise<StoreLock> {
  if (isOfAnother(folder)) makeForOwner(folder)
  const lock = isNamed(process.platform) ? await lockBoth(folder) : lockFile(join(folder, 'lock'))
  if (!lock) throw new StoreInUse(folder, readHolder(folder))
  return lock
}

/** The file stays when its holder is gone: one of root would keep the service out. */
function makeForOwner(folder: string): void {
  try {
    const fd = openSync(join(folder, 'lock'), 'wx', 0o600)
    giveToOwner(fd, folder)
    closeSync(fd)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** The name first: it costs nothing, and works where flock(1) is missing. On Linux the file keeps out other containers. */
async function lockBoth(folder: string): Promise<StoreLock | undefined> {
  const key = await lockKey(folder)
  const name = await lockName(key)
  if (process.platform === 'win32') return name
  // Another user of the machine can have the name too.
  if (!name) throw new StoreInUse(folder, readHolder(folder), key.slice(1))
  const file = await lockFileByProgram(join(folder, 'lock')).catch(async error => {
    await name.release()
    throw error
  })
  if (!file) await name.release()
  return (
    file && {
      warning: file.warning,
      async release() {
        await file.release()
        await name.release()
      },
    }
  )
}

/** Where sockets have names outside the file system, and so vanish with their process. */
function isNamed(platform: string): boolean {
  return platform === 'linux' || platform === 'android' || platform === 'win32'
}

/**
 * Keyed on the folder itself, not on its path: links and mounts lead to the same lock. Abstract names belong to the
 * network namespace, so another container that shares the volume does not see this one.
 */
async function lockKey(folder: string): Promise<string> {
  const { dev, ino } = await stat(folder, { bigint: true })
  const name = `natter-store-${dev}-${ino}`
  return process.platform === 'win32' ? `\\\\?\\pipe\\${name}` : `\0${name}`
}

function lockName(path: string): Promise<StoreLock | undefined> {
  // Nothing is served here: connections are closed at once.
  const server = createServer(socket => socket.destroy())
  server.unref()
  return new Promise((resolve, reject) => {
    server.once('error', error => {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') resolve(undefined)
      else reject(error)
    })
    // `exclusive`: under node:cluster the primary would share the name among its workers.
    server.listen({ path, exclusive: true }, () =>
      resolve({ release: () => new Promise(done => server.close(() => done())) }),
    )
  })
}

/**
 * Linux: Node cannot call flock(2), but flock(1) can, on a descriptor of ours. The lock belongs to the open file, which the two
 * share, and so outlives the program and ends with this process.
 */
async function lockFileByProgram(path: string): Promise<StoreLock | undefined> {
  const fd = openSync(path, 'a', 0o600)
  const outcome = await runFlock(fd).catch((error: Error) => error)
  if (outcome === 1) {
    closeSync(fd)
    return undefined
  }
  const lock = releasing(fd)
  if (outcome === 0) return lock
  const reason = outcome instanceof Error ? outcome.message : `flock ended with ${outcome}`
  return {
    ...lock,
    warning: `${path} cannot be locked (${reason}); a natterd in another container would not be kept out of this folder`,
  }
}

function runFlock(fd: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] })
    child.once('error', reject)
    child.once('exit', resolve)
  })
}

// macOS and the BSDs: open(2) takes the lock of flock(2) with the file, atomically. Node has no names for the flags.
const exclusiveLock = 0x20
const doNotWait = 0x4
const readWriteCreate = 0x2 | 0x200

function lockFile(path: string): StoreLock | undefined {
  let fd: number
  try {
    fd = openSync(path, readWriteCreate | exclusiveLock | doNotWait, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
    throw error
  }
  return releasing(fd)
}

function releasing(fd: number): StoreLock {
  let held = true
  return {
    async release() {
      if (held) closeSync(fd)
      held = false
    },
  }
}

/** What `daemon.json` says about the daemon that runs, if it has been written already. */
function readHolder(folder: string): { pid?: number; url?: string } {
  try {
    const { pid, url } = Object(JSON.parse(readFileSync(join(folder, 'daemon.json'), 'utf8')))
    return { ...(Number.isInteger(pid) && { pid }), ...(typeof url === 'string' && { url }) }
  } catch {
    return {}
  }
}
