// The thread in which a handler runs, so that one that never returns can be ended. Everything that it asks of the server goes
// through the main thread. A bundle of its own.

import { readFileSync } from 'node:fs'
import { createRequire, Module, register } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { MessageChannel, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import {
  type BotAccount,
  type BotHandler,
  type BotMessage,
  handleMessage,
  type Request,
} from '../../../daemon/client/bot.ts'
import { captureCaller } from '../../../daemon/client/sender.ts'
import { type PackedError, unpackError } from './call-error.ts'
import { extendRequire, installHooks } from './module-hooks.ts'
import { findFrame, findPlace } from './place.ts'
import { locateSyntaxError } from './syntax-place.ts'

export type ToWorker =
  | { readonly kind: 'handle'; readonly message: BotMessage; readonly me: BotAccount }
  | {
      readonly kind: 'answer'
      readonly call: number
      readonly reply?: Record<string, unknown>
      readonly error?: PackedError
    }

export type FromWorker =
  | { readonly kind: 'loaded'; readonly files: readonly string[] }
  | { readonly kind: 'unusable'; readonly reason: string }
  | {
      readonly kind: 'call'
      readonly call: number
      readonly method: string
      readonly path: string
      readonly params: Readonly<Record<string, unknown>>
    }
  | { readonly kind: 'done'; readonly error?: string }
  /** Of something that the handler has started and does not wait for. */
  | { readonly kind: 'stray'; readonly error: string }

/** `hooks`: address of the module with the hooks of Node's loader, for a Node that has them in a thread of their own. */
const { file, hooks } = workerData as { readonly file: string; readonly hooks: string }
const waiting = new Map<number, { resolve(reply: Record<string, unknown>): void; reject(error: PackedError): void }>()
let calls = 0
let listImported: () => readonly string[] = () => []

const request: Request = (method, path, params = {}) =>
  new Promise((resolve, reject) => {
    const call = ++calls
    // When the answer comes, the stack no longer leads to the line of the handler.
    const caller = captureCaller(request)
    waiting.set(call, { resolve, reject: error => reject(unpackError(error, `${method} ${path}`, caller)) })
    tell({ kind: 'call', call, method, path, params })
  })

void start()

async function start(): Promise<void> {
  listImported = prepareModules()
  let handler: BotHandler
  try {
    handler = await load()
  } catch (error) {
    tell({ kind: 'unusable', reason: describe(error) })
    return
  }
  parentPort!.on('message', (note: ToWorker) => {
    if (note.kind === 'handle') void handle(handler, note.message, note.me)
    else {
      const call = waiting.get(note.call)
      waiting.delete(note.call)
      if (note.error === undefined) call?.resolve(note.reply ?? {})
      else call?.reject(note.error)
    }
  })
  process.on('uncaughtException', error => tell({ kind: 'stray', error: describe(error) }))
  tell({ kind: 'loaded', files: listOwn([file, ...listImported(), ...Object.keys(createRequire(file).cache)]) })
}

async function handle(handler: BotHandler, message: BotMessage, me: BotAccount): Promise<void> {
  try {
    await handleMessage(handler, message, me, request, new AbortController().signal)
    tell({ kind: 'done' })
  } catch (error) {
    tell({ kind: 'done', error: describe(error) })
  }
}

async function load(): Promise<BotHandler> {
  const found = await importOrRequire()
  // `export default`, `module.exports =`, and what becomes of the first when it is loaded as the second.
  const candidates = [found, found?.default, found?.default?.default]
  const handler = candidates.find(candidate => typeof candidate === 'function')
  if (!handler) throw new Error(`${file} has no function as its default export`)
  if (/^class\b/.test(String(handler))) throw new Error(`${file} has a class as its default export; export a function`)
  return handler
}

/**
 * Where a name is not exported by what Node sees of a module in CommonJS, `require` finds it. Node says so before it runs anything, and
 * then no file of the handler is in the stack. So nothing is run twice.
 */
async function importOrRequire(): Promise<any> {
  try {
    return await import(pathToFileURL(file).href)
  } catch (error) {
    if (!(error instanceof SyntaxError) || findFrame(error, file)) throw error
    try {
      if (isMissing(error)) throw error
      return createRequire(file)(file)
    } catch (again) {
      const cannot =
        again instanceof SyntaxError || (again as NodeJS.ErrnoException)?.code?.match(/^ERR_(REQUIRE|INTERNAL)_/)
      // Node 20 takes a module that it could not parse for an error of its own.
      throw cannot ? error : again
    }
  }
}

/** What Node says of a name that a module does not export; the second of one in CommonJS. */
const notExported = [
  /^The requested module '(?<from>.+)' does not provide an export named '(?<name>.+)'$/,
  /^Named export '(?<name>.+?)' not found\. The requested module '(?<from>.+?)' is a CommonJS module/,
]

/** Whether `require` does not find the name either, since it is misspelled: the handler would get undefined in its place. */
function isMissing({ message: said, stack = '' }: SyntaxError): boolean {
  const { from, name } = notExported.map(words => words.exec(said)?.groups).find(Boolean) ?? {}
  const [, importer] = /^(file:.*):\d+\n/.exec(stack) ?? []
  if (from === undefined || name === undefined || importer === undefined) return false
  // A type that is passed on is found nowhere once the types are removed, and no one needs it then.
  const passedOn = readFileSync(fileURLToPath(importer), 'utf8').matchAll(/\bexport\s*\{([^}]*)\}\s*from\b/g)
  if ([...passedOn].some(([, names]) => names!.split(/[\s,]+/).includes(name))) return false
  return !(name in Object(createRequire(importer)(from)))
}

/** Returns what lists the files that were imported so far. */
function prepareModules(): () => readonly string[] {
  const imported: string[] = []
  extendRequire()
  if ('registerHooks' in Module) {
    installHooks(path => imported.push(path))
    return () => imported
  }
  const { port1, port2 } = new MessageChannel()
  register(hooks, { data: port2, transferList: [port2] })
  return () => {
    for (let note = receiveMessageOnPort(port1); note; note = receiveMessageOnPort(port1)) imported.push(note.message)
    return imported
  }
}

/** The files of the handler, without packages. */
function listOwn(files: readonly string[]): string[] {
  return [...new Set(files)].filter(name => name === file || !/[\\/]node_modules[\\/]/.test(name))
}

/** The message, and the innermost place in the files of the handler if there is one. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // The sentence around it names the file already.
  const message = error.message.replace(`${file}: `, '')
  const place = findPlace(error, file) ?? findSyntaxPlace(error)
  return place ? `${message} (${place})` : message
}

function findSyntaxPlace(error: Error): string | undefined {
  const place = error instanceof SyntaxError && locateSyntaxError(error, listOwn(listImported()))
  return place ? `at ${place}` : undefined
}

function tell(note: FromWorker): void {
  parentPort!.postMessage(note)
}
