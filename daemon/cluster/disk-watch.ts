// Notices a disk that no longer answers: a daemon whose writes hang keeps its lease, and so do all writes of the cluster with it.

/** Milliseconds. Far above what a busy disk takes. */
const hangsAfter = 30_000

/** Settles as the work does, and calls `onHang` when that takes too long. */
export async function watchDisk<T>(work: Promise<T>, onHang: (error: Error) => void, ms = hangsAfter): Promise<T> {
  let isDone = false
  const look = () => {
    if (!isDone) onHang(new Error(`the disk of the store has not answered for ${ms / 1000} seconds`))
  }
  // In the turn after: when the process itself was stopped, the answer of the disk is there by then.
  const timer = setTimeout(() => setImmediate(look), ms).unref()
  try {
    return await work
  } finally {
    isDone = true
    clearTimeout(timer)
  }
}
