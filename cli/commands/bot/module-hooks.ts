// Hooks of Node's loader for the modules of a handler: they remove types, and find what a handler in TypeScript may import.
// On Node 20 they run in a thread of their own, from a bundle of their own.

import { readFileSync } from 'node:fs'
import { createRequire, Module } from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { compileFunction } from 'node:vm'
import type { MessagePort } from 'node:worker_threads'
import { transform } from 'sucrase'

interface Context {
  readonly parentURL?: string
  readonly conditions?: readonly string[]
  readonly importAttributes?: Readonly<Record<string, string>>
}

type Resolved = { readonly url: string; readonly shortCircuit?: boolean }
type Loaded = { readonly format: string; readonly source: string; readonly shortCircuit: true }
type Resolve<R> = (specifier: string, context: Context, next: (specifier: string, context: Context) => R) => R
type Load = (url: string, context: Context, next: (url: string, context: Context) => unknown) => unknown

const endings = ['.ts', '.mts', '.cts']
let tell: (file: string) => void = () => {}

/** Loads modules of this thread so. `onLoad` gets each file that is imported. */
export function installHooks(onLoad: (file: string) => void): void {
  tell = onLoad
  const { registerHooks } = Module as unknown as {
    registerHooks(hooks: { resolve: Resolve<Resolved>; load: Load }): void
  }
  registerHooks({ resolve: resolveHere, load })
}

/** What `require` does with TypeScript, for handlers and helpers in CommonJS. */
export function extendRequire(): void {
  const { _extensions: extensions } = Module as unknown as {
    _extensions: Record<string, (module: { _compile(code: string, file: string): void }, file: string) => void>
  }
  for (const ending of endings)
    extensions[ending] = (module, path) => {
      const code = removeTypes(readFileSync(path, 'utf8'), path, true)
      if (!compiles(code) && compiles(code.replace(/\bimport\.meta\b|\bawait\b/g, '')))
        throw new SyntaxError(
          `${path} uses import.meta, or await outside of functions: load it with import, not with require`,
        )
      module._compile(code, path)
    }
}

/** Node calls it in the thread of the hooks. */
export function initialize(port: MessagePort): void {
  tell = file => port.postMessage(file)
  extendRequire()
}

/** Node calls it in the thread of the hooks. */
export const resolve: Resolve<Promise<Resolved>> = async (specifier, context, next) => {
  try {
    return await next(specifier, context)
  } catch (error) {
    return resolveAsRequire(specifier, context, error)
  }
}

const resolveHere: Resolve<Resolved> = (specifier, context, next) => {
  try {
    return next(specifier, context)
  } catch (error) {
    return resolveAsRequire(specifier, context, error)
  }
}

/** TypeScript lets a project leave out endings, or write the one that a compiler would make. */
function resolveAsRequire(specifier: string, { parentURL = '', conditions }: Context, error: unknown): Resolved {
  if (isRequire(conditions) || !endings.includes(extname(parentURL))) throw error
  for (const name of [specifier, specifier.replace(/\.([cm]?)js$/, '.$1ts')])
    try {
      return { url: pathToFileURL(createRequire(parentURL).resolve(name)).href, shortCircuit: true }
    } catch {}
  throw error
}

export const load: Load = (url, context, next) => {
  if (!url.startsWith('file:') || isRequire(context.conditions)) return next(url, context)
  const path = fileURLToPath(url)
  tell(path)
  const ending = extname(path)
  if (endings.includes(ending)) return asModule(loadTypeScript(path))
  if (ending === '.json' && context.importAttributes?.type === undefined) return asModule(loadJson(path))
  return next(url, context)
}

function isRequire(conditions: readonly string[] | undefined): boolean {
  return conditions?.includes('require') === true
}

function asModule(source: string): Loaded {
  return { format: 'module', source, shortCircuit: true }
}

function loadTypeScript(path: string): string {
  const source = readFileSync(path, 'utf8')
  const code = removeTypes(source, path, false)
  if (isCommonJs(path, code, source)) return requiring(path, removeTypes(source, path, true))
  return declareMissing(code) + code
}

