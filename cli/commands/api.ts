// `natter api METHOD PATH`: calls any route and prints the body unchanged.

import { harmless } from '../../daemon/local/harmless.ts'
import { isJson, jsonOr } from '../../daemon/local/json.ts'
import { refusal, usage } from '../base/failure.ts'
import { readGivenText } from '../base/files.ts'
import { batchFlags, type Globals, keyFlag } from '../base/globals.ts'
import { givenLevel } from '../base/levels.ts'
import { accountFor } from '../base/profile.ts'
import type { Reply } from '../base/reply.ts'
import type { ExtraSubcommand } from '../base/subcommand.ts'
import { printUnchanged } from '../base/writer.ts'
import { refuseSingleFlags } from '../catalogue/call.ts'
import { batchFrom } from '../catalogue/subcommands.ts'
import { readStdin } from '../input/stdin.ts'
import { printJson, printReply } from '../print/output.ts'
import { type Answer, parseBody, type Request, send, withKey } from '../transport/client.ts'
import { fullPath, methods } from '../transport/routes.ts'

interface Options {
  readonly field?: readonly string[]
  readonly 'json-field'?: readonly string[]
  readonly input?: string
  readonly include?: boolean
  readonly paginate?: boolean
}

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'api',
    about: 'Call any route of the API and print the response body unchanged, or indented with --json',
    args: [
      { name: 'method', about: `one of ${methods.join(', ')}; GET if omitted`, optional: true },
      { name: 'path', about: 'the route, with or without /api/v1', optional: true },
    ],
    flags: [
      {
        name: 'field',
        short: 'f',
        value: 'NAME=TEXT',
        about: 'a parameter, sent as text (repeatable)',
        repeatable: true,
      },
      {
        name: 'json-field',
        short: 'F',
        value: 'NAME=JSON',
        about: 'a parameter that must be valid JSON; @FILE sends the text of a file, @- that of stdin (repeatable)',
        repeatable: true,
      },
      { name: 'input', value: 'FILE', about: 'send this file as the body; `-` reads stdin' },
      { name: 'include', short: 'i', about: 'print the status and headers first' },
      { name: 'paginate', about: 'GET /messages: make as many calls as it takes to get all messages, page by page' },
      { name: 'openapi', about: 'print the description of the API in OpenAPI 3.1, without a server' },
      { name: 'level', value: 'LEVEL', about: 'with --openapi: at this feature level, 417 by default' },
      ...batchFlags,
    ],
    more: `With --paginate each page is printed as one reply would be: --jq and --ndjson apply to each. num_before and num_after give the
size of a page; with num_before the calls go back from the anchor, otherwise forward, by default from the oldest message.

With --batch each line is {"method":"POST","path":"/typing","params":{"op":"start","to":[9]}}. Each result is one line:
the reply with the number of its line and the HTTP status. The exit code is 1 if a call failed.`,
    examples: [
      'natter api /users/me',
      "natter api POST /typing -f op=start -F 'to=[5,6]'",
      "natter api POST /messages -f type=direct -F 'to=[5]' -F content=@report.md",
      'natter api DELETE /saved_snippets/1 --include',
      "natter api GET /messages --paginate --jq '.messages[].content'",
      'natter api --openapi --level 12.0',
      'natter api --batch calls.ndjson --parallel 8 --keep-going',
    ],
    async run({ args, flags, globals }) {
      if (flags.openapi === true) return printOpenApi(flags.level as string | undefined)
      if (flags.level !== undefined) throw usage('--level needs --openapi')
      const batch = batchFrom(flags)
      if (batch) {
        refuseSingleFlags(globals)
        if (flags[keyFlag] !== undefined) throw usage(`--${keyFlag} and --batch cannot be combined`)
        return (await import('../catalogue/batch.ts')).callLines(batch, globals)
      }
      const [method, path] = args[0]?.startsWith('/') ? ['GET', ...args] : args
      if (method === undefined || path === undefined) throw usage('<path> is missing', 'natter api /users/me')
      const options = flags as Options
      const request = withKey(await requestFrom(method.toUpperCase(), path, options), flags[keyFlag])
      if (options.paginate !== true) return void (await callRaw(request, options, globals))
      const { firstPage, nextPage } = await import('../transport/pages.ts')
      let page: Request | undefined = firstPage(request)
      // Every page begins where the one before it ended, so this ends at the last message.
      while (page) {
        const answer: Answer | undefined = await callRaw(page, options, globals)
        page = answer && nextPage(page, parseBody(answer))
      }
    },
  },
]

