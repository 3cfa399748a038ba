// The machine that a figure comes from, in one line.

import { cpus, release, totalmem, type } from 'node:os'

export function thisMachine(): string {
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  const processors = cpus()
  const cores = `${processors.length} × ${processors[0]?.model.trim() || process.arch}`
  return `${cores}, ${gigabytes} GB, ${type()} ${release().split('-')[0]}, Node ${process.version}`
}
