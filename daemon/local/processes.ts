// Whether another process of this machine runs.

/** IDs are used again, so it may be another program than the one that is meant. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // One that may not be signalled is alive.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