async function printOpenApi(level: string | undefined): Promise<void> {
  const [{ catalogue }, { loadPages, openApi }] = await Promise.all([
    import('../../daemon/api/index.ts'),
    import('../../daemon/api/openapi.ts'),
  ])
  printJson(openApi(await loadPages(catalogue), givenLevel(level)) as Reply)
}

/** Returns the answer, unless the request was only shown. */
async function callRaw(request: Request, options: Options, globals: Globals): Promise<Answer | undefined> {
  const account = accountFor(globals, process.env)
  if (globals.dryRun || globals.curl) {
    await (await import('../print/request-text.ts')).printRequest(account, request, globals)
    return undefined
  }
  const answer = await send(account, request, globals)
  if (options.include) printUnchanged(formatHead(answer))
  const chosen = globals.jq !== undefined || globals.fields !== undefined || globals.ndjson
  if (answer.status < 400 && chosen) await printReply(parseBody(answer), {}, globals)
  else if (answer.status < 400 && globals.json) printJson(parseBody(answer))
  else if (answer.text !== '') printUnchanged(answer.text.endsWith('\n') ? answer.text : `${answer.text}\n`)
  const isRefused = answer.status >= 300 || Object(jsonOr(answer.text)).result === 'error'
  if (isRefused) throw refusal(answer.status, parseBody(answer), answer.headers)
  return answer
}

async function requestFrom(method: string, path: string, options: Options): Promise<Request> {
  if (!methods.includes(method)) throw usage(`<method>: "${method}" is not one of ${methods.join(', ')}`)
  const fields = new Map<string, string>()
  for (const pair of options.field ?? []) fields.set(...split(pair, '--field'))
  for (const pair of options['json-field'] ?? []) {
    const [name, value] = split(pair, '--json-field')
    fields.set(name, value.startsWith('@') ? await readText(value.slice(1), '--json-field') : validJson(name, value))
  }
  const request = { method, path: fullPath(path), fields }
  if (options.input === undefined) return request
  if (fields.size > 0) throw usage('--input cannot be combined with -f or -F')
  const bytes = Buffer.from(await readText(options.input, '--input'))
  const type = /^\s*[[{]/.test(bytes.toString('utf8')) ? 'application/json' : 'application/x-www-form-urlencoded'
  return { ...request, body: { type, bytes } }
}

function split(pair: string, flag: string): [string, string] {
  const at = pair.indexOf('=')
  if (at < 1) throw usage(`${flag}: "${pair}" is not in the form name=value`)
  return [pair.slice(0, at), pair.slice(at + 1)]
}

function validJson(name: string, value: string): string {
  if (isJson(value)) return value
  throw usage(`--json-field ${name}: "${value}" is not valid JSON`, 'Use -f for plain text, or @FILE for a file.')
}

async function readText(file: string, flag: string): Promise<string> {
  return file === '-' ? readStdin() : readGivenText(file, `${flag}: `)
}

function formatHead(answer: Answer): string {
  const lines = [`HTTP/1.1 ${answer.status} ${answer.reason}`]
  for (let i = 0; i < answer.headers.length; i += 2) lines.push(`${answer.headers[i]}: ${answer.headers[i + 1]}`)
  return `${lines.map(harmless).join('\n')}\n\n`
}
