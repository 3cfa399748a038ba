// `natter api METHOD PATH`: any route, raw. The body is printed as it came.

import { readFileSync } from 'node:fs'
import { readStdin } from '../call.ts'
import { type Answer, bodyOf, type Request, send } from '../client.ts'
import { exitOf, Failure, harmless, refusal, usage } from '../failure.ts'
import type { Globals } from '../globals.ts'
import { printJson } from '../output.ts'
import { accountFor } from '../profile.ts'
import { addGlobals, addHelpEnd, type Command, commandAt, globalsOf } from '../subcommands.ts'

interface Options {
  readonly field?: readonly string[]
  readonly jsonField?: readonly string[]
  readonly input?: string
  readonly include?: boolean
}

const methods = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']

export function addApi(program: Command): void {
  const leaf = commandAt(program, ['api'])
    .description('Call any route of the API and print the body of the answer as it came; with --json, indented.')
    .usage('<method> <path> [flags]')
    .argument('<method>', `one of ${methods.join(', ')}`)
    .argument('<path>', 'the route, with or without /api/v1')
    .optionsGroup('Flags:')
    .option('-f, --field <name=text>', 'a parameter, sent as it is (repeatable)', collect)
    .option('-F, --json-field <name=json>', 'a parameter, checked to be JSON (repeatable)', collect)
    .option('--input <file>', 'send this file as the body; `-` reads stdin')
    .option('-i, --include', 'print the status and the headers first')
  addHelpEnd(leaf, [
    'natter api GET /users/me',
    "natter api POST /typing -f op=start -F 'to=[9,10]'",
    'natter api DELETE /saved_snippets/3 --include',
  ])
  addGlobals(leaf)
  leaf.action(async (method: string, path: string, options: Options) => {
    await callRaw(await requestFrom(method.toUpperCase(), path, options), options, globalsOf(leaf))
  })
}

async function callRaw(request: Request, options: Options, globals: Globals): Promise<void> {
  const account = accountFor(globals, process.env)
  if (globals.dryRun || globals.curl)
    return (await import('../request-text.ts')).printRequest(account, request, globals)
  const answer = await send(account, request, { timeout: globals.timeout, retry: globals.retry })
  if (options.include) process.stdout.write(headOf(answer))
  if (globals.json && answer.status < 400) printJson(bodyOf(answer))
  else if (answer.text !== '') process.stdout.write(answer.text.endsWith('\n') ? answer.text : `${answer.text}\n`)
  if (exitOf(answer.status, '') === 0) return
  throw failureOf(answer)
}

async function requestFrom(method: string, path: string, options: Options): Promise<Request> {
  if (!methods.includes(method)) throw usage(`<method>: "${method}" is not one of ${methods.join(', ')}`)
  const fields = new Map<string, string>()
  for (const pair of options.field ?? []) fields.set(...split(pair, '--field'))
  for (const pair of options.jsonField ?? []) {
    const [name, value] = split(pair, '--json-field')
    try {
      JSON.parse(value)
    } catch {
      throw usage(`--json-field ${name}: "${value}" is not valid JSON`, 'Use -f for plain text.')
    }
    fields.set(name, value)
  }
  const request = { method, path: fullPath(path), fields }
  if (options.input === undefined) return request
  if (fields.size > 0) throw usage('--input cannot be combined with fields')
  const bytes = Buffer.from(options.input === '-' ? await readStdin() : readInput(options.input))
  const type = /^\s*[[{]/.test(bytes.toString('utf8')) ? 'application/json' : 'application/x-www-form-urlencoded'
  return { ...request, body: { type, bytes } }
}

function fullPath(path: string): string {
  const rooted = path.startsWith('/') ? path : `/${path}`
  return /^\/api(\/|$)/.test(rooted) ? rooted : `/api/v1${rooted}`
}

function split(pair: string, flag: string): [string, string] {
  const at = pair.indexOf('=')
  if (at < 1) throw usage(`${flag}: "${pair}" is not of the form name=value`)
  return [pair.slice(0, at), pair.slice(at + 1)]
}

function readInput(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw usage(`--input: cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`)
  }
}

function headOf(answer: Answer): string {
  const lines = [`HTTP/1.1 ${answer.status} ${answer.reason}`]
  for (let i = 0; i < answer.headers.length; i += 2) lines.push(`${answer.headers[i]}: ${answer.headers[i + 1]}`)
  return `${lines.map(harmless).join('\n')}\n\n`
}

function failureOf(answer: Answer): Failure {
  try {
    return refusal(answer.status, bodyOf(answer))
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value]
}
