// The view of what the daemon sent: mails, and the calls of outgoing webhooks.

import { useSignal } from '@preact/signals'
import type { outbox } from '../../api/control/outbox.ts'
import type { ReadonlyOf, ReplyOf } from '../../api/define.ts'
import type { delivery } from '../../api/shapes/control.ts'
import { clock } from '../live.ts'
import { Button, Json, set } from '../parts/basics.tsx'
import { attempt, useFresh } from '../parts/controls.tsx'
import { fromNow, fullTime, localPart } from '../parts/format.ts'
import { accounts, callAs, control } from '../session.ts'

type Mail = ReplyOf<typeof outbox.list>['mails'][number]

export function Mails() {
  const { value } = useFresh<readonly Mail[]>(async () => (await control('GET', '/outbox', { limit: 200 })).mails)
  if (!value?.length) return <p class="empty">No mails. Invitations and changed addresses write some.</p>
  return (
    <ul class="cards">
      {value.toReversed().map(({ id, time, to, subject, text }) => (
        <li key={id} class="card">
          <details>
            <summary>
              <b>{subject}</b>{' '}
              <span class="faint">
                to {to}, {fullTime(time)}
              </span>
            </summary>
            <pre tabIndex={0}>{text}</pre>
          </details>
        </li>
      ))}
    </ul>
  )
}

type Delivery = ReadonlyOf<typeof delivery>

export function Webhooks() {
  const open = useSignal<number | undefined>(undefined)
  const { value, reload } = useFresh<readonly Delivery[]>(
    async () => (await control('GET', '/webhooks', { limit: 200 })).deliveries,
  )
  if (!value?.length)
    return <p class="empty">No deliveries. Mention an outgoing webhook bot, and its server is called.</p>
  const again = async (id: number) => {
    // An owner of the organization may repeat every delivery.
    await attempt(() => callAs(accounts.value[0]!, 'POST', `/webhook_deliveries/${id}/redeliver`), 'Sent again.')
    await reload()
  }
  return (
    <ul class="cards">
      {value.toReversed().map(delivery => {
        const { id, bot, status, http_status, error, attempts, next_attempt, message_id, time } = delivery
        return (
          <li key={id} class="card">
            <div class="toolbar">
              <span class="status" data-kind={status === 'delivered' ? 'good' : status === 'failed' ? 'bad' : 'open'}>
                {status}
              </span>
              <b>{bot ? localPart(bot) : 'a bot that is gone'}</b>
              <span class="faint">
                message {message_id}, {fullTime(time)}, {attempts} {attempts === 1 ? 'attempt' : 'attempts'}
                {http_status !== null && `, answered ${http_status}`}
                {next_attempt !== null && `, next attempt ${fromNow(next_attempt, clock.value?.now ?? 0)}`}
              </span>
              <Button
                look="small"
                aria-expanded={open.value === id}
                onClick={() => set(open, open.value === id ? undefined : id)}
              >
                {open.value === id ? 'Hide' : 'Show'}
              </Button>
              <Button look="small" onClick={() => again(id)}>
                Again
              </Button>
            </div>
            {error && <p class="problem">{error}</p>}
            {open.value === id && (
              <div class="beside">
                <div>
                  <h3>Request {delivery.request && <code>{delivery.request.url}</code>}</h3>
                  <Json value={delivery.request?.body ?? null} label="Request" />
                </div>
                <div>
                  <h3>Answer</h3>
                  <Json value={delivery.response ?? 'none'} label="Answer" />
                </div>
              </div>
            )}
          </li>
        )
      })}
    </ul>
  )
}
