// Snapshots: save, restore, remove, and what differs between two of them, side by side.

import { useSignal } from '@preact/signals'
import { NatterError } from '../../client/sender.ts'
import { attempt, Json, useFresh } from '../parts/controls.tsx'
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
            value={name.value}
            onInput={event => {
              name.value = event.currentTarget.value
            }}
          />
          <button type="submit" class="button primary">
            Save
          </button>
        </form>
        <button type="button" class="button" onClick={act('POST', '/reset', 'The daemon is as it was at its start.')}>
          Reset to the start
        </button>
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
                <button
                  type="button"
                  class="button small"
                  onClick={act('POST', `/snapshots/${snapshot.name}/restore`, 'Restored.')}
                >
                  Restore
                </button>{' '}
                <button
                  type="button"
                  class="button small"
                  onClick={act('DELETE', `/snapshots/${snapshot.name}`, 'Removed.')}
                >
                  Remove
                </button>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {list.length > 0 && <Difference names={list.map(snapshot => snapshot.name)} />}
    </>
  )
}

function Difference({ names }: { names: readonly string[] }) {
  const from = useSignal(names[0]!)
  const to = useSignal('now')
  const found = useSignal<any>(undefined)
  const compare = async (event: Event) => {
    event.preventDefault()
    try {
      found.value = await control('GET', '/snapshots/diff', { from: from.value, to: to.value })
    } catch (error) {
      const unknown = error instanceof NatterError && error.status === 404
      found.value = { problem: unknown ? 'This daemon cannot compare snapshots.' : messageOf(error) }
    }
  }
  return (
    <form class="toolbar" onSubmit={compare} aria-label="Compare">
      <span>Difference from</span>
      <select
        class="input"
        aria-label="From"
        value={from.value}
        onChange={event => {
          from.value = event.currentTarget.value
        }}
      >
        {names.map(name => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <span>to</span>
      <select
        class="input"
        aria-label="To"
        value={to.value}
        onChange={event => {
          to.value = event.currentTarget.value
        }}
      >
        <option>now</option>
        {names.map(name => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <button type="submit" class="button">
        Compare
      </button>
      {found.value?.problem && <p class="problem">{found.value.problem}</p>}
      {found.value && !found.value.problem && <Json value={found.value} label="Difference" />}
    </form>
  )
}
