// The real disk of the journal, counted: how many writes and syncs, and how many of them at once at the most.
import { type Disk, realDisk } from '../../daemon/local/durable-files.ts'

export function countingDisk(): { disk: Disk; writes: number; syncs: number; most: number } {
  const counted = { disk: realDisk, writes: 0, syncs: 0, most: 0 }
  let busy = 0
  const enter = () => {
    counted.most = Math.max(counted.most, ++busy)
  }
  counted.disk = {
    write(fd, bytes, at, done) {
      counted.writes++
      enter()
      realDisk.write(fd, bytes, at, (error, count) => {
        busy--
        done(error, count)
      })
    },
    sync(fd, done) {
      counted.syncs++
      enter()
      realDisk.sync(fd, error => {
        busy--
        done(error)
      })
    },
  }
  return counted
}
