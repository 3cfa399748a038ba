// Hides source lines of the libraries from uncaught errors. Node prints the line that an error comes from, and each library is one file with few,
// very long lines. The stack has the place of the caller.

import { type Caller, captureCaller } from './sender.ts'

/** Makes the error that the caller gets. */
type Translate = (error: unknown) => unknown
const same: Translate = error => error

/** Does the work. What it throws, or rejects with, is thrown on without a source line; with `caller`, a wrong use has the place of the caller only. */
export function attempt<T>(work: () => T, caller?: Caller, translate: Translate = same): T {
  // Node prints no line that has these words on it.
  'node-do-not-add-exception-line'
  try {
    const result = work()
    return result instanceof Promise ? (settle(result, caller, translate) as T) : result
  } catch (error) {
    throw hideSource(translate(error), caller)
  }
}

/** Awaits, because V8 follows only that from the error to the caller. */
async function settle<T>(work: Promise<T>, caller: Caller | undefined, translate: Translate): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw hideSource(translate(error), caller)
  }
}

/** What functions of the test have thrown. Its places are theirs, and not those of a wrong use of the library. */
const ofTests = new WeakSet<Error>()

/** Runs a function of the test. What it throws keeps its stack, whatever it passes through. */
export async function runOfTest<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error) ofTests.add(error)
    throw error
  }
}

/** Wraps each function of the object, and of the objects in these fields, in `attempt`. `translate` makes the errors that callers get. */
export function attemptAll<T extends object>(
  library: T,
  fields: readonly (keyof T)[] = [],
  translate: Translate = same,
): void {
  for (const field of fields) attemptAll(library[field] as object, [], translate)
  const functions = library as Record<string, unknown>
  for (const [name, work] of Object.entries(functions))
    if (typeof work === 'function')
      functions[name] = function call(...given: unknown[]) {
        return attempt(() => work(...given), captureCaller(call), translate)
      }
}

function isPlace(line: string): boolean {
  return /^\s+at /.test(line)
}

/** The line comes from where the error was made, which V8 keeps beside the text of the stack. */
function hideSource(error: unknown, caller: Caller | undefined): unknown {
  const { captureStackTrace } = Error as { captureStackTrace?(holder: object): void }
  if (!(error instanceof Error) || ofTests.has(error) || !captureStackTrace || Object.isFrozen(error)) return error
  const places = caller?.stack?.split('\n').filter(isPlace) ?? []
  const [isMisuse, isPlaceless] = [caller && error instanceof TypeError, !error.stack?.split('\n').some(isPlace)]
  const head = isMisuse ? `${error.name}: ${error.message}` : error.stack
  const stack = isMisuse || isPlaceless ? [head, ...places].join('\n') : error.stack
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  captureStackTrace(error)
  Error.stackTraceLimit = stackTraceLimit
  Object.defineProperty(error, 'stack', { value: stack, writable: true, configurable: true })
  return error
}
