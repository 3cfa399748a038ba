// Every event of every account, live, and the queues it went to.

import { useComputed } from '@preact/signals'
import type { allQueues } from '../../api/control/queues.ts'
import type { ReplyOf } from '../../api/define.ts'
import { clearEvents, events, type LoggedEvent, skipped } from '../live.ts'
import { Button, Json } from '../parts/basics.tsx'
import { writeFollow } from '../parts/commands.ts'
import { attempt, CopyButton, useFresh } from '../parts/controls.tsx'
import { fromNow, localPart, shortName, timeOfDay } from '../parts/format.ts'
import { Details, Facts, type Filter, Log } from '../parts/log.tsx'
import { Table } from '../parts/table.tsx'
import { explainMessage } from '../parts/why.tsx'
import { accounts, control, isControlled } from '../session.ts'

type Queue = ReplyOf<typeof allQueues.list>['queues'][number]

/** Names of accounts in one row. */
const shownNames = 3

export function Events() {
  const types = useComputed(() => [...new Set(events.value.map(({ event }) => String(event.type)))].sort())
  return (
    <Log
      title="Events"
      kind="events"
      filterLabel="Filter by text"
      items={events}
      skipped={skipped.value.events}
      clear={clearEvents}
      choice={{ label: 'Type', options: [['', 'all types'], ...types.value.map(name => [name, name] as const)] }}
      matches={matches}
      columns={['Time', 'Type', 'Accounts', 'Queues', 'Position', 'Summary']}
      row={row}
      empty="No events yet. Send a message, and it appears here."
      details={(item, close) => <EventDetails item={item} close={close} />}
    >
      {isControlled.value && <Queues />}
    </Log>
  )
}

function matches({ to, event }: LoggedEvent, { text, account, choice }: Filter): boolean {
  return (
    (account === undefined || to.includes(account.user_id)) &&
    (choice === '' || event.type === choice) &&
    (text === '' || searchable(event).includes(text))
  )
}

const texts = new WeakMap<object, string>()

/** The text that a filter looks at, made once for each event. */
function searchable(event: LoggedEvent['event']): string {
  const known = texts.get(event)
  if (known !== undefined) return known
  const made = JSON.stringify(event).toLowerCase()
  texts.set(event, made)
  return made
}

function row({ time, to, event, queues, position }: LoggedEvent) {
  return (
    <span class="cells events-columns">
      <time>{timeOfDay(time)}</time>
      <span class="type cut">
        {event.type}
        {event.op && <span class="op"> {event.op}</span>}
      </span>
      <span class="cut" title={to.map(shortName).join(', ')}>
        {to.slice(0, shownNames).map(shortName).join(', ')}
        {to.length > shownNames && ` +${to.length - shownNames}`}
      </span>
      <span class="number" title={queues.join(' ')}>
        {queues.length === 1 ? queues[0]!.slice(0, 8) : queues.length}
      </span>
      <span class="number">{position || ''}</span>
      <span class="cut faint">{summarize(event)}</span>
    </span>
  )
}

/** What an event is about, in a few words. */
function summarize(event: LoggedEvent['event']): string {
  const { message } = event
  if (event.type === 'message' && message)
    return `${localPart(String(message.sender_email))}: ${String(message.content).slice(0, 200)}`
  if (event.type === 'reaction') return `:${event.emoji_name}: on message ${event.message_id}`
  if (event.type === 'typing') return localPart(String(event.sender?.email ?? ''))
  if (event.type === 'update_message_flags') return `${event.flag} on ${event.messages?.length ?? 0} messages`
  const { type: _type, op: _op, id: _id, ...rest } = event
  return JSON.stringify(rest).slice(0, 200)
}

function EventDetails({ item, close }: { item: LoggedEvent; close: () => void }) {
  const { event, to, queues, time, position } = item
  const reader = accounts.value.find(({ user_id }) => to.includes(user_id))?.email ?? null
  return (
    <Details label="Event" title={`${event.type} ${event.op ?? ''}`} close={close}>
      <div class="toolbar">
        <CopyButton text={() => writeFollow('wait', event, reader)}>
          <span>
            as <code>natter wait</code>
          </span>
        </CopyButton>
        <CopyButton text={() => writeFollow('tail', event, reader)}>
          <span>
            as <code>natter tail</code>
          </span>
        </CopyButton>
        <CopyButton text={() => JSON.stringify(event, null, 2)}>JSON</CopyButton>
        {isControlled.value && event.type === 'message' && reader && (
          <Button onClick={() => explainMessage(event.message.id, reader)}>Why?</Button>
        )}
      </div>
      <Facts
        facts={[
          ['Time', timeOfDay(time)],
          ['Accounts', to.map(shortName).join(', ')],
          ['Queues', queues.length === 0 ? 'none' : queues.map(id => <code key={id}>{id} </code>)],
          ['Position', position || null],
        ]}
      />
      <Json value={event} label="Event as JSON" />
    </Details>
  )
}

const isNarrow = matchMedia('(max-width: 720px)').matches

function Queues() {
  const { value: queues } = useFresh<readonly Queue[]>(async () => (await control('GET', '/queues')).queues)
  const expire = (id: string) =>
    attempt(() => control('POST', '/queues/expire', { queue_id: id }), 'The queue has expired.')
  return (
    <div class="queues">
      <details open={!isNarrow}>
        <summary>
          <h2>Queues ({queues?.length ?? 0})</h2>
        </summary>
        <Table
          label="Queues"
          heads={['Account', 'Queue', 'Pending', 'Acknowledged', 'State', 'Types', 'Action']}
          numbers={['Pending', 'Acknowledged']}
        >
          {queues?.slice(0, 500).map(queue => (
            <tr key={queue.queue_id}>
              <td>{queue.user ? localPart(queue.user) : '–'}</td>
              <td>
                <code title={queue.queue_id}>{queue.queue_id.slice(0, 8)}</code>
              </td>
              <td class="number">{queue.pending}</td>
              <td class="number">{queue.acknowledged < 0 ? 'nothing' : `up to ${queue.acknowledged}`}</td>
              <td>
                {queue.waiting ? 'a poll waits' : 'idle'}{' '}
                <span class="faint">
                  {queue.waiting ? 'since' : 'seen'} {timeOfDay(queue.last_seen)}, expires{' '}
                  {fromNow(queue.expires, queue.last_seen)}
                </span>
              </td>
              <td class="faint">{queue.event_types?.join(', ') ?? 'all'}</td>
              <td>
                <Button look="small" onClick={() => expire(queue.queue_id)}>
                  Expire
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      </details>
    </div>
  )
}
