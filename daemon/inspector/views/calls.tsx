// Every call to the API, live, with parameters and answer.

import { useComputed, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { calls, clearCalls, isPoll, type LoggedCall, skipped } from '../live.ts'
import { apiPath, curlOf, natterOf } from '../parts/commands.ts'
import { attempt, CopyButton, Icon, Json, say } from '../parts/controls.tsx'
import { duration, localPart, timeOfDay } from '../parts/format.ts'
import { VirtualList } from '../parts/virtual-list.tsx'
import { explainCall } from '../parts/why.tsx'
import { accounts, callAs, control } from '../session.ts'

export function Calls() {
  const text = useSignal('')
  const account = useSignal('')
  const which = useSignal('calls')
  const key = useSignal<number | undefined>(undefined)
  const found = useComputed(() => {
    const wanted = text.value.trim().toLowerCase()
    return calls.value.filter(
      call =>
        (which.value === 'all' || (which.value === 'errors' ? isBad(call) : !isPoll(call))) &&
        (account.value === '' || call.user === account.value) &&
        (wanted === '' || searchable(call).includes(wanted)),
    )
  })
  const selected = calls.value.find(call => call.key === key.value)
  return (
    <div class="log" data-opened={selected !== undefined}>
      <div class="log-main">
        <header class="toolbar">
          <h1>Calls</h1>
          <input
            class="input grow"
            type="search"
            data-slash
            placeholder="Filter by path, parameter, code"
            aria-label="Filter by path, parameter, code"
            value={text.value}
            onInput={event => {
              text.value = event.currentTarget.value
            }}
          />
          <select
            class="input"
            aria-label="Account"
            value={account.value}
            onChange={event => {
              account.value = event.currentTarget.value
            }}
          >
            <option value="">all accounts</option>
            {accounts.value.map(({ user_id, email }) => (
              <option key={user_id} value={email}>
                {localPart(email)}
              </option>
            ))}
          </select>
          <select
            class="input"
            aria-label="Which calls"
            value={which.value}
            onChange={event => {
              which.value = event.currentTarget.value
            }}
          >
            <option value="calls">without polls</option>
            <option value="all">with polls</option>
            <option value="errors">errors</option>
          </select>
          <button type="button" class="button" onClick={clearCalls}>
            Clear
          </button>
          <span class="faint amount">
            {found.value.length.toLocaleString()} of {calls.value.length.toLocaleString()}
            {skipped.value.calls > 0 && `, ${skipped.value.calls.toLocaleString()} came too fast to show`}
          </span>
        </header>
        <div class="columns calls-columns" aria-hidden="true">
          <span>Time</span>
          <span>Status</span>
          <span>Method</span>
          <span>Path</span>
          <span>Account</span>
          <span class="number">Duration</span>
        </div>
        <VirtualList
          label="Calls"
          items={found.value}
          keyOf={call => call.key}
          selected={key.value}
          onSelect={call => {
            key.value = call.key
          }}
          row={row}
          empty="No calls yet. Every call to /api/v1 appears here."
        />
      </div>
      {selected && (
        <Details
          call={selected}
          close={() => {
            key.value = undefined
          }}
        />
      )}
    </div>
  )
}

function isBad({ status, lost, fault }: LoggedCall): boolean {
  return lost || fault !== null || (status !== null && status >= 400)
}

function searchable({ method, path, endpoint, code, params, fault, status }: LoggedCall): string {
  return `${method} ${path} ${endpoint} ${status} ${code} ${fault} ${JSON.stringify(params)}`.toLowerCase()
}

function statusText({ status, lost }: LoggedCall): string {
  if (lost) return 'lost'
  return status === null ? '…' : String(status)
}

function row(call: LoggedCall) {
  const { time, method, path, user, code, duration_ms, fault } = call
  return (
    <span class="cells calls-columns" data-bad={isBad(call)}>
      <time>{timeOfDay(time)}</time>
      <span
        class="status"
        data-kind={call.lost || (call.status ?? 0) >= 400 ? 'bad' : call.status === null ? 'open' : 'good'}
      >
        {statusText(call)}
      </span>
      <span class="method">{method}</span>
      <span class="cut">
        {path.replace(/^\/api\/v1/, '')} {code && <b class="code">{code}</b>}{' '}
        {fault && <span class="tag warn">fault: {fault}</span>}
      </span>
      <span class="cut">{user ? localPart(user) : '–'}</span>
      <span class="number">{duration(duration_ms)}</span>
    </span>
  )
}

function Details({ call, close }: { call: LoggedCall; close: () => void }) {
  const answer = useSignal<string | null | undefined>(undefined)
  const { id, method, path, user, params, sent, status, code } = call
  useEffect(() => {
    answer.value = undefined
    void control('GET', `/requests/${id}`).then(
      reply => {
        answer.value = reply.answer
      },
      () => {
        answer.value = null
      },
    )
  }, [call.key, status])
  const shown = JSON.stringify(params)
  return (
    <aside class="details" aria-label="Call">
      <header class="toolbar">
        <h2 class="wrap">
          {method} {path.replace(/^\/api\/v1/, '')}
        </h2>
        <button type="button" class="button ghost" onClick={close}>
          <Icon name="close" />
          <span class="hidden">Close</span>
        </button>
      </header>
      <div class="toolbar">
        <CopyButton text={() => curlOf(method, path, user, params)}>
          <span>
            as <code>curl</code>
          </span>
        </CopyButton>
        <CopyButton text={() => natterOf(method, path, user, params)}>
          <span>
            as <code>natter</code>
          </span>
        </CopyButton>
        <button
          type="button"
          class="button"
          onClick={() => again(call)}
          disabled={shown.includes('"***"')}
          title={shown.includes('"***"') ? 'A hidden value cannot be sent again' : 'Make the same call'}
        >
          Again
        </button>
        {(status ?? 0) >= 400 && (
          <button type="button" class="button" onClick={() => explainCall(id)}>
            Why?
          </button>
        )}
      </div>
      <dl class="facts">
        <div>
          <dt>Answer</dt>
          <dd>
            {statusText(call)} {code}
          </dd>
        </div>
        <div>
          <dt>Account</dt>
          <dd>{user ?? 'nobody'}</dd>
        </div>
        <div>
          <dt>Duration</dt>
          <dd>{duration(call.duration_ms)}</dd>
        </div>
        {call.user_agent && (
          <div>
            <dt>Client</dt>
            <dd>{call.user_agent}</dd>
          </div>
        )}
        {call.endpoint && (
          <div>
            <dt>Endpoint</dt>
            <dd>{call.endpoint}</dd>
          </div>
        )}
        {call.fault && (
          <div>
            <dt>Fault</dt>
            <dd>{call.fault}</dd>
          </div>
        )}
      </dl>
      <h3>Parameters, as they were sent</h3>
      <Json value={sent} label="Parameters" />
      <h3>Answer</h3>
      {answer.value === undefined ? (
        <p class="faint">Loading…</p>
      ) : answer.value === null ? (
        <p class="faint">There is none, or it is no longer kept.</p>
      ) : (
        <Json value={answer.value} label="Answer" />
      )}
    </aside>
  )
}

async function again({ method, path, user, params }: LoggedCall): Promise<void> {
  const account = accounts.value.find(({ email }) => email === user)
  if (!account) {
    say('The account of this call is not known here.', true)
    return
  }
  // What the path holds is not a parameter once more.
  const inPath = new Set(path.split('/').map(decodeURIComponent))
  const rest = Object.fromEntries(Object.entries(params).filter(([, value]) => !inPath.has(String(value))))
  await attempt(() => callAs(account, method, apiPath(path).replace('/api/v1', ''), rest), 'Called again.')
}
