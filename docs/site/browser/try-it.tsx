// "Try it": a call of the endpoint of this page to the daemon that served the page, as the account that is signed in to the inspector in this tab.

import { signal, useSignal } from '@preact/signals'
import { render } from 'preact'
import type { Upload } from '../../../daemon/api/define.ts'
import { NatterError, Sender } from '../../../daemon/client/sender.ts'
import { AccountChoice } from '../../../daemon/inspector/act-as.tsx'
import { Button, bind, Field, Json } from '../../../daemon/inspector/parts/basics.tsx'
import {
  actor,
  ask,
  begin,
  control,
  isControlled,
  messageOf,
  phase,
  signOut,
  site,
} from '../../../daemon/inspector/session.ts'
import { SignInForms } from '../../../daemon/inspector/sign-in.tsx'
import type { TriedEndpoint, TriedField } from './tried-endpoint.ts'

interface Answer {
  readonly status: number
  readonly body: unknown
}

const answer = signal<Answer | undefined>(undefined)
const problem = signal<string | undefined>(undefined)
const waiting = signal<AbortController | undefined>(undefined)

function TryIt({ endpoint }: { endpoint: TriedEndpoint }) {
  return (
    <>
      <h2>Try it</h2>
      {phase.value === 'starting' && <p class="faint">Loading…</p>}
      {phase.value === 'sign-in' && (
        <>
          <p class="faint">Sign in to call this daemon. The inspector uses the same sign-in in this tab.</p>
          <SignInForms />
        </>
      )}
      {phase.value === 'open' && <Form endpoint={endpoint} />}
    </>
  )
}

function Form({ endpoint }: { endpoint: TriedEndpoint }) {
  const { method, path, base, access, fields } = endpoint
  const needed = fields.filter(({ required }) => required)
  const others = fields.filter(({ required }) => !required)
  if (access === 'control' && !isControlled.value)
    return (
      <p class="faint">
        This endpoint needs the control token. Open the inspector with the address that the daemon printed.
      </p>
    )
  const submit = (event: Event) => {
    event.preventDefault()
    const question = `${method} ${base}${path}\n\nThis changes the daemon that served this page. Send it?`
    if (method !== 'DELETE' || confirm(question)) void send(endpoint, event.currentTarget as HTMLFormElement)
  }
  return (
    <form onSubmit={submit}>
      {access === 'user' && (isControlled.value ? <AccountChoice /> : <p class="faint">As {actor.value?.email}</p>)}
      {needed.map(field => (
        <Input key={field.name} field={field} />
      ))}
      {others.length > 0 && (
        <details>
          <summary>
            {others.length} optional {others.length === 1 ? 'parameter' : 'parameters'}
          </summary>
          {others.map(field => (
            <Input key={field.name} field={field} />
          ))}
        </details>
      )}
      <p class="buttons">
        {waiting.value ? (
          <Button onClick={() => waiting.value?.abort()}>Stop</Button>
        ) : (
          <Button type="submit" look="primary">
            Send {method}
          </Button>
        )}
        <Button look="ghost" onClick={signOut}>
          Sign out
        </Button>
      </p>
      <div role="status">
        {waiting.value && <p class="faint">Waiting for the answer…</p>}
        {problem.value && <p class="problem">{problem.value}</p>}
        {answer.value && (
          <p class="outcome" data-good={answer.value.status < 400}>
            Status {answer.value.status}
          </p>
        )}
      </div>
      {answer.value && <Json value={answer.value.body} label="Answer" />}
    </form>
  )
}

function Input({ field }: { field: TriedField }) {
  const { name, required = false, kind, choices, value = '', usual } = field
  const typed = useSignal(value)
  const shared = {
    class: 'input',
    name,
    required,
    placeholder: usual ?? '',
    ...bind(typed),
  }
  return (
    <Field label={name}>
      {kind === 'file' ? (
        <input class="input" type="file" name={name} required={required} />
      ) : choices ? (
        <select {...shared}>
          {!required && <option value="">{usual === undefined ? '' : `default: ${usual}`}</option>}
          {choices.map(choice => (
            <option key={choice} value={String(choice)}>
              {String(choice)}
            </option>
          ))}
        </select>
      ) : kind === 'markdown' ? (
        <textarea {...shared} rows={3} />
      ) : kind === 'secret' ? (
        <input {...shared} type="password" autocomplete="off" />
      ) : (
        <input {...shared} type="text" autocomplete="off" spellcheck={false} />
      )}
    </Field>
  )
}

async function send(endpoint: TriedEndpoint, form: HTMLFormElement): Promise<void> {
  const abort = new AbortController()
  waiting.value = abort
  answer.value = undefined
  problem.value = undefined
  try {
    const { path, given } = await read(endpoint, form)
    answer.value = { status: 200, body: await call(endpoint, path, given, abort.signal) }
  } catch (error) {
    if (error instanceof NatterError && error.status > 0) answer.value = { status: error.status, body: error.body }
    else
      problem.value = abort.signal.aborted
        ? 'You stopped the call.'
        : error instanceof SyntaxError
          ? error.message
          : messageOf(error)
  } finally {
    waiting.value = undefined
  }
}

function call(
  { method, access, fields }: TriedEndpoint,
  path: string,
  given: ReadonlyMap<string, string | Upload>,
  abort: AbortSignal,
): Promise<unknown> {
  if (access === 'control') {
    const isText = (name: string) => fields.find(field => field.name === name)?.kind === 'text'
    const values = [...given].map(([name, value]) => [name, isText(name) ? value : parseValue(name, String(value))])
    return control(method, path, Object.fromEntries(values), abort)
  }
  const account = access === 'user' ? { email: actor.value!.email, apiKey: actor.value!.api_key } : {}
  const sender = new Sender({ site, client: 'natter-docs', retries: 0, fetch: ask, ...account })
  return sender.send(method, path, given, { signal: abort })
}

/** What is empty is not sent. */
async function read(
  { path, fields }: TriedEndpoint,
  form: HTMLFormElement,
): Promise<{ path: string; given: Map<string, string | Upload> }> {
  const data = new FormData(form)
  const given = new Map<string, string | Upload>()
  let filled = path
  for (const { name, inPath } of fields) {
    const value = data.get(name)
    if (value instanceof File) {
      if (value.name !== '') given.set(name, await readUpload(value))
    } else if (inPath)
      filled = filled
        .replace(`{${name}}`, encodeURIComponent(value ?? ''))
        .replace(`{${name}...}`, (value ?? '').split('/').map(encodeURIComponent).join('/'))
    else if (value !== null && value !== '') given.set(name, value)
  }
  return { path: filled, given }
}

async function readUpload(file: File): Promise<Upload> {
  const contentType = file.type || 'application/octet-stream'
  return { filename: file.name, contentType, bytes: new Uint8Array(await file.arrayBuffer()) }
}

/** Values of the control plane are JSON; words are texts, as in a duration. */
function parseValue(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    if (/^\s*[[{"]/.test(text)) throw new SyntaxError(`${name}: must be valid JSON`)
    return text
  }
}

const place = document.querySelector<HTMLElement>('#try-it')
// A file from the disk has no daemon behind it.
if (place && location.protocol !== 'file:') {
  render(<TryIt endpoint={JSON.parse(place.dataset.endpoint!)} />, place)
  void begin()
}
