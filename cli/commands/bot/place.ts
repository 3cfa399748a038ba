// The place in the files of a handler that an error comes from.

import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Natter's own code: one bundle, or the sources. */
const library = existsSync(join(import.meta.dirname, 'bot-worker.cjs'))
  ? [import.meta.dirname]
  : ['cli', 'daemon'].map(folder => join(import.meta.dirname, '../../..', folder))

/** The innermost place of the stack that is in a file of the handler: in no package, and not in Node or Natter. */
export function findPlace(error: Error, file: string): string | undefined {
  // What cannot be parsed has its place before the message; the frames are of what loads it.
  const [first] = (error.stack ?? '').split('\n', 1)
  const isPlace = /^(?:file:\/\/|\/|[A-Za-z]:\\).*:\d+$/.test(first!)
  return isPlace && isOwn(first!, file) ? `at ${first}` : findFrame(error, file)
}

/** The same, where code of the handler was running. */
export function findFrame({ message, stack = '' }: Error, file: string): string | undefined {
  // The message can have lines that look like places.
  const at = stack.indexOf(message)
  const lines = stack.slice(at < 0 ? 0 : at + message.length).split('\n')
  return lines.find(line => /^\s+at /.test(line) && isOwn(line, file))?.trim()
}

function isOwn(line: string, file: string): boolean {
  if (line.includes(file)) return true
  return (
    /file:\/\/|[( ]\/|[( ][A-Za-z]:\\|^\//.test(line) &&
    !/[\\/]node_modules[\\/]|[( ]node:/.test(line) &&
    !library.some(folder => line.includes(folder))
  )
}
