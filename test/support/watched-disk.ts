// The calls to the disk that this process makes while a test watches, in their order. Any of them can be made to fail.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'

/** Says with which code a call fails; undefined to carry it out. */
export type Fault = (call: string) => string | undefined

type Function = (...args: any[]) => any

/**
 * Runs the work and returns the calls that concern the folder or what is in it, such as `sync journal.ndjson` and `rename a b`: names
 * without their folders, and that of a file as it was opened.
 */
export async function watchDisk(
  folder: string,
  work: () => unknown,
  fault: Fault = () => undefined,
): Promise<string[]> {
  const calls: string[] = []
  const names = new Map<number, string>()
  const restore: (() => void)[] = []
  const replace = (owner: Record<string, Function>, name: string, make: (real: Function) => Function) => {
    const real = owner[name]!
    owner[name] = make(real)
    restore.push(() => {
      owner[name] = real
    })
  }
  const pathOf = (place: unknown) => (typeof place === 'number' ? (names.get(place) ?? '') : String(place))
  /** Notes the call; returns the error that it is to end with. */
  const note = (verb: string, ...places: unknown[]): Error | undefined => {
    const paths = places.map(pathOf)
    if (!paths[0]!.startsWith(folder)) return undefined
    const call = [verb, ...paths.map(path => basename(path))].join(' ')
    calls.push(call)
    const code = fault(call)
    return code === undefined ? undefined : Object.assign(new Error(`${code}: ${call}`), { code })
  }
  const sync = fs as unknown as Record<string, Function>
  const promises = fs.promises as unknown as Record<string, Function>
  const now = (name: string, verb: string, places = 1) =>
    replace(sync, name, real => (...args) => {
      const error = note(verb, ...args.slice(0, places))
      if (error) throw error
      return real(...args)
    })
  const later = (name: string, verb: string) =>
    replace(sync, name, real => (...args) => {
      const error = note(verb, args[0])
      if (error) setImmediate(args.at(-1), error, 0)
      else real(...args)
    })
  const promised = (name: string, verb: string, places = 1) =>
    replace(promises, name, real => async (...args) => {
      const error = note(verb, ...args.slice(0, places))
      if (error) throw error
      return real(...args)
    })
  replace(sync, 'openSync', real => (path, ...rest) => {
    const error = note('open', path)
    if (error) throw error
    const fd = real(path, ...rest)
    names.set(fd, String(path))
    return fd
  })
  now('closeSync', 'close')
  now('writeSync', 'writeSync')
  now('fsyncSync', 'sync')
  now('ftruncateSync', 'truncate')
  now('renameSync', 'rename', 2)
  later('close', 'close')
  later('fsync', 'sync')
  later('fdatasync', 'sync')
  later('write', 'write')
  promised('rename', 'rename', 2)
  promised('unlink', 'remove')
  promised('rm', 'remove')
  promised('mkdir', 'make')
  promised('writeFile', 'write')
  syncBuiltinESMExports()
  try {
    await work()
  } finally {
    for (const undo of restore) undo()
    syncBuiltinESMExports()
  }
  return calls
}

/** Runs the work while each read gives at most so many bytes; returns how many were read in all. */
export async function limitReads(most: number, work: () => unknown): Promise<number> {
  const real = fs.read
  let total = 0
  const limited = (fd: number, into: Buffer, offset: number, length: number, at: number, done: Function) =>
    real(fd, into, offset, Math.min(length, most), at, (error, got) => {
      total += got
      done(error, got)
    })
  fs.read = limited as unknown as typeof fs.read
  syncBuiltinESMExports()
  try {
    await work()
  } finally {
    fs.read = real
    syncBuiltinESMExports()
  }
  return total
}
