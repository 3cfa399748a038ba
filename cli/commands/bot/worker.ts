// The thread in which a handler runs, so that one that never returns can be ended. Everything that it asks of the server goes
// through the main thread. A bundle of its own.

import { createRequire, Module } from 'node:module'
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { transform } from 'sucrase'
import {
  type BotAccount,
  type BotHandler,
  type BotMessage,
  handleMessage,
  type Request,
} from '../../../daemon/client/bot.ts'
import { captureCaller } from '../../../daemon/client/sender.ts'
import { type PackedError, unpackError } from './call-error.ts'

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

const { file } = workerData as { readonly file: string }
const waiting = new Map<number, { resolve(reply: Record<string, unknown>): void; reject(error: PackedError): void }>()
let calls = 0

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
  tell({ kind: 'loaded', files: loadedFiles() })
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
  readTypeScript()
  const found = await loadModule()
  // `export default`, `module.exports =`, and what becomes of the first when it is loaded as the second.
  const candidates = [found, found?.default, found?.default?.default]
  const handler = candidates.find(candidate => typeof candidate === 'function')
  if (!handler) throw new Error(`${file} has no function as its default export`)
  return handler
}

async function loadModule(): Promise<any> {
  try {
    return createRequire(file)(file)
  } catch (error) {
    // A module that awaits at its top level can only be imported.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_REQUIRE_ASYNC_MODULE') throw error
    return import(pathToFileURL(file).href)
  }
}

/** Removes types, without checking them: Node 20 cannot run TypeScript. */
function readTypeScript(): void {
  const { _extensions: extensions } = Module as unknown as {
    _extensions: Record<string, (module: { _compile(code: string, file: string): void }, file: string) => void>
  }
  const { readFileSync } = process.getBuiltinModule('node:fs')
  for (const ending of ['.ts', '.mts', '.cts'])
    extensions[ending] = (module, path) => {
      module._compile(removeTypes(readFileSync(path, 'utf8'), path), path)
    }
}

function removeTypes(source: string, path: string): string {
  try {
    return transform(source, { transforms: ['typescript', 'imports'], filePath: path, preserveDynamicImport: true })
      .code
  } catch (error) {
    const reason = (error as Error).message.replace(`Error transforming ${path}: `, '')
    throw new Error(path === file ? reason : `${path}: ${reason}`)
  }
}

/** The files of the handler, without packages. */
function loadedFiles(): string[] {
  const files = new Set([file])
  for (const name of Object.keys(createRequire(file).cache)) if (!/[\\/]node_modules[\\/]/.test(name)) files.add(name)
  return [...files]
}

/** The message, and the place in the handler if there is one. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A message that names the file is also the first line of the stack.
  const place = error.stack?.split('\n').find(line => /^\s+at /.test(line) && line.includes(file))
  return place ? `${error.message} (${place.trim()})` : error.message
}

function tell(note: FromWorker): void {
  parentPort!.postMessage(note)
}
