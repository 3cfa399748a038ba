// Real file systems of a few pages, where root allows it.

import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

const pageKiB = 4

export function canMount(folder: string): boolean {
  const place = join(folder, 'probe')
  mkdirSync(place)
  const isMounted = mount(place, 8)
  if (isMounted) unmount(place)
  return isMounted
}

export function mountSmallDisk(folder: string, pages: number): void {
  if (!mount(folder, pages)) throw new Error(`no file system could be mounted at ${folder}`)
}

export function unmount(folder: string): void {
  // Lazily: a connection that is being closed can still hold a file.
  spawnSync('umount', ['-l', folder])
}

function mount(folder: string, pages: number): boolean {
  const size = `size=${pages * pageKiB}k`
  return spawnSync('mount', ['-t', 'tmpfs', '-o', size, 'natter-prove', folder]).status === 0
}
