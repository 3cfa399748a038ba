// Snapshots: save, restore, remove, and what differs between two of them, side by side.

import { useSignal } from '@preact/signals'
import { Button, bind, Json } from '../parts/basics.tsx'
import { attempt, Choice, useFresh } from '../parts/controls.tsx'
import { fullTime } from '../parts/format.ts'
import { Table } from '../parts/table.tsx'
import { control, messageOf, reloadAccounts } from '../session.ts'

interface Snapshot {
  readonly name: string
  readonly time: number
}

export function Snapshots() {
  const name = useSignal('')
  const { value, reload } = useFresh<readonly Snapshot[]>(async () => (await control('GET', '/snapshots')).snapshots)
  const save = async (event: Event) => {
    event.preventDefault()
    if (await attempt(() => control('POST', '/snapshots', { name: name.value }), 'Saved.')) name.value = ''
    await reload()
  }
  const act = (method: string, path: string, done: string) => async () => {
    await attempt(() => control(method, path), done)
    await Promise.all([reload(), reloadAccounts().catch(() => {})])
  }
  const list = value ?? []
  return (
    <>
      <div class="toolbar">
        <form class="toolbar" onSubmit={save}>
          <input
            class="input"
            aria-label="Name of the snapshot"
            placeholder="name"
            required
            maxLength={100}
            pattern="[\w.\-]+"
            {...bind(name)}
          />
          <Button type="submit" look="primary">
            Save
          </Button>
        </form>
        <Button onClick={act('POST', '/reset', 'The daemon is as it was at its start.')}>Reset to the start</Button>
      </div>
      {list.length === 0 && (
        <p class="empty">No snapshots. One keeps the state of the whole world until the daemon ends.</p>
      )}
      {list.length > 0 && (
        <Table label="Snapshots" heads={['Name', 'Saved', 'Actions']}>
          {list.map(snapshot => (
            <tr key={snapshot.name}>
              <td>
                <b>{snapshot.name}</b>
              </td>
              <td>{fullTime(snapshot.time)}</td>
              <td>
                <Button look="small" onClick={act('POST', `/snapshots/${snapshot.name}/restore`, 'Restored.')}>
                  Restore
                </Button>{' '}
                <Button look="small" onClick={act('DELETE', `/snapshots/${snapshot.name}`, 'Removed.')}>
                  Remove
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {list.length > 0 && <Difference names={list.map(snapshot => snapshot.name)} />}
    </>
  )
}

interface Thing {
  readonly id: number | string
  readonly name: string
  readonly fields?: Readonly<Record<string, unknown>>
  readonly changes?: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>
}

interface Found {
  readonly total: number
  readonly resources: Readonly<Record<string, Readonly<Record<'added' | 'changed' | 'removed', readonly Thing[]>>>>
}

function Difference({ names }: { names: readonly string[] }) {
  const from = useSignal(names[0]!)
  const to = useSignal('now')
  const found = useSignal<Found | undefined>(undefined)
  const problem = useSignal('')
  const compare = async (event: Event) => {
    event.preventDefault()
    problem.value = ''
    try {
      found.value = (await control('GET', '/snapshots/diff', { from: from.value, to: to.value })) as unknown as Found
    } catch (error) {
      found.value = undefined
      problem.value = messageOf(error)
    }
  }
  const options = (values: readonly string[]) => values.map(value => [value, value] as const)
  return (
    <>
      <form class="toolbar" onSubmit={compare} aria-label="Compare">
        <span>Difference from</span>
        <Choice label="From" chosen={from} options={options([...names, 'start'])} />
        <span>to</span>
        <Choice label="To" chosen={to} options={options(['now', ...names])} />
        <Button type="submit">Compare</Button>
        {problem.value && <p class="problem">{problem.value}</p>}
      </form>
      {found.value && <Changes found={found.value} />}
    </>
  )
}

/** One side of the difference: all of what was added or removed, or the fields that changed. */
function pickSide({ fields, changes }: Thing, side: 'from' | 'to'): unknown {
  if (!changes) return fields
  return Object.fromEntries(Object.entries(changes).map(([name, change]) => [name, change[side]]))
}

const signs = { added: '+', changed: '~', removed: '−' } as const

function Changes({ found }: { found: Found }) {
  if (found.total === 0) return <p class="empty">No difference.</p>
  const rows = Object.entries(found.resources).flatMap(([resource, kinds]) =>
    (['added', 'changed', 'removed'] as const).flatMap(kind =>
      kinds[kind].map(thing => ({ resource: resource.replaceAll('_', ' '), kind, thing })),
    ),
  )
  return (
    <Table label="Difference" heads={['What', 'Resource', 'Name', 'Before', 'After']}>
      {rows.map(({ resource, kind, thing }, index) => (
        <tr key={index}>
          <td>
            {signs[kind]} {kind}
          </td>
          <td>{resource}</td>
          <td>
            <b>{thing.name}</b>
          </td>
          <td>{kind !== 'added' && <Json value={pickSide(thing, 'from')} label={`Before, ${thing.name}`} />}</td>
          <td>{kind !== 'removed' && <Json value={pickSide(thing, 'to')} label={`After, ${thing.name}`} />}</td>
        </tr>
      ))}
    </Table>
  )
}
