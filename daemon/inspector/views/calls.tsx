// Every call to the API, live, with parameters and answer.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { calls, clearCalls, isPoll, type LoggedCall, skipped } from '../live.ts'
import { Button, Json, set } from '../parts/basics.tsx'
import { apiPath, isFile, writeCurl, writeNatter } from '../parts/commands.ts'
import { attempt, CopyButton, say } from '../parts/controls.tsx'
import { duration, localPart, timeOfDay } from '../parts/format.ts'
import { Details, Facts, type Filter, Log } from '../parts/log.tsx'
import { explainCall } from '../parts/why.tsx'
import { accounts, callAs, control } from '../session.ts'

export function Calls() {
  return (
    <Log
      title="Calls"
      kind="calls"
      filterLabel="Filter by path, parameter, code"
      items={calls}
      skipped={skipped.value.calls}
      clear={clearCalls}
      choice={{
        label: 'Which calls',
        options: [
          ['calls', 'without polls'],
          ['all', 'with polls'],
          ['errors', 'errors'],
        ],
      }}
      matches={matches}
      columns={['Time', 'Status', 'Method', 'Path', 'Account', 'Duration']}
      row={row}
      empty="No calls yet. Every call to /api/v1 appears here."
      details={(call, close) => <CallDetails call={call} close={close} />}
    />
  )
}

function matches(call: LoggedCall, { text, account, choice }: Filter): boolean {
  return (
    (choice === 'all' || (choice === 'errors' ? isBad(call) : !isPoll(call))) &&
    (account === undefined || call.user === account.email) &&
    (text === '' || searchable(call).includes(text))
  )
}

function isBad({ status, lost, fault }: LoggedCall): boolean {
  return lost || fault !== null || (status !== null && status >= 400)
}

function searchable(call: LoggedCall): string {
  const { method, path, endpoint, code, fault, status, strict } = call
  const words = [method, path, endpoint, status, code, fault, JSON.stringify([sentBy(call), strict])]
  return words.join(' ').toLowerCase()
}

function statusText({ status, lost }: LoggedCall): string {
  if (lost) return 'lost'
  return status === null ? '…' : String(status)
}

function row(call: LoggedCall) {
  const { time, method, path, user, code, duration_ms, fault, strict = [] } = call
  return (
    <span class="cells calls-columns" data-bad={isBad(call)}>
      <time>{timeOfDay(time)}</time>
      <span
        class="status cut"
        data-kind={call.lost || (call.status ?? 0) >= 400 ? 'bad' : call.status === null ? 'open' : 'good'}
      >
        {statusText(call)}
      </span>
      <span class="method">{method}</span>
      <span class="cut">
        {path.replace(/^\/api\/v1/, '')} {code && <b class="code">{code}</b>}{' '}
        {fault && <span class="tag warn">fault: {fault}</span>}
        {strict.map(({ kind, parameter }, index) => (
          <span key={index} class="tag warn">
            {kind}: {parameter ?? 'endpoint'}
          </span>
        ))}
      </span>
      <span class="cut">{user ? localPart(user) : '–'}</span>
      <span class="number">{duration(duration_ms)}</span>
    </span>
  )
}

function CallDetails({ call, close }: { call: LoggedCall; close: () => void }) {
  const answer = useSignal<string | null | undefined>(undefined)
  const { id, method, path, user, status, code } = call
  const sent = sentBy(call)
  const problem = problemOfRepeating(sent)
  useEffect(() => {
    answer.value = undefined
    void control('GET', `/requests/${id}`).then(
      reply => set(answer, reply.answer),
      () => set(answer, null),
    )
  }, [call.key, status])
  return (
    <Details label="Call" title={`${method} ${path.replace(/^\/api\/v1/, '')}`} close={close}>
      <div class="toolbar">
        <CopyButton text={() => writeCurl(method, path, user, sent)}>
          <span>
            as <code>curl</code>
          </span>
        </CopyButton>
        <CopyButton text={() => writeNatter(method, path, user, sent)}>
          <span>
            as <code>natter</code>
          </span>
        </CopyButton>
        <Button onClick={() => again(call)} disabled={problem !== undefined} title={problem ?? 'Make the same call'}>
          Again
        </Button>
        {(status ?? 0) >= 400 && <Button onClick={() => explainCall(id)}>Why?</Button>}
      </div>
      <Facts
        facts={[
          ['Answer', `${statusText(call)} ${code ?? ''}`],
          ['Account', user ?? 'none'],
          ['Duration', duration(call.duration_ms)],
          ['Client', call.user_agent],
          ['Endpoint', call.endpoint],
          ['Fault', call.fault],
          ['Strict', call.strict?.map(({ kind, says }) => `${kind}: ${says}`).join('; ') ?? null],
        ]}
      />
      <h3>Parameters, as they were sent</h3>
      <Json value={sent} label="Parameters" />
      {typeof call.params.payload === 'string' && path.includes('/external/') && (
        <>
          <h3>Payload</h3>
          <Json value={call.params.payload} label="Payload" />
        </>
      )}
      <h3>Answer</h3>
      {answer.value === undefined ? (
        <p class="faint">Loading…</p>
      ) : answer.value === null ? (
        <p class="faint">There is none, or it is no longer kept.</p>
      ) : (
        <Json value={answer.value} label="Answer" />
      )}
    </Details>
  )
}

/** What the client sent. A daemon of an older version has only the parameters as they were read. */
function sentBy({ sent, params }: LoggedCall): Readonly<Record<string, unknown>> {
  return sent ?? params
}

/** Characters that the daemon keeps of what was sent. */
const keptOfSent = 8000

/** Why a call cannot be made again; undefined: it can. */
function problemOfRepeating(sent: Readonly<Record<string, unknown>>): string | undefined {
  const values = Object.values(sent)
  if (values.includes('***')) return 'A hidden value cannot be sent again'
  if (values.some(isFile)) return 'The file is no longer kept'
  const length = Object.entries(sent).reduce((sum, [name, value]) => sum + name.length + String(value).length, 0)
  return length > keptOfSent ? 'Only the beginning of the parameters is kept' : undefined
}

async function again(call: LoggedCall): Promise<void> {
  const { method, path, user } = call
  const account = accounts.value.find(({ email }) => email === user)
  if (!account) {
    say('The account of this call is not known here.', true)
    return
  }
  await attempt(() => callAs(account, method, apiPath(path).replace('/api/v1', ''), sentBy(call)), 'Called again.')
}
