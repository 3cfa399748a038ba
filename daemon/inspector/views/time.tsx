// The daemon's clock, what falls due by it, and faults.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { clock } from '../live.ts'
import { Button, bind, Field } from '../parts/basics.tsx'
import { attempt, Choice, Section, useFresh } from '../parts/controls.tsx'
import { fromNow, fullTime, localPart } from '../parts/format.ts'
import { Table } from '../parts/table.tsx'
import { accounts, control } from '../session.ts'

interface Due {
  readonly at: number
  readonly kind: string
  readonly user: string | null
  readonly about: string
}

interface Fault {
  readonly id: number
  readonly kind: string
  readonly endpoint?: string
  readonly user?: string
  readonly seen: number
  readonly hits: number
  readonly [option: string]: unknown
}

export function Time() {
  return (
    <div class="page">
      <h1>Time and faults</h1>
      <Clock />
      <Faults />
    </div>
  )
}

function Clock() {
  const tick = useSignal(0)
  const moment = useSignal('')
  const { value: due, reload } = useFresh<readonly Due[]>(
    async () => (await control('GET', '/clock/due', { limit: 50 })).due,
  )
  useEffect(() => {
    const timer = setInterval(() => {
      tick.value++
    }, 500)
    return () => clearInterval(timer)
  }, [])
  const now = tick.value >= 0 ? nowOfDaemon() : 0
  const act =
    (path: string, params: Readonly<Record<string, unknown>> = {}) =>
    async () => {
      await attempt(async () => {
        const reply = await control('POST', `/clock/${path}`, params)
        clock.value = { now: reply.now, frozen: reply.frozen, read: Date.now() }
      })
      await reload()
    }
  const frozen = clock.value?.frozen === true
  const next = due?.[0]
  return (
    <Section title="Clock">
      <div class="clock">
        <p class="clock-face toolbar" data-frozen={frozen}>
          <time dateTime={now ? new Date(now).toISOString() : ''}>{now ? fullTime(now) : '…'}</time>
          <span class="tag">{frozen ? 'frozen' : 'running'}</span>
        </p>
        <div class="toolbar">
          {frozen ? (
            <Button look="primary" onClick={act('resume')}>
              Resume
            </Button>
          ) : (
            <Button look="primary" onClick={act('freeze')}>
              Freeze
            </Button>
          )}
          <Button onClick={act('advance', { by: '1m' })}>+1 min</Button>
          <Button onClick={act('advance', { by: '1h' })}>+1 h</Button>
          <Button disabled={!next} onClick={next && act('set', { to: Math.ceil(Math.max(next.at, now) / 1000) })}>
            To the next thing due
          </Button>
          <form
            class="toolbar"
            onSubmit={event => {
              event.preventDefault()
              void act('set', { to: moment.value })()
            }}
          >
            <input class="input" aria-label="Move to" placeholder="2030-01-01T09:00:00Z" required {...bind(moment)} />
            <Button type="submit">Move there</Button>
          </form>
        </div>
      </div>
      <DueLine due={due ?? []} now={now} />
    </Section>
  )
}

function nowOfDaemon(): number {
  const known = clock.value
  if (!known) return 0
  return known.frozen ? known.now : known.now + Date.now() - known.read
}

function DueLine({ due, now }: { due: readonly Due[]; now: number }) {
  if (due.length === 0) return <p class="empty">Nothing falls due.</p>
  return (
    <ol class="due" aria-label="What falls due">
      {due.map(({ at, kind, user, about }, index) => (
        <li key={index} data-kind={kind}>
          <span class="when">{fromNow(at, now)}</span>
          <span class="cut">
            <b>{kind}</b> {user && localPart(user)} <span class="faint cut">{about}</span>
          </span>
          <time class="faint">{fullTime(at)}</time>
        </li>
      ))}
    </ol>
  )
}

const options = [
  ['endpoint', 'Endpoint', 'all, or send-message'],
  ['times', 'How many calls', 'all'],
  ['after', 'After how many', '0'],
  ['probability', 'Probability', '1'],
] as const

/** What only one kind takes. */
const ofKind: Readonly<Record<string, readonly [string, string, string]>> = {
  status: ['status', 'Status', '500'],
  'rate-limit': ['seconds', 'Retry after (s)', '1'],
  latency: ['ms', 'Wait (ms)', '1000'],
  'slow-heartbeat': ['ms', 'Wait (ms)', '60000'],
}

function Faults() {
  const kind = useSignal('rate-limit')
  const user = useSignal('')
  const values = useSignal<Readonly<Record<string, string>>>({})
  const { value, reload } = useFresh<{ faults: readonly Fault[]; kinds: Readonly<Record<string, string>> }>(() =>
    control('GET', '/faults'),
  )
  const kinds = value?.kinds ?? {}
  const fields = ofKind[kind.value] ? [...options, ofKind[kind.value]!] : options
  const add = async (event: Event) => {
    event.preventDefault()
    const given = fields.map(([name]) => [name, values.value[name] ?? '']).filter(([, text]) => text !== '')
    const params = Object.fromEntries(given.map(([name, text]) => [name, name === 'endpoint' ? text : Number(text)]))
    if (await attempt(() => control('POST', '/faults', { kind: kind.value, user: user.value, ...params }), 'Added.'))
      values.value = {}
    await reload()
  }
  const remove = async (id: number) => {
    await attempt(() => control('DELETE', `/faults/${id}`))
    await reload()
  }
  return (
    <Section title="Faults">
      <form class="grid-form" onSubmit={add} aria-label="Add a fault">
        <Field label="Kind">
          <Choice label="Kind" chosen={kind} options={Object.keys(kinds).map(name => [name, name] as const)} />
        </Field>
        <Field label="Account">
          <Choice
            label="Account"
            chosen={user}
            options={[['', 'all'], ...accounts.value.map(({ email }) => [email, localPart(email)] as const)]}
          />
        </Field>
        {fields.map(([name, label, placeholder]) => (
          <Field key={name} label={label}>
            <input
              class="input"
              placeholder={placeholder}
              inputMode={name === 'endpoint' ? 'text' : 'decimal'}
              value={values.value[name] ?? ''}
              onInput={event => {
                values.value = { ...values.value, [name]: event.currentTarget.value }
              }}
            />
          </Field>
        ))}
        <Button type="submit" look="primary">
          Add fault
        </Button>
      </form>
      <p class="faint">{kinds[kind.value]}</p>
      {value && value.faults.length === 0 && <p class="empty">No faults: every call is answered as it should be.</p>}
      {value && value.faults.length > 0 && (
        <Table
          label="Fault rules"
          heads={['Kind', 'Applies to', 'Options', 'Seen', 'Hits', 'Action']}
          numbers={['Seen', 'Hits']}
        >
          {value.faults.map(({ id, kind: name, endpoint, user: of, seen, hits, ...rest }) => (
            <tr key={id}>
              <td>
                <b>{name}</b>
              </td>
              <td>
                {endpoint ?? 'every endpoint'}, {of ?? 'every account'}
              </td>
              <td class="faint">
                {Object.entries(rest)
                  .map(([option, given]) => `${option} ${given}`)
                  .join(', ')}
              </td>
              <td class="number">{seen}</td>
              <td class="number">
                <b>{hits}</b>
              </td>
              <td>
                <Button look="small" onClick={() => remove(id)}>
                  Remove
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  )
}