/** As Node decides it, by what compiles. A file that imports and sets module.exports is CommonJS, too. */
function isCommonJs(path: string, code: string, source: string): boolean {
  if (extname(path) === '.cts' || compiles(code)) return true
  return /\bmodule\.exports\b|\bexports\.\w+\s*=/.test(code) && compiles(removeTypes(source, path, true))
}

function compiles(code: string): boolean {
  try {
    compileFunction(code.replace(/^#!.*/, ''), ['exports', 'require', 'module', '__filename', '__dirname'])
    return true
  } catch {
    return false
  }
}

/** A module whose exports are those of a file in CommonJS. `code`: without types and imports. */
function requiring(path: string, code: string): string {
  const names = new Set([...code.matchAll(/\bexports\.(\w+)\s*=/g)].map(([, name]) => name!))
  for (const own of ['default', '__esModule']) names.delete(own)
  return `import { createRequire } from 'node:module'
const found = createRequire(import.meta.url)(${JSON.stringify(path)})
export default found?.__esModule ? found.default : found
${exportFields('found', [...names])}`
}

function loadJson(path: string): string {
  const text = readFileSync(path, 'utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`)
  }
  const isFields = typeof value === 'object' && value !== null && !Array.isArray(value)
  const names = isFields ? Object.keys(value as object).filter(name => name !== 'default') : []
  return `const found = JSON.parse(${JSON.stringify(text)})\nexport default found\n${exportFields('found', names)}`
}

function exportFields(holder: string, names: readonly string[]): string {
  return names
    .map((name, i) => [JSON.stringify(name), `field${i}`])
    .map(([name, field]) => `const ${field} = ${holder}[${name}]\nexport { ${field} as ${name} }\n`)
    .join('')
}

/** Names of CommonJS that modules in TypeScript use all the same, because most tools have them. On the first line, so that the numbers of lines stay. */
function declareMissing(code: string): string {
  const isMissing = (name: string) =>
    new RegExp(`\\b${name}\\b`).test(code) && !new RegExp(`\\b(?:const|let|var|function)\\s+${name}\\b`).test(code)
  return [
    ['require', `process.getBuiltinModule('node:module').createRequire(import.meta.url)`],
    ['__dirname', 'import.meta.dirname'],
    ['__filename', 'import.meta.filename'],
  ]
    .filter(([name]) => isMissing(name!))
    .map(([name, value]) => `const ${name} = ${value}; `)
    .join('')
}

/** Without checking them: Node 20 cannot run TypeScript. */
function removeTypes(file: string, path: string, requires: boolean): string {
  const source = file.replace(/^#!.*/, '')
  const transforms = ['typescript' as const, ...(requires ? ['imports' as const] : [])]
  let code: string
  try {
    code = transform(source, { transforms, filePath: path, preserveDynamicImport: true }).code
  } catch (error) {
    throw new Error((error as Error).message.replace(`Error transforming ${path}: `, `${path}: `))
  }
  refuseNamespaces(source, code, path)
  return code
}

const namespaces = /^[ \t]*(?:export\s+)?(?:namespace|module)\s+(([\w$]+)[\w$.]*)\s*\{/gm

/** Namespaces are removed as types are. Where one is used all the same, it had more than types in it. */
function refuseNamespaces(source: string, code: string, path: string): void {
  for (const { 0: text, 1: name, 2: used, index } of source.matchAll(namespaces)) {
    // What is still there is in a comment or a text.
    if (code.includes(text.trim()) || !new RegExp(`(?<![\\w$.])${used!.replaceAll('$', '\\$&')}(?![\\w$])`).test(code))
      continue
    const line = source.slice(0, index + text.length).split('\n').length
    throw new SyntaxError(
      `${path}: line ${line}: the code in the namespace ${name} would be removed with the types. Write an object, such as const ${used} = { … }, or a module of its own`,
    )
  }
}
