// Notices a disk that no longer answers: a daemon whose writes hang keeps its lease, and so do all writes of the cluster with it.

/** Milliseconds. Far above what a busy disk takes. */
const hangsAfter = 30_000

/** It is looked at this often until then, so that a process that was stopped meanwhile still gives the disk most of that time. */
const looks = 10

/** Settles as the work does, and calls `onHang` when that takes too long. */
export async function watchDisk<T>(work: Promise<T>, onHang: (error: Error) => void, ms = hangsAfter): Promise<T> {
  let left = looks
  const look = () => {
    if (--left === 0) onHang(new Error(`the disk of the store has not answered for ${ms / 1000} seconds`))
  }
  const timer = setInterval(look, ms / looks).unref()
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}
